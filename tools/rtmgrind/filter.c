// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * filter.c - the accesses that cost nothing and concern no other core.
 *
 * Generated code looks each access up in a filter, a table of lines for each hardware thread, and
 * calls coherence.c only if the line is not there. Whatever changes the state of a line, or opens
 * a transaction that has touched it, must take the line out of the filters of all hardware threads
 * that may then no longer access it without notice. The meaning of an entry:
 *
 *   read entry   the line was used last among the lines of its set in the core's first level; no
 *                other thread's transaction has written it; if the thread's own transaction is
 *                open, it has the line
 *   write entry  besides, the core owns the line; no other thread's transaction has read it; if
 *                the thread's own transaction is open, it has written the line
 *
 * Must never hold a line that the core's first level does not have.
 */
#include "filter.h"
#include "model.h"

/* Entries of all hardware threads, one after the other; NULL on a machine without caches. */
static Addr *filters;
/* A filter without lines. */
static Addr *no_lines;
static UInt nr_sets;

Addr *filter_entries;
Addr *filter_txn_entries;
UInt filter_set_mask;

static Addr *filter_of(Int cpu)
{
	return filters + cpu * 2 * nr_sets;
}

static UInt set_of(Addr line)
{
	return line / LINE_SIZE % nr_sets;
}

/** filter_init() - make empty filters. */
void filter_init(void)
{
	nr_sets = model_l1_sets();
	filter_set_mask = nr_sets - 1;
	no_lines = VG_(calloc)("rtmgrind.filter", 2 * nr_sets, sizeof(*no_lines));
	filter_use_none();
	if (model.caches)
		filters = VG_(calloc)("rtmgrind.filters", model_cpus() * 2 * nr_sets,
				      sizeof(*filters));
}

/**
 * filter_use() - generated code compares with a filter from now on.
 * @cpu: the hardware thread whose filter it is
 * @in_txn: a transaction of its thread is open
 */
void filter_use(Int cpu, Bool in_txn)
{
	filter_entries = in_txn ? no_lines : filter_of(cpu);
	filter_txn_entries = in_txn ? filter_of(cpu) : no_lines;
}

/** filter_use_none() - generated code calls a helper for each access from now on. */
void filter_use_none(void)
{
	filter_entries = filter_txn_entries = no_lines;
}

/**
 * filter_allow() - a hardware thread may access a line without a helper.
 * @cpu: the hardware thread
 * @line: address of the line's first byte
 * @write: True if it may write the line, too
 */
void filter_allow(Int cpu, Addr line, Bool write)
{
	Addr *filter = filter_of(cpu);

	filter[set_of(line)] = line;
	if (write)
		filter[nr_sets + set_of(line)] = line;
}

/**
 * filter_forget() - no hardware thread of a core may access the lines of a set without a helper.
 * @core: the core
 * @line: address of the first byte of a line of the set
 */
void filter_forget(Int core, Addr line)
{
	UInt set = set_of(line);
	Int cpu;

	for (cpu = core; cpu < model_cpus(); cpu += model.cores)
		filter_of(cpu)[set] = filter_of(cpu)[nr_sets + set] = 0;
}

/**
 * filter_forget_cpu() - a hardware thread may access no line without a helper.
 * @cpu: the hardware thread
 */
void filter_forget_cpu(Int cpu)
{
	VG_(memset)(filter_of(cpu), 0, 2 * nr_sets * sizeof(*filters));
}

/** filter_forget_all() - no hardware thread may access any line without a helper. */
void filter_forget_all(void)
{
	VG_(memset)(filters, 0, model_cpus() * 2 * nr_sets * sizeof(*filters));
}
