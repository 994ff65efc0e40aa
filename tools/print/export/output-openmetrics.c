// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-openmetrics.c - elide report --openmetrics: counters and histograms by lock and call site,
 * for scrapers and for node_exporter's textfile collector.
 *
 * Two formats differ only in the names of families: in Prometheus's text format 0.0.4, for files
 * named *.prom, a family has the name of its samples; in OpenMetrics 1.0 the name lacks _total
 * or _info. Must never write a series twice, nor more of them than --top says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../../lib/row-sums.h"
#include "../../base/messages.h"
#include "../../base/text.h"
#include "../../model/answer/thread-time.h"
#include "../../model/attribute.h"
#include "../../names/names.h"
#include "../output.h"
#include "../../base/intern.h"
#include "single.h"

/* Rows without --top: each has some 50 series. */
#define METRICS_TOP 20

/* Bytes of a label's value; C++ has names of kilobytes. */
#define LABEL_MAX 256

/*
 * Upper bounds of the histograms' buckets: the same in every run, whatever its clock, so that
 * series of different runs can be added. A bin of the data file that includes a bound counts above it.
 */
static const struct bound {
	const char *le;
	uint64_t ns;
} bounds[] = {
	{"1e-07", 100}, {"3e-07", 300}, {"1e-06", 1000}, {"3e-06", 3000},
	{"1e-05", 10000}, {"3e-05", 30000}, {"0.0001", 100000}, {"0.0003", 300000},
	{"0.001", 1000000}, {"0.003", 3000000}, {"0.01", 10000000}, {"0.03", 30000000},
	{"0.1", 100000000}, {"0.3", 300000000}, {"1.0", 1000000000}, {"3.0", 3000000000},
	{"10.0", 10000000000},
};

/* A histogram; times in cycles. */
struct times {
	uint64_t count;
	uint64_t total;
	uint64_t bins[ELIDE_NR_BINS];
};

/* The sum of the rows with the same labels. */
struct series {
	uint64_t acquired;
	uint64_t elided;
	uint64_t contended;
	uint64_t failed;
	uint64_t fallback;
	uint64_t wasted;
	uint64_t causes[ELIDE_NR_CAUSES];
	struct times wait;
	struct times hold;
	double held;
};

/**
 * struct metrics - everything to write.
 * @labels:  of each series, as printed; those of the rows that were left out are the last
 * @of_line: number of the series of each line of the report
 * @prometheus: in Prometheus's format
 */
struct metrics {
	const struct report *r;
	FILE *out;
	bool prometheus;
	struct intern labels;
	struct series *series;
	size_t *of_line;
};

enum type { TYPE_COUNTER, TYPE_GAUGE, TYPE_HISTOGRAM, TYPE_INFO };

static bool is_metrics(const char *head, size_t len)
{
	return !strncmp(head, "# HELP elide_", 13) || !strncmp(head, "# TYPE elide_", 13);
}

/* Appends NAME="VALUE", escaped. */
static void add_label(char *to, size_t size, const char *name, const char *value)
{
	size_t len = strlen(to), nr = 0;

	len += snprintf(to + len, size - len, "%s%s=\"", len ? "," : "", name);
	for (; *value && nr < LABEL_MAX && len + 4 < size; value++, nr++) {
		if (*value == '\\' || *value == '"')
			to[len++] = '\\';
		to[len++] = *value < ' ' || *value > '~' ? '?' : *value;
	}
	snprintf(to + len, size - len, "\"");
}

/* Three labels of LABEL_MAX characters, each of which may be escaped, with their names. */
#define LABELS_MAX (3 * (2 * LABEL_MAX + 16))

static int64_t series_of(struct metrics *m, const char *lock, const char *site, const char *kind)
{
	char labels[LABELS_MAX] = "";

	add_label(labels, sizeof(labels), "lock", lock);
	add_label(labels, sizeof(labels), "site", site);
	add_label(labels, sizeof(labels), "kind", kind);
	return intern(&m->labels, labels, strlen(labels));
}


static int add_row(void *arg, const struct elide_row *row)
{
	struct metrics *m = arg;
	const struct line *l = report_line(m->r, row->class_index, row->site, row->kind);
	bool shown = l && l < m->r->lines + m->r->nr_lines;
	struct series *s = &m->series[shown ? m->of_line[l - m->r->lines] : m->labels.nr - 1];

	s->acquired += elide_row_acquired(row);
	s->elided += elide_row_elided(row);
	s->contended += row->contended;
	s->failed += row->failed;
	s->fallback += row->fallback;
	s->wasted += row->wasted_cycles;
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		s->causes[i < ELIDE_NR_CAUSES ? i : ELIDE_CAUSE_other] += row->causes[i];
	s->wait.count += row->wait.count;
	s->wait.total += row->wait.total;
	bins_add(s->wait.bins, row->wait_bins);
	s->hold.count += row->hold.weight + row->hold.exact;
	s->hold.total += row->hold.total + row->hold.exact_total;
	bins_add(s->hold.bins, row->hold_bins);
	s->held += elide_row_held(row);
	return 0;
}

/* Sums up rows with the same labels. */
static int sum_series(struct metrics *m)
{
	const struct report *r = m->r;

	m->of_line = calloc(r->nr_lines + 1, sizeof(*m->of_line));
	if (!m->of_line)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_lines; i++) {
		const struct line *l = &r->lines[i];
		int64_t number = series_of(m, l->lock, l->site, kind_id(l->kind));

		if (number < 0)
			return -ENOMEM;
		m->of_line[i] = number;
	}
	/* Always written, so that the series does not come and go with the rows of the report. */
	if (series_of(m, "(other)", "(other)", "(other)") < 0)
		return -ENOMEM;
	m->series = calloc(m->labels.nr, sizeof(*m->series));
	return m->series ? load_rows(r->file, add_row, m) : -ENOMEM;
}

static void head(const struct metrics *m, const char *name, enum type type, const char *unit,
		 const char *help)
{
	static const char *const names[] = {"counter", "gauge", "histogram", "info"};
	static const char *const suffixes[] = {"_total", "", "", "_info"};
	const char *suffix = m->prometheus ? suffixes[type] : "";

	/* Prometheus's format has no infos. */
	fprintf(m->out, "# HELP elide_%s%s %s\n", name, suffix, help);
	fprintf(m->out, "# TYPE elide_%s%s %s\n", name, suffix,
		m->prometheus && type == TYPE_INFO ? "gauge" : names[type]);
	if (!m->prometheus && *unit)
		fprintf(m->out, "# UNIT elide_%s %s\n", name, unit);
}

static const char *labels_of(const struct metrics *m, size_t series, int *len)
{
	*len = (int)m->labels.keys[series].len;
	return m->labels.bytes + m->labels.keys[series].at;
}

static void write_counters(const struct metrics *m)
{
	const char *labels;
	int len;

#define ELIDE_FAMILY(name, unit, value, elision, help)                                             \
	if (m->r->elides || !(elision)) {                                                          \
		head(m, #name, TYPE_COUNTER, unit, help);                                          \
		for (size_t i = 0; i < m->labels.nr; i++) {                                        \
			const struct series *s = &m->series[i];                                    \
                                                                                                   \
			labels = labels_of(m, i, &len);                                            \
			fprintf(m->out, "elide_" #name "_total{%.*s} %llu\n", len, labels,         \
				(unsigned long long)(value));                                      \
		}                                                                                  \
	}
#include "families.def"
#undef ELIDE_FAMILY
	if (!m->r->elides)
		return;
	head(m, "aborts", TYPE_COUNTER, "",
	     "Transactions aborted, by cause; causes without any are left out.");
	for (size_t i = 0; i < m->labels.nr; i++)
		for (int c = 0; c < ELIDE_NR_CAUSES; c++) {
			if (!m->series[i].causes[c])
				continue;
			labels = labels_of(m, i, &len);
			fprintf(m->out, "elide_aborts_total{%.*s,cause=\"%s\"} %llu\n", len, labels,
				cause_texts[c].id, (unsigned long long)m->series[i].causes[c]);
		}
}

static double seconds(const struct report *r, double cycles)
{
	return cycles * (double)r->ns / (double)r->cycles / 1e9;
}

/* Number of times up to a bound: those of the bins that end there or before. */
static uint64_t below(const struct report *r, const struct times *t, uint64_t bound_ns)
{
	uint64_t sum = 0, ns;

	for (int bin = 0; bin < ELIDE_NR_BINS - 1; bin++) {
		if (to_ns(r, 1ull << (ELIDE_BIN_SHIFT + 1 + bin), &ns) || ns > bound_ns)
			break;
		sum += t->bins[bin];
	}
	return sum;
}

static void write_histogram(const struct metrics *m, const char *name, size_t series,
			    const struct times *t)
{
	uint64_t count = t->count, sum;
	const char *labels;
	int len;

	/* A running process may have updated its bins but not yet the count. */
	sum = below(m->r, t, UINT64_MAX) + t->bins[ELIDE_NR_BINS - 1];
	count = sum > count ? sum : count;
	labels = labels_of(m, series, &len);
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		fprintf(m->out, "elide_%s_bucket{%.*s,le=\"%s\"} %llu\n", name, len, labels,
			bounds[i].le, (unsigned long long)below(m->r, t, bounds[i].ns));
	fprintf(m->out, "elide_%s_bucket{%.*s,le=\"+Inf\"} %llu\n", name, len, labels,
		(unsigned long long)count);
	fprintf(m->out, "elide_%s_count{%.*s} %llu\n", name, len, labels,
		(unsigned long long)count);
	fprintf(m->out, "elide_%s_sum{%.*s} %.9f\n", name, len, labels,
		seconds(m->r, (double)(int64_t)t->total));
}

static void write_times(const struct metrics *m)
{
	const char *labels;
	int len;

	head(m, "wait_seconds", TYPE_HISTOGRAM, "seconds",
	     "Time of each wait: for others where kind is cond, sem or barrier, else for locks.");
	for (size_t i = 0; i < m->labels.nr; i++)
		write_histogram(m, "wait_seconds", i, &m->series[i].wait);
	head(m, "hold_seconds", TYPE_HISTOGRAM, "seconds",
	     "Time from acquisition to release, of the locked acquisitions that were sampled.");
	for (size_t i = 0; i < m->labels.nr; i++)
		write_histogram(m, "hold_seconds", i, &m->series[i].hold);
	head(m, "held_seconds", TYPE_GAUGE, "seconds",
	     "Time that the locks were held in all, estimated from the sampled holds.");
	for (size_t i = 0; i < m->labels.nr; i++) {
		labels = labels_of(m, i, &len);
		fprintf(m->out, "elide_held_seconds{%.*s} %.9f\n", len, labels,
			seconds(m->r, m->series[i].held > 0 ? m->series[i].held : 0));
	}
}

static void write_thread_time(const struct metrics *m)
{
	struct thread_time t;

	thread_time(m->r, &t);
	if (!m->r->cycles)
		return;
	head(m, "thread_seconds", TYPE_COUNTER, "seconds", "Time of all threads, by what they did.");
	fprintf(m->out, "elide_thread_seconds_total{state=\"waiting for locks\"} %.3f\n", t.locks / 1e9);
	fprintf(m->out, "elide_thread_seconds_total{state=\"waiting for others\"} %.3f\n", t.others / 1e9);
	if (!t.known)
		return;
	fprintf(m->out, "elide_thread_seconds_total{state=\"running\"} %.3f\n", t.running / 1e9);
	if (!t.no_late)
		fprintf(m->out, "elide_thread_seconds_total{state=\"waiting for a processor\"} %.3f\n", t.late / 1e9);
	fprintf(m->out, "elide_thread_seconds_total{state=\"elsewhere\"} %.3f\n", t.elsewhere / 1e9);
}

static void write_run(const struct metrics *m)
{
	const struct report *r = m->r;
	const struct elide_header *h = &r->file->header;
	char labels[LABELS_MAX] = "";
	uint64_t dropped = 0;

	add_label(labels, sizeof(labels), "program", program_title(h));
	add_label(labels, sizeof(labels), "mode", mode_name(h->mode));
	add_label(labels, sizeof(labels), "rtm", rtm_name(h->rtm));
	add_label(labels, sizeof(labels), "policy", h->policy);
	head(m, "run", TYPE_INFO, "", "What is measured.");
	fprintf(m->out, "elide_run_info{%s,version=\"" ELIDE_VERSION "\"} 1\n", labels);
	head(m, "processes", TYPE_GAUGE, "", "Processes over which the counters are summed.");
	fprintf(m->out, "elide_processes %zu\n", r->file->nr_processes ? r->file->nr_processes : 1);
	head(m, "threads", TYPE_GAUGE, "", "Threads that have called a lock function.");
	fprintf(m->out, "elide_threads %u\n", h->nr_threads);
	head(m, "start_time_seconds", TYPE_GAUGE, "seconds", "When the process began, since 1970.");
	fprintf(m->out, "elide_start_time_seconds %.3f\n", (double)h->start_realtime_ns / 1e9);
	if (r->cycles) {
		head(m, "run_seconds", TYPE_GAUGE, "seconds",
		     "Time for which the process was measured.");
		fprintf(m->out, "elide_run_seconds %.3f\n", (double)r->ns / 1e9);
	}
	write_thread_time(m);
	head(m, "locks", TYPE_GAUGE, "", "Locks that were registered.");
	fprintf(m->out, "elide_locks %llu\n", (unsigned long long)r->total.nr_locks);
	head(m, "rows_summed", TYPE_GAUGE, "",
	     "Locks and call sites that have no series of their own and are summed up as (other).");
	fprintf(m->out, "elide_rows_summed %zu\n", r->nr_all - r->nr_lines);
	for (int i = 0; i < ELIDE_NR_DROPPED; i++)
		dropped += h->dropped[i];
	head(m, "dropped", TYPE_COUNTER, "",
	     "What was not recorded, because it was beyond a limit.");
	fprintf(m->out, "elide_dropped_total %llu\n", (unsigned long long)dropped);
}

/* Chooses the format by the name of the file: node_exporter reads files *.prom. */
static bool is_prometheus(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".prom");
}

static int write_metrics(struct metrics *m)
{
	int rc = sum_series(m);

	if (!rc) {
		write_run(m);
		write_counters(m);
		if (m->r->cycles)
			write_times(m);
		if (!m->prometheus)
			fputs("# EOF\n", m->out);
	}
	intern_free(&m->labels);
	free(m->series);
	free(m->of_line);
	return rc;
}

static int rows(struct output *o, const struct report *r)
{
	struct metrics m = {.r = r, .prometheus = is_prometheus(o->options->file)};
	struct single *s = o->state;

	m.out = single_begin(o, "a file of metrics", "file of metrics of elide report", is_metrics);
	if (!m.out)
		return -EIO;
	s->rc = write_metrics(&m);
	return s->rc;
}

const struct report_output output_openmetrics = {
	.option = {.name = "openmetrics", .arg = "FILE",
		   .help = "metrics for Prometheus (FILE.prom: for its text format); - for stdout"},
	.top = METRICS_TOP,
	.merges = true,
	.state_size = sizeof(struct single),
	.argument = single_argument,
	.rows = rows,
	.end = single_end,
};
