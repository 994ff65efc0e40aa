// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counters.c - counts transactions, as the processor's performance counters would.
 *
 * Each abort is counted under one cause. Besides, it raises one or several of the processor's
 * events, which counters.def lists (a DaMoN 2015 paper on TSX reads these with PCM). The child of a
 * fork() counts from 0.
 *
 * Must never influence a transaction.
 */
#include "counters.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_options.h"
#include "account.h"
#include "model.h"
#include "region.h"
#include "time.h"

/* Names of the causes, in the order of enum rtmgrind_cause. */
static const HChar *const cause_names[] = {
	"none", "explicit", "conflict", "capacity", "syscall",
	"fault", "instruction", "interrupt", "spurious", "nest",
};
#define NR_CAUSES (sizeof(cause_names) / sizeof(cause_names[0]))

/* The events RTM_RETIRED.* and HLE_RETIRED.*, by the second half of their names. */
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
 * struct counts - the counters.
 * @retired: RTM_RETIRED.* in [0], HLE_RETIRED.* in [1]
 * @other: the events that RTM and HLE do not have each, by enum counter
 * @causes: aborts by cause: of RTM transactions in [0], of HLE regions in [1]
 * @lost: cycles of aborted transactions, with their aborts, as @causes
 */
static struct counts {
	ULong retired[2][NR_RETIRED];
	ULong other[NR_COUNTERS];
	ULong causes[2][NR_CAUSES];
	ULong lost[2];
} counts;

/* The counters when the program last reported that its start-up probe is over. */
static struct counts probe;

/*
 * The counters when the last region of interest began, and the sum of those that have ended. They
 * are written if the program has marked a region.
 */
static struct counts region_begun;
static struct counts regions;
static Bool has_regions;

/* The option --counters: whether to write to the log, and the name of the file, NULL none. */
static Bool to_log;
static const HChar *file_format;

static void restart(ThreadId tid)
{
	VG_(memset)(&counts, 0, sizeof(counts));
	VG_(memset)(&probe, 0, sizeof(probe));
	VG_(memset)(&region_begun, 0, sizeof(region_begun));
	VG_(memset)(&regions, 0, sizeof(regions));
}

/** counters_init() - begin to count. */
void counters_init(void)
{
	VG_(atfork)(NULL, NULL, restart);
}

/**
 * counters_add() - count an event.
 * @counter: the event
 */
void counters_add(enum counter counter)
{
	counts.other[counter]++;
}

/**
 * counters_begin() - count a transaction that begins.
 * @hle: XACQUIRE begins it
 */
void counters_begin(Bool hle)
{
	counts.retired[hle][RETIRED_START]++;
}

/**
 * counters_commit() - count a transaction that commits.
 * @hle: XACQUIRE began it
 */
void counters_commit(Bool hle)
{
	counts.retired[hle][RETIRED_COMMIT]++;
}

/**
 * counters_abort() - count a transaction that aborts.
 * @hle: XACQUIRE began it
 * @cause: the cause
 * @cycles: how long it lasted, with its abort
 */
void counters_abort(Bool hle, enum rtmgrind_cause cause, Long cycles)
{
	ULong *retired = counts.retired[hle];

	counts.causes[hle][cause]++;
	counts.lost[hle] += cycles;
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
 * counters_cause_name() - the name of a cause.
 * @cause: the cause
 *
 * Return: one word.
 */
const HChar *counters_cause_name(enum rtmgrind_cause cause)
{
	return cause_names[cause];
}

/** counters_probe_done() - the counts until now belong to the program's start-up probe. */
void counters_probe_done(void)
{
	probe = counts;
}

/* Adds the counts since the running region of interest began. */
static void add_region(struct counts *to)
{
	UInt i;

	for (i = 0; i < NR_RETIRED; i++)
		to->retired[0][i] += counts.retired[0][i] - region_begun.retired[0][i];
	for (i = 0; i < NR_CAUSES; i++)
		to->causes[0][i] += counts.causes[0][i] - region_begun.causes[0][i];
	to->lost[0] += counts.lost[0] - region_begun.lost[0];
}

/**
 * counters_region() - the program begins or ends a region of interest.
 * @was: True if it was in one
 * @in: True if it is in one from now on
 */
void counters_region(Bool was, Bool in)
{
	has_regions = True;
	if (was)
		add_region(&regions);
	if (in)
		region_begun = counts;
}

/**
 * counters_option() - note the option --counters.
 * @text: its value: no, yes or the name of a file
 */
void counters_option(const HChar *text)
{
	to_log = VG_(strcmp)(text, "yes") == 0;
	file_format = to_log || VG_(strcmp)(text, "no") == 0 ? NULL : text;
}

/** counters_print_totals() - write one line to the log: RTM transactions, causes and cycles. */
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

/* Writes a counter to a file, or to the log if @fd is negative. */
static void put_line(Int fd, const HChar *prefix, const HChar *name, ULong value)
{
	HChar line[200];
	Int size = VG_(snprintf)(line, sizeof(line), "%s%s %llu\n", prefix, name, value);

	if (fd < 0)
		VG_(umsg)("%s", line);
	else
		VG_(write)(fd, line, size);
}

/* Writes the counters of RTM in the regions of interest. */
static void put_regions(Int fd)
{
	struct counts sum = regions;
	UInt i;

	if (in_region)
		add_region(&sum);
	put_line(fd, "region.", "starts", sum.retired[0][RETIRED_START]);
	put_line(fd, "region.", "commits", sum.retired[0][RETIRED_COMMIT]);
	for (i = 1; i < NR_CAUSES; i++)
		put_line(fd, "region.", cause_names[i], sum.causes[0][i]);
	put_line(fd, "region.", "lost_cycles", sum.lost[0]);
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
	if (has_regions)
		put_regions(fd);
	put_line(fd, "time.", "elapsed_ns", model_ns(account_end_time()));
	put_line(fd, "time.", "cpu_ns", model_ns(time_cpu_cycles(True)));
}

/* O_NOFOLLOW of asm-generic/fcntl.h, for which Valgrind has no name. */
#define NOFOLLOW 00400000

/** counters_write() - at the end, write all counters to the place that --counters names. */
void counters_write(void)
{
	Int fd, flags = VKI_O_CREAT | VKI_O_TRUNC | VKI_O_WRONLY;
	HChar *name;

	if (to_log)
		put_all(-1);
	if (!file_format)
		return;
	name = VG_(expand_file_name)("--counters", file_format);
	/* Below /dev and /proc the links lead to open files of the user. */
	if (VG_(strncmp)(name, "/dev/", 5) && VG_(strncmp)(name, "/proc/self/fd/", 14))
		flags |= NOFOLLOW;
	fd = VG_(fd_open)(name, flags, 0600);
	if (fd < 0) {
		VG_(umsg)("cannot write the counters to %s: error %d\n", name, -fd);
	} else {
		put_all(fd);
		VG_(close)(fd);
	}
	VG_(free)(name);
}
