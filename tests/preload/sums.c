/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sums.c - print the totals of data files as NAME=VALUE words; exit 1 if a file is none, or damaged. */
#include "../../lib/row-sums.h"
#include "data.h"

int main(int argc, char **argv)
{
	static const char *const misuse[] = {
		[ELIDE_MISUSE_UNLOCK_FREE] = "unlock_free",
		[ELIDE_MISUSE_UNLOCK_FOREIGN] = "unlock_foreign",
		[ELIDE_MISUSE_DESTROY_HELD] = "destroy_held",
		[ELIDE_MISUSE_RELOCK] = "relock",
		[ELIDE_MISUSE_EXIT_HELD] = "exit_held",
		[ELIDE_MISUSE_OWNER_DIED] = "owner_died",
		[ELIDE_MISUSE_NOT_RECOVERABLE] = "not_recoverable",
	};
	static const char *const waits[ELIDE_NR_KINDS] = {
		[ELIDE_KIND_COND] = "cond", [ELIDE_KIND_SEM] = "sem",
		[ELIDE_KIND_BARRIER] = "barrier", [ELIDE_KIND_REACQUIRE] = "reacquire",
		[ELIDE_KIND_FUTEX] = "futex", [ELIDE_KIND_FUTEX_LOCK] = "futex_lock",
	};
	struct sums s;

	for (int i = 1; i < argc; i++) {
		if (!sum_file(argv[i], &s)) {
			fprintf(stderr, "%s: no data file\n", argv[i]);
			return 1;
		}
		if (s.damaged) {
			fprintf(stderr, "%s: %lu places are damaged\n", argv[i], s.damaged);
			return 1;
		}
		printf("acquired=%lu elided=%lu fallback=%lu not_attempted=%lu attempts=%lu "
		       "commits=%lu nested=%lu contended=%lu failed=%lu parked=%lu hold=%lu bad=%lu rows=%lu locks=%lu "
		       "threads=%u mode=%u rtm=%u state=%u size=%lu",
		       elide_row_acquired(&s.all), elide_row_elided(&s.all), s.all.fallback,
		       s.all.not_attempted, s.all.commits + elide_row_aborts(&s.all), s.all.commits, s.all.nested, s.all.contended,
		       s.all.failed, s.all.parked, s.all.hold.count, s.bad, s.nr_rows, s.nr_locks, s.header.nr_threads,
		       s.header.mode, s.header.rtm, s.header.state, s.size);
#define ELIDE_CAUSE(id, code, column, help, advice) \
		printf(" %s=%lu", #id, s.all.causes[ELIDE_CAUSE_##id]);
#include "../../lib/aborts.def"
#undef ELIDE_CAUSE
		for (unsigned int m = 1; m < sizeof(misuse) / sizeof(*misuse); m++)
			printf(" misuse_%s=%lu", misuse[m], s.misuse[m]);
		for (unsigned int k = 0; k < ELIDE_NR_KINDS; k++)
			if (waits[k])
				printf(" %s=%lu %s_waits=%lu %s_failed=%lu %s_cycles=%lu", waits[k],
				       s.waits[k].not_attempted, waits[k], s.waits[k].contended, waits[k],
				       s.waits[k].failed, waits[k], s.waits[k].wait.total);
		printf(" orders=%lu", s.orders);
		printf(" dropped=");
		for (int d = 0; d < ELIDE_NR_DROPPED; d++)
			printf("%s%lu", d ? "," : "", s.header.dropped[d]);
		printf("\n");
	}
	return 0;
}
