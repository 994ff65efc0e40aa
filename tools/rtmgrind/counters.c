// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - counts transactions, as the processor's performance counters would.
 *
 * Beside the causes, of which each abort has one, are the signals of
 * counters.def, of which an abort may raise several (cf. the DaMoN 2015 paper
 * on TSX, which reads them with PCM). A child of fork() counts from 0.
 *
 * Must never change what it counts.
 */
#include "counters.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_options.h"
#include "account.h"
#include "model.h"
#include "region.h"
#include "time.h"

/* Names of the causes; the order of enum rtmgrind_cause. */
static const HChar *const cause_names[] = {
	"none", "explicit", "conflict", "capacity", "syscall",
	"fault", "instruction", "interrupt", "spurious", "nest",
};
#define NR_CAUSES (sizeof(cause_names) / sizeof(cause_names[0]))

/* RTM_RETIRED.* and HLE_RETIRED.*, by their second half. */
enum retired {
#define RETIRED(id, name, help) RETIRED_##id,
#include "counters.def"
#undef RETIRED
	NR_RETIRED,
};

static const HChar *const retired_names[] = {
#define RETIRED(id, name, help) #name,
#include "counters.def"
#undef RETIRED
};

static const HChar *const names[] = {
	"",
#define COUNTER(id, name, help) name,
#include "counters.def"
#undef COUNTER
};

/**
 * struct counts - what is counted.
 * @retired: of RTM and, second, of HLE
 * @other: the rest of counters.def
 * @causes: aborts of RTM and of HLE by cause
 */
static struct counts {
	ULong retired[2][NR_RETIRED];
	ULong other[NR_COUNTERS];
	ULong causes[2][NR_CAUSES];
} counts;

/* When the program said that its start-up probe is over; the last time. */
static struct counts probe;

/* --counters= */
static Bool to_log;
static const HChar *file_format;

static void restart(ThreadId tid)
{
	VG_(memset)(&counts, 0, sizeof(counts));
	VG_(memset)(&probe, 0, sizeof(probe));
}

/** counters_init() - begin to count. */
void counters_init(void)
{
	VG_(atfork)(NULL, NULL, restart);
}

/**
 * counters_add() - count something.
 * @counter: what
 */
void counters_add(enum counter counter)
{
	counts.other[counter]++;
}

/**
 * counters_begin() - a transaction begins.
 * @hle: by XACQUIRE
 */
void counters_begin(Bool hle)
{
	counts.retired[hle][RETIRED_START]++;
}

/**
 * counters_commit() - a transaction commits.
 * @hle: it was begun by XACQUIRE
 */
void counters_commit(Bool hle)
{
	counts.retired[hle][RETIRED_COMMIT]++;
}

/**
 * counters_abort() - a transaction aborts.
 * @hle: it was begun by XACQUIRE
 * @cause: why
 */
void counters_abort(Bool hle, enum rtmgrind_cause cause)
{
	ULong *retired = counts.retired[hle];

	counts.causes[hle][cause]++;
	retired[RETIRED_ABORTED]++;
	switch (cause) {
	case RTMGRIND_CAUSE_CONFLICT:
		retired[RETIRED_MEM]++;
		counters_add(COUNTER_CONFLICT);
		break;
	case RTMGRIND_CAUSE_CAPACITY:
		retired[RETIRED_MEM]++;
		counters_add(COUNTER_CAPACITY);
		break;
	case RTMGRIND_CAUSE_INSTRUCTION:
	case RTMGRIND_CAUSE_SYSCALL:
		retired[RETIRED_UNFRIENDLY]++;
		break;
	case RTMGRIND_CAUSE_NEST:
		counters_add(COUNTER_TX_EXEC_MISC3);
		retired[RETIRED_EVENTS]++;
		break;
	default:
		retired[RETIRED_EVENTS]++;
	}
}

/**
 * counters_cause_name() - one word for a cause.
 * @cause: the cause
 *
 * Return: the word.
 */
const HChar *counters_cause_name(enum rtmgrind_cause cause)
{
	return cause_names[cause];
}

/** counters_probe_done() - what was counted until now is a start-up probe. */
void counters_probe_done(void)
{
	probe = counts;
}

/**
 * counters_option() - --counters=no|yes|FILE.
 * @text: the value
 */
void counters_option(const HChar *text)
{
	to_log = VG_(strcmp)(text, "yes") == 0;
	file_format = to_log || VG_(strcmp)(text, "no") == 0 ? NULL : text;
}

/** counters_print_totals() - one line for the log, RTM's. */
void counters_print_totals(void)
{
	HChar causes[400];
	UInt i, used = 0;

	causes[0] = 0;
	for (i = 1; i < NR_CAUSES; i++)
		used += VG_(snprintf)(causes + used, sizeof(causes) - used, "%s%s %llu",
				      i > 1 ? " " : "", cause_names[i], counts.causes[0][i]);
	VG_(umsg)("starts %llu commits %llu aborts %llu (%s) cycles %lld region %lld\n",
		  counts.retired[0][RETIRED_START], counts.retired[0][RETIRED_COMMIT],
		  counts.retired[0][RETIRED_ABORTED], causes, account_end_time(), region_cycles());
}

/* To the file, or to the log if that is negative. */
static void put_line(Int fd, const HChar *prefix, const HChar *name, ULong value)
{
	HChar line[200];
	Int size = VG_(snprintf)(line, sizeof(line), "%s%s %llu\n", prefix, name, value);

	if (fd < 0)
		VG_(umsg)("%s", line);
	else
		VG_(write)(fd, line, size);
}

static void put_all(Int fd)
{
	UInt i;

	for (i = 0; i < NR_RETIRED; i++)
		put_line(fd, "RTM_RETIRED.", retired_names[i], counts.retired[0][i]);
	for (i = 0; i < NR_RETIRED; i++)
		put_line(fd, "HLE_RETIRED.", retired_names[i], counts.retired[1][i]);
	for (i = COUNTER_NONE + 1; i < NR_COUNTERS; i++)
		put_line(fd, "", names[i], counts.other[i]);
	for (i = 1; i < NR_CAUSES; i++)
		put_line(fd, "rtm.", cause_names[i], counts.causes[0][i]);
	for (i = 1; i < NR_CAUSES; i++)
		put_line(fd, "hle.", cause_names[i], counts.causes[1][i]);
	put_line(fd, "probe.", "starts", probe.retired[0][RETIRED_START]);
	put_line(fd, "probe.", "commits", probe.retired[0][RETIRED_COMMIT]);
	for (i = 1; i < NR_CAUSES; i++)
		put_line(fd, "probe.", cause_names[i], probe.causes[0][i]);
	put_line(fd, "time.", "elapsed_ns", model_ns(account_end_time()));
	put_line(fd, "time.", "cpu_ns", model_ns(time_cpu_cycles(True)));
}

/** counters_write() - at the end: where --counters says. */
void counters_write(void)
{
	HChar *name;
	Int fd;

	if (to_log)
		put_all(-1);
	if (!file_format)
		return;
	name = VG_(expand_file_name)("--counters", file_format);
	fd = VG_(fd_open)(name, VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY, 0600);
	if (fd < 0) {
		VG_(umsg)("cannot write the counters to %s: error %d\n", name, -fd);
	} else {
		put_all(fd);
		VG_(close)(fd);
	}
	VG_(free)(name);
}
