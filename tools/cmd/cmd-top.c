// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-top.c - elide top: what a running process does, live.
 *
 * Reads the data file that the process writes; the process does not notice.
 * Must never write to that file, nor leave the terminal in its own mode.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../base/colour.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/signals.h"
#include "../live/live.h"
#include "../live/top-screen.h"
#include "../live/top-view.h"
#include "../model/rank.h"
#include "../print/output.h"
#include "cmd.h"

/* Option keys without a letter. */
enum { OPT_INTERVAL = 256, OPT_COUNT, OPT_SORT, OPT_BY, OPT_TOTALS, OPT_TOP, OPT_WIDTH, OPT_COLOUR };

static const struct option_desc options[] = {
	{'i', "input", "FILE", "data file of the process, instead of its id"},
	{'b', "batch", NULL, "print text instead of taking the terminal"},
	{OPT_INTERVAL, "interval", "S", "seconds between two readings (1)"},
	{OPT_COUNT, "count", "N", "end after N looks"},
	{OPT_SORT, "sort", "KEY", "order of the rows: cost (default) or a column's name",
	 report_sort_keys},
	{OPT_BY, "by", "WHAT", "sum over: lock, or site", report_sum_words},
	{OPT_TOTALS, "totals", NULL, "numbers since the start rather than per second"},
	{OPT_TOP, "top", "N", "rows printed by --batch, 0 for all (20)"},
	{OPT_WIDTH, "width", "N", "columns printed by --batch (as many as needed)"},
	{OPT_COLOUR, "color", "WHEN", "colour: auto (default, on a terminal), always, never",
	 colour_words},
	OPTION_HELP,
};

/* Columns of the narrowest table; on a narrower terminal lines are cut. */
#define WIDTH_MIN 20

/**
 * struct top - what is shown.
 * @path, @pid: of the process
 * @before: the frame before @now, if @nr_frames is more than 1
 */
struct top {
	struct target target;
	const char *path;
	long pid;
	bool batch;
	double interval_s;
	unsigned long count;
	struct view view;
	struct frame now;
	struct frame before;
	unsigned long nr_frames;
	bool help;
};

static int set_sort(struct top *t, const char *key)
{
	const char *nearest;

	t->view.sort = view_sort(key);
	if (t->view.sort < view_nr_sorts())
		return 0;
	report_sort_key(key, &nearest);
	say("--sort=%s is no column, nearest is %s", key, nearest);
	return -EINVAL;
}

static int apply(int key, struct top *t)
{
	double v = 0;
	int rc = 0;

	switch (key) {
	case 'i':
		t->path = optarg;
		return 0;
	case 'b':
		t->batch = true;
		return 0;
	case OPT_INTERVAL:
		return option_number("interval", optarg, 0.05, 3600, &t->interval_s);
	case OPT_COUNT:
		rc = option_number("count", optarg, 1, 1e9, &v);
		t->count = v;
		return rc;
	case OPT_SORT:
		return set_sort(t, optarg);
	case OPT_BY:
		return report_sum_key(optarg, "top sums", &t->view.by);
	case OPT_TOTALS:
		t->view.totals = true;
		return 0;
	case OPT_TOP:
		rc = option_number("top", optarg, 0, 1e6, &v);
		t->view.rows = v;
		return rc;
	case OPT_WIDTH:
		rc = option_number("width", optarg, WIDTH_MIN, WIDTH_UNBOUNDED, &v);
		t->view.width = v;
		return rc;
	case OPT_COLOUR:
		return colour_option(optarg);
	}
	return -EINVAL;
}

/* The process named, or the one started last. */
static int find_process(struct top *t, const char *text)
{
	struct elide_header header;
	char *end;
	int err;

	if (t->path) {
		t->pid = load_header(t->path, &header) ? 0 : header.pid;
		return 0;
	}
	if (!text) {
		err = live_newest(&t->pid, &t->target);
		if (err)
			say("top: no process that may be inspected writes a data file; start one "
			    "with elide run");
	} else {
		errno = 0;
		t->pid = strtol(text, &end, 10);
		if (*end || end == text || errno || t->pid <= 0) {
			say("top: %s is not a process id", text);
			return -EINVAL;
		}
		err = live_find(t->pid, &t->target);
		if (err)
			say("top: process %ld %s", t->pid, live_missing(t->pid, err));
	}
	t->path = t->target.path;
	return err;
}

/* Is the frame before of the same process, with the same sums? */
static bool goes_on(const struct top *t)
{
	const struct elide_header *a = &t->before.file.header, *b = &t->now.file.header;

	return t->nr_frames && a->pid == b->pid && a->pid_start == b->pid_start &&
	       a->start_ns == b->start_ns;
}

/* Reads the next frame. Return: 0; or -errno with @error filled, and the old frames remain. */
static int look(struct top *t, char *error)
{
	struct frame next;
	int rc = frame_read(&next, t->path, t->pid, t->view.by, error);

	if (rc)
		return rc;
	frame_free(&t->before);
	t->before = t->now;
	t->now = next;
	frame_since(&t->now, goes_on(t) ? &t->before : NULL);
	t->nr_frames++;
	return 0;
}

/* Change the sums. The last frame has other ones, so the next one is a first one. */
static void sum_over(struct top *t, enum report_by by)
{
	char error[LOAD_ERROR_MAX];

	t->view.by = by;
	t->view.skip = 0;
	t->nr_frames = 0;
	look(t, error);
}

static void sleep_s(double s)
{
	struct timespec ts = {.tv_sec = (time_t)s};

	ts.tv_nsec = (long)((s - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

/* Says what is missing in the file. Return: exit code. */
static int tell_faults(const struct top *t)
{
	if (!t->now.faults[0])
		return 0;
	say("top: %s: damaged: %s; what is left is shown", t->path, t->now.faults);
	return EXIT_CONDITION;
}

static int run_batch(struct top *t)
{
	char error[LOAD_ERROR_MAX];
	int code;

	for (;;) {
		int err = look(t, error);

		if (err) {
			say("top: %s", error);
			return exit_unread(0, err);
		}
		if (t->nr_frames > 1)
			putchar('\n');
		top_print(&t->view, &t->now, stdout);
		if (fflush(stdout))
			return EXIT_USAGE;
		code = tell_faults(t);
		if (signal_noted || t->nr_frames == t->count || (t->now.ended && !t->count))
			return code;
		sleep_s(t->interval_s);
		if (signal_noted)
			return code;
	}
}

static const char help_text[] =
	"elide top\n"
	"\n"
	"  < >       sort by the column to the left, to the right\n"
	"  a e b w   sort by acquired, elided, aborts, wait\n"
	"  c         sort by cost\n"
	"  space     freeze, go on\n"
	"  t         per second, or since the start\n"
	"  l         by lock and site, by lock, by site\n"
	"  arrows    scroll; also page up, page down, home\n"
	"  h ?       this, and back\n"
	"  q         quit\n"
	"\n"
	"The columns are those of elide-report(1); * marks the one sorted by.\n";

static const char footer[] =
	"q quit  h help  < > sort  t rates or totals  l by lock, site  space freeze  arrows scroll";
static const char help_footer[] = "h back  q quit";

static void show(struct top *t)
{
	char *text = NULL;
	size_t size;
	int lines, columns;
	FILE *out;

	if (t->help) {
		screen_show(help_text, 0, help_footer);
		return;
	}
	screen_size(&lines, &columns);
	t->view.width = columns < WIDTH_MIN ? WIDTH_MIN : columns;
	/* The last line has the keys. */
	t->view.rows = lines > VIEW_HEAD_LINES + 1 ? lines - VIEW_HEAD_LINES - 1 : 1;
	if (t->view.skip >= t->now.nr)
		t->view.skip = t->now.nr ? t->now.nr - 1 : 0;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	top_print(&t->view, &t->now, out);
	if (!fclose(out))
		screen_show(text, VIEW_HEAD_LINES - 1, footer);
	free(text);
}

static void scroll_by(struct view *v, long by)
{
	v->skip = by < 0 && v->skip < (size_t)-by ? 0 : v->skip + by;
}

/* Keys that sort by a column. */
static const struct sort_key {
	int key;
	const char *column;
} sort_keys[] = {
	{'a', "acquired"}, {'e', "elided"}, {'b', "aborts"}, {'w', "wait"}, {'c', "cost"},
};

/* Return: false to end. */
static bool handle(struct top *t, int key)
{
	struct view *v = &t->view;
	size_t nr = view_nr_sorts();

	for (size_t i = 0; i < ARRAY_SIZE(sort_keys); i++)
		if (sort_keys[i].key == key)
			v->sort = view_sort(sort_keys[i].column);
	switch (key) {
	case 'q':
	case SCREEN_ENDED:
		return false;
	case '<':
		v->sort = (v->sort + nr - 1) % nr;
		break;
	case '>':
		v->sort = (v->sort + 1) % nr;
		break;
	case ' ':
		v->frozen = !v->frozen;
		break;
	case 't':
		v->totals = !v->totals;
		break;
	case 'l':
		if (v->frozen)
			break;
		sum_over(t, v->by == BY_SITE ? BY_LOCK_AND_SITE : v->by + 1);
		break;
	case 'h':
	case '?':
		t->help = !t->help;
		break;
	case SCREEN_UP:
	case SCREEN_DOWN:
		scroll_by(v, key == SCREEN_UP ? -1 : 1);
		break;
	case SCREEN_PAGE_UP:
	case SCREEN_PAGE_DOWN:
		scroll_by(v, key == SCREEN_PAGE_UP ? -(long)v->rows : (long)v->rows);
		break;
	case SCREEN_HOME:
		v->skip = 0;
		break;
	}
	return true;
}

static int run_screen(struct top *t, char *error)
{
	double next = 0;

	for (;;) {
		double left = next - (double)now_ns() / 1e9;

		if (left <= 0 && !t->view.frozen && !(t->nr_frames && t->now.ended)) {
			/* Without its file nobody knows whether the process runs. */
			if (look(t, error))
				t->now.ended = true;
			if (t->count && t->nr_frames > t->count)
				return 0;
		}
		if (left <= 0) {
			next = (double)now_ns() / 1e9 + t->interval_s;
			left = t->interval_s;
		}
		show(t);
		if (!handle(t, screen_key((int)(1000 * left) + 1)) || signal_noted)
			return 0;
	}
}

/* Ends this process by the signal, now that the terminal is restored. */
static void end_by(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static int run(struct top *t)
{
	char error[LOAD_ERROR_MAX] = "";
	const char *why;
	int code;

	signals_note();
	if (t->batch) {
		code = run_batch(t);
	} else {
		/* A fault of the file is reported before the screen is taken. */
		int err = look(t, error);

		if (err) {
			say("top: %s", error);
			return exit_unread(0, err);
		}
		why = screen_open();
		if (why) {
			say("top: %s: elide top --batch prints text", why);
			return EXIT_USAGE;
		}
		code = run_screen(t, error);
		screen_close();
		if (!code)
			code = tell_faults(t);
	}
	if (signal_noted)
		end_by(signal_noted);
	return code;
}

/**
 * cmd_top() - elide top.
 */
int cmd_top(int argc, char **argv)
{
	static struct top t = {
		.interval_s = 1,
		.view = {.width = WIDTH_UNBOUNDED, .rows = REPORT_TOP},
	};
	int key, code = EXIT_USAGE;

	colour_set(COLOUR_AUTO, STDOUT_FILENO);
	t.view.sort = view_sort("cost");
	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("top [OPTION...] [PID]",
				     "Shows what a running process does, live: the one named, or the "
				     "one started last.",
				     options, ARRAY_SIZE(options));
			return 0;
		}
		if (apply(key, &t))
			return code;
	}
	if (argc - optind > 1 || (t.path && argc > optind))
		say("top: takes one process id, or a file");
	else if (!find_process(&t, argv[optind]))
		code = run(&t);
	frame_free(&t.now);
	frame_free(&t.before);
	return code;
}
