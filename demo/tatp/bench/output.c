// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output.c - prints the results of a run or a recovery.
 */
#include "output.h"

#include "../../base/histogram.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[NR_TRANSACTIONS] = {
#define TRANSACTION(id, name, share, success, help) name,
#include "transactions.def"
};

static const char *const ids[NR_TRANSACTIONS] = {
#define TRANSACTION(id, name, share, success, help) #id,
#include "transactions.def"
};

/* struct count - a count of the lock manager with its name and description */
struct count {
	const char *name;
	const char *help;
	uint64_t value;
};

#define NR_COUNTS (sizeof(struct lock_counts) / sizeof(uint64_t))

/* The fields of a run: 30 and those of transactions, latches and locks. */
_Static_assert(30 + (3 + NR_PERCENTILES) * NR_TRANSACTIONS + 4 * NR_LATCH_ROLES + NR_COUNTS <=
		       FIELDS_MAX,
	       "the fields of a run have room");

static void lock_counts(const struct outcome *out, struct count counts[NR_COUNTS])
{
	unsigned int nr = 0;

#define X(name, help) counts[nr++] = (struct count){ #name, help, out->counters.locks.name };
	LOCK_COUNTS(X)
#undef X
}

/** outcome_done() - number of transactions of all kinds */
uint64_t outcome_done(const struct outcome *out)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_TRANSACTIONS; i++)
		sum += out->tally.done[i];
	return sum;
}

static uint64_t all_sections(const struct outcome *out)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		sum += out->counters.sections[i];
	return sum;
}

static double each(const struct outcome *out, uint64_t nr)
{
	uint64_t done = outcome_done(out);

	return done ? (double)nr / (double)done : 0;
}

static void setting_fields(struct fields *f, const struct options *opts)
{
	field_text(f, "mix", mix_choices[opts->mix].name);
	field_number(f, "subscribers", opts->subscribers);
	field_text(f, "keys", keys_choices[opts->keys].name);
	field_number(f, "threads", opts->threads);
	field(f, "pinned", "%s", opts->pin ? "true" : "false");
	field(f, "sli", "%s", opts->sli ? "true" : "false");
	field_text(f, "log", options_file(opts) ? "file" : "memory");
	field(f, "group_commit", "%s", opts->group_commit ? "true" : "false");
	field(f, "helpers", "%s", opts->helpers ? "true" : "false");
	field_text(f, "elided", opts->locks ? opts->locks : "plain");
	field_text(f, "elision", latch_says());
	field_number(f, "warmup", opts->warmup);
	field_number(f, "seed", opts->seed);
}

static void transaction_fields(struct fields *f, const struct outcome *out)
{
	for (unsigned int i = 0; i < NR_TRANSACTIONS; i++) {
		field_grouped(f, ids[i], "done", out->tally.done[i]);
		field_grouped(f, ids[i], "ok", out->tally.ok[i]);
		field_grouped(f, ids[i], "retried", out->tally.retried[i]);
		for (unsigned int p = 0; out->latency && p < NR_PERCENTILES; p++) {
			char name[16];

			snprintf(name, sizeof(name), "%s_ns", percentiles[p].name);
			field_grouped(f, ids[i], name,
				      histogram_at(&out->latency[i], percentiles[p].per_mille));
		}
	}
}

static void result_fields(struct fields *f, const struct outcome *out)
{
	struct count counts[NR_COUNTS];

	const struct counters *c = &out->counters;

	field_number(f, "transactions", outcome_done(out));
	transaction_fields(f, out);
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		field_grouped(f, "sections", latch_role_name(i), c->sections[i]);
	field(f, "sections_each", "%.2f", each(out, all_sections(out)));
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		field_grouped(f, "elided_sections", latch_role_name(i), c->elided[i]);
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		field_grouped(f, "waits", latch_role_name(i), c->waits[i]);
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		field_grouped(f, "wait_ns", latch_role_name(i), (uint64_t)counters_wait_ns(c, i));
	lock_counts(out, counts);
	for (unsigned int i = 0; i < NR_COUNTS; i++)
		field_grouped(f, "locks", counts[i].name, counts[i].value);
	field_number(f, "page_bytes", out->bytes);
	field_number(f, "log_bytes", c->log_bytes);
	field_number(f, "log_writes", c->log_writes);
	field_number(f, "checkpoints", c->checkpoints);
	field_number(f, "pages_cleaned", c->cleaned);
	field_number(f, "pages_read", c->reads);
	field(f, "cpu_user_seconds", "%.6f", (double)c->user_ns * 1e-9);
	field(f, "cpu_system_seconds", "%.6f", (double)c->system_ns * 1e-9);
	field_grouped(f, "thread_tps", "least", (uint64_t)out->thread_least);
	field_grouped(f, "thread_tps", "mean", (uint64_t)out->thread_mean);
	field_grouped(f, "thread_tps", "most", (uint64_t)out->thread_most);
	field(f, "interrupted", "%s", out->interrupted ? "true" : "false");
	field(f, "seconds", "%.9f", out->seconds);
	field(f, "throughput_tps", "%.0f", (double)outcome_done(out) / out->seconds);
	field_text(f, "check", out->check);
}

static void print_transactions(const struct outcome *out)
{
	for (unsigned int i = 0; i < NR_TRANSACTIONS; i++) {
		const struct tally *t = &out->tally;

		if (!t->done[i] && !t->retried[i])
			continue;
		printf("  %-24s %12" PRIu64 "  %" PRIu64 " successful", names[i], t->done[i],
		       t->ok[i]);
		if (t->retried[i])
			printf(", repeated %" PRIu64 " times after deadlocks", t->retried[i]);
		putchar('\n');
		for (unsigned int p = 0; out->latency && p < NR_PERCENTILES; p++)
			printf("%s%s %" PRIu64 "%s", p ? ", " : "    ", percentiles[p].name,
			       histogram_at(&out->latency[i], percentiles[p].per_mille),
			       p + 1 < NR_PERCENTILES ? "" : " ns\n");
	}
}

/* The sections of each role: a transaction, elided, and those that waited. */
static void print_sections(const struct outcome *out)
{
	const struct counters *c = &out->counters;

	printf("  %-24s %12.2f  a transaction\n", "critical sections",
	       each(out, all_sections(out)));
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++) {
		double ns = counters_wait_ns(c, i);

		if (!c->sections[i])
			continue;
		printf("    %-22s %12.2f", latch_role_name(i), each(out, c->sections[i]));
		if (c->elided[i])
			printf("  %.1f %% elided",
			       100 * (double)c->elided[i] / (double)c->sections[i]);
		if (c->waits[i])
			printf("  %" PRIu64 " waited, %.0f ns each", c->waits[i],
			       ns / (double)c->waits[i]);
		putchar('\n');
	}
}

static void print_threads(const struct options *opts, const struct outcome *out)
{
	const struct counters *c = &out->counters;
	double user = (double)c->user_ns * 1e-9, system = (double)c->system_ns * 1e-9;

	printf("  %-24s %12.6f  s, of these %.6f in the kernel; %.0f %% of %" PRIu64 " thread%s\n",
	       "processor time", user + system, system,
	       100 * (user + system) / out->seconds / (double)opts->threads, opts->threads,
	       opts->threads > 1 ? "s" : "");
	if (opts->threads > 1)
		printf("  %-24s %12.0f  transactions/s, least %.0f, most %.0f\n", "mean of the threads",
		       out->thread_mean, out->thread_least, out->thread_most);
}

static void print_text(const struct options *opts, const struct outcome *out)
{
	struct count counts[NR_COUNTS];

	printf("%s, %" PRIu64 " threads%s, %" PRIu64 " subscribers, %s keys, seed %" PRIu64 "\n",
	       mix_choices[opts->mix].name, opts->threads, opts->pin ? " pinned" : "",
	       opts->subscribers, keys_choices[opts->keys].name, opts->seed);
	printf("  log in %s%s, lock inheritance %s, helpers %s\n",
	       options_file(opts) ? options_file(opts) : "memory",
	       opts->group_commit ? "" : " without group commit", opts->sli ? "on" : "off",
	       opts->helpers ? "on" : "off");
	printf("  latches %s\n", latch_says());
	print_transactions(out);
	print_sections(out);
	lock_counts(out, counts);
	for (unsigned int i = 0; i < NR_COUNTS; i++)
		if (counts[i].value)
			printf("  %-24s %12" PRIu64 "  %s\n", counts[i].name, counts[i].value,
			       counts[i].help);
	printf("  %-24s %12.1f  MiB\n  %-24s %12.1f  MiB in %" PRIu64 " writes\n", "pages",
	       (double)out->bytes / 0x1p20, "log", (double)out->counters.log_bytes / 0x1p20,
	       out->counters.log_writes);
	if (opts->pool)
		printf("  %-24s %12" PRIu64 "\n", "pages read", out->counters.reads);
	if (out->counters.checkpoints)
		printf("  %-24s %12" PRIu64 "  %" PRIu64 " pages cleaned\n", "checkpoints",
		       out->counters.checkpoints, out->counters.cleaned);
	print_threads(opts, out);
	printf("  %-24s %12.6f  s%s\n  %-24s %12.0f  transactions/s\n  %-24s %12s\n", "time",
	       out->seconds, out->interrupted ? ", interrupted" : "", "throughput",
	       (double)outcome_done(out) / out->seconds, "check", out->check);
}

/**
 * output_print() - print the results of a run
 * @opts: the command line, which selects text, JSON or CSV
 * @out: the results
 */
void output_print(const struct options *opts, const struct outcome *out)
{
	struct fields fields = { .nr = 0 };

	setting_fields(&fields, opts);
	result_fields(&fields, out);
	if (!fields_print(&fields, opts->json, opts->csv))
		print_text(opts, out);
}

/**
 * output_recovered() - print what a recovery did
 * @opts: the command line
 * @sm: the storage manager
 * @r: what it did
 * @check: "ok" or the first fault
 */
void output_recovered(const struct options *opts, const struct sm *sm, const struct recovered *r,
		      const char *check)
{
	struct fields f = { .nr = 0 };

	field_number(&f, "subscribers", sm->opts.identity.subscribers);
	field_number(&f, "seed", sm->opts.identity.seed);
	field_number(&f, "records", r->records);
	field_number(&f, "changes_repeated", r->redone);
	field_number(&f, "committed", r->committed);
	field_number(&f, "rolled_back", r->undone);
	field_text(&f, "check", check);
	if (fields_print(&f, opts->json, opts->csv))
		return;
	printf("recovered %" PRIu64 " subscribers, seed %" PRIu64 "\n",
	       sm->opts.identity.subscribers, sm->opts.identity.seed);
	printf("  %-24s %12" PRIu64 "  bytes %" PRIu64 " to %" PRIu64 " of the log\n", "records",
	       r->records, r->begin, r->end);
	printf("  %-24s %12" PRIu64 "\n  %-24s %12" PRIu64 "  since the last checkpoint\n"
	       "  %-24s %12" PRIu64 "\n  %-24s %12s\n", "changes repeated", r->redone,
	       "transactions committed", r->committed, "rolled back", r->undone, "check", check);
}
