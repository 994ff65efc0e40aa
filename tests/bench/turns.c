// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * turns.c - pairs.c, programs.c and index_bench, plain and in the modes of the library, in turn.
 *
 *   turns PAIRS PROGRAMS INDEX_BENCH LIBRARY FOLDER CSV [KEY=LIST...]
 *
 * A row of the table is a kind, a number n and a number of lock classes; its columns are the ways
 * to run it, of which "plain" is without the library. The ways take turns. Pairs of a
 * way are measured by one process, which waits between its turns. A whole program is started anew for
 * each turn, and its figure is the processor time of that process from start to end. The figure of a
 * way is that of its best turn. Mode off passes each call through: as much as its
 * ratio differs from 1 for a pair, the other ratios can be wrong.
 *
 * Keys choose rows and columns, by lists with commas between: kind=, n=, classes= and mode=. Values
 * of n and classes that a kind does not have in the table are measured, too. A row takes at most
 * seconds=. The data files go into FOLDER, the table to standard output, and a line for each row
 * and mode to CSV.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that takes longer is ended; the slowest one has taken 12 s. */
#define PROCESS_SECONDS 120

/*
 * Turns of one start of the processes of a pair. They are started often, as a pair of the same
 * program takes up to a sixth more or less by where its stack, its heap and its pages lie.
 */
#define START_TURNS 2

/*
 * A row ends when STEADY_STARTS have made no best figure smaller by a hundredth, which is soon on
 * an idle machine; otherwise after ROW_SECONDS, but not before MIN_STARTS, of which one takes 4 s
 * for 1,000,000 locks, or MIN_TURNS of whole programs.
 */
#define STEADY_STARTS 10
#define ROW_SECONDS 6
#define MIN_STARTS 2
#define MIN_TURNS 5

#define MAX_ARGS 12
#define MAX_NUMBERS 8

static const struct way {
	const char *name;
	const char *mode;
	const char *policy;
	int needs_rtm;
} ways[] = {
	{"plain", NULL, NULL, 0},
	{"off", "off", NULL, 0},
	{"profile", "profile", NULL, 0},
	{"restrict", "elide", "restrict", 0},
	{"elide", "elide", "adaptive", 1},
	{"fixed", "elide", "fixed", 1},
};

#define NR_WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

/* What is measured: a pair of pairs.c, a process of programs.c, operations of index_bench. */
enum how { PAIR, WHOLE, TREE };

/**
 * struct kind - rows of the table.
 * @name: of the kind, which is also the argument of its program
 * @how: what is measured
 * @n: numbers of locks, or of threads, a row each
 * @mixed: numbers of locks of MIXED classes, a row each
 * @per: what one figure is of; a process does @nr of it
 * @limit: of the ratio in mode profile
 */
static const struct kind {
	const char *name;
	enum how how;
	long n[MAX_NUMBERS];
	long mixed[MAX_NUMBERS];
	const char *per;
	double nr;
	double limit;
} kinds[] = {
	{"mutex", PAIR, {1, 1000, 10000, 37000, 100000, 300000, 1000000}, {1000, 37000},
	 "pair", 1, 1.05},
	{"mutex-alone", PAIR, {1, 1000}, {0}, "pair", 1, 1.25},
	{"mutex-trylock", PAIR, {1, 1000, 37000}, {0}, "pair", 1, 1.05},
	{"mutex-recursive", PAIR, {1, 1000, 37000}, {0}, "pair", 1, 1.05},
	{"mutex-errorcheck", PAIR, {1, 1000, 37000}, {0}, "pair", 1, 1.05},
	{"mutex-nested", PAIR, {1, 1000}, {0}, "2 pairs", 1, 1.05},
	{"rdlock", PAIR, {1, 1000, 37000}, {1000}, "pair", 1, 1.05},
	{"wrlock", PAIR, {1, 1000, 37000}, {0}, "pair", 1, 1.05},
	{"spin", PAIR, {1, 1000, 37000}, {1000}, "pair", 1, 1.15},
	{"spin-trylock", PAIR, {1, 1000, 37000}, {0}, "pair", 1, 1.15},
	{"threads", WHOLE, {1, 8, 64, 1000}, {0}, "thread", 4000, 1.1},
	{"alive", WHOLE, {1000, 1500}, {0}, "process", 1, 1.1},
	{"life", WHOLE, {1, 10000}, {0}, "life", 4e6, 1.3},
	{"many", WHOLE, {1000000}, {0}, "process", 1, 1.1},
	{"trees", TREE, {1, 2}, {0}, "operation", 1e6, 1.03},
};

/* Classes of the locks in the rows @mixed, and the least limit there. */
#define MIXED 30
#define MIXED_LIMIT 1.15

/* The least limit for pairs with locks that are more than a last level cache. */
#define LARGE 300000
#define LARGE_LIMIT 1.25

#define NR_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* The operations of a tree are what a process does more than one with a single operation. */
#define TREE_OPS "--ops=1000000"

/* The arguments. */
static const char *pairs, *programs, *index_bench, *library, *folder;
static const char *chosen_kind, *chosen_n, *chosen_classes, *chosen_mode;
static double row_seconds = ROW_SECONDS;

static char cpu[128] = "unknown";
static int has_rtm, null;
static FILE *csv;

static void die(const char *what, const char *name)
{
	fprintf(stderr, "turns: %s: %s\n", what, name);
	exit(1);
}

/* Is @name one of the words of @list, which has commas between them? No list has all. */
static int in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (!list)
		return 1;
	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, name, length) && (!list[length] || list[length] == ','))
			return 1;
	return 0;
}

static int way_runs(int w)
{
	return !w || (in_list(chosen_mode, ways[w].name) && (!ways[w].needs_rtm || has_rtm));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* In the child: the environment of a way, each with a data file of its own. */
static void set_way(const struct way *way)
{
	char output[4096];

	if (!way->mode)
		return;
	snprintf(output, sizeof(output), "%s/%s.data", folder, way->name);
	setenv("ELIDE_OUTPUT", output, 1);
	setenv("ELIDE_MODE", way->mode, 1);
	if (way->policy)
		setenv("ELIDE_POLICY", way->policy, 1);
	setenv("LD_PRELOAD", library, 1);
}

/* Starts a program with @in and @out as its standard input and output. */
static pid_t start(const struct way *way, const char *const *args, int in, int out)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", strerror(errno));
	if (pid)
		return pid;
	dup2(in, 0);
	dup2(out, 1);
	/* The alarm stays with the program. */
	alarm(PROCESS_SECONDS);
	set_way(way);
	execv(args[0], (char *const *)args);
	_exit(127);
}

/* Waits for the end of a process; nanoseconds of its processor time. */
static double finish(const struct way *way, const char *const *args, pid_t pid)
{
	struct rusage usage;
	int status;

	if (wait4(pid, &status, 0, &usage) != pid || status) {
		fprintf(stderr, "turns: %s, %s: status %x\n", args[0], way->name, status);
		exit(1);
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

/* A process that takes turns: its input and its output, of ours. */
struct taker {
	pid_t pid;
	int ask;
	FILE *answer;
};

static void start_taker(struct taker *t, const struct way *way, const char *const *args)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		die("pipe", strerror(errno));
	t->pid = start(way, args, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	t->ask = in[1];
	t->answer = fdopen(out[0], "r");
}

static double take_turn(struct taker *t, const struct way *way)
{
	double ns = 0;

	if (write(t->ask, "t", 1) != 1 || fscanf(t->answer, "%lf", &ns) != 1)
		die("no answer", way->name);
	return ns;
}

static double run(const struct way *way, const char *const *args)
{
	return finish(way, args, start(way, args, null, null));
}

/* The least processor time of each way; of trees also that of the process with one operation. */
struct best {
	double ns[NR_WAYS];
	double single[NR_WAYS];
};

/* Returns 1 if @ns is the least so far by a hundredth. */
static int lower(double *best, double ns)
{
	int better = !*best || ns < *best * 0.99;

	if (!*best || ns < *best)
		*best = ns;
	return better;
}

static int run_single(const struct way *way, const char *const *args, double *best)
{
	const char *single[MAX_ARGS] = {NULL};

	for (int i = 0; args[i]; i++)
		single[i] = strcmp(args[i], TREE_OPS) ? args[i] : "--ops=1";
	return lower(best, run(way, single));
}

/* One turn of each way. Returns 1 if one of @best is less than it was by a hundredth. */
static int turn_of_all(struct taker *takers, enum how how, const char *const *args, int turn,
		       struct best *best)
{
	int better = 0;

	for (int i = 0; i < NR_WAYS; i++) {
		/* The one that goes first changes. */
		int w = (i + turn) % NR_WAYS;

		if (!way_runs(w))
			continue;
		if (how == PAIR)
			better |= lower(&best->ns[w], take_turn(&takers[w], &ways[w]));
		else
			better |= lower(&best->ns[w], run(&ways[w], args));
		if (how == TREE)
			better |= run_single(&ways[w], args, &best->single[w]);
	}
	return better;
}

/* One start of all ways; the best of each into @best. Returns 1 as turn_of_all() does. */
static int start_of_all(enum how how, const char *const *args, int nr, struct best *best)
{
	struct taker takers[NR_WAYS];
	int better = 0;

	if (how != PAIR)
		return turn_of_all(NULL, how, args, nr, best);
	for (int w = 0; w < NR_WAYS; w++)
		if (way_runs(w))
			start_taker(&takers[w], &ways[w], args);
	for (int turn = 0; turn < START_TURNS; turn++)
		better |= turn_of_all(takers, how, args, turn, best);
	for (int w = 0; w < NR_WAYS; w++) {
		if (!way_runs(w))
			continue;
		close(takers[w].ask);
		fclose(takers[w].answer);
		finish(&ways[w], args, takers[w].pid);
	}
	return better;
}

/* All starts of a row. Returns their number. */
static int measure(enum how how, const char *const *args, struct best *best)
{
	int least = how == PAIR ? MIN_STARTS : MIN_TURNS, starts = 0, steady = 0;
	double begin = now();

	while (steady < STEADY_STARTS && (starts < least || now() - begin < row_seconds))
		steady = start_of_all(how, args, starts++, best) ? 0 : steady + 1;
	for (int w = 0; w < NR_WAYS; w++)
		best->ns[w] -= best->single[w];
	return starts;
}

static const char *unit_of(double ns, double *divisor)
{
	*divisor = ns < 1e4 ? 1 : ns < 1e6 ? 1e3 : 1e6;
	return ns < 1e4 ? "ns" : ns < 1e6 ? "us" : "ms";
}

static double limit_of(const struct kind *k, long n, long classes)
{
	if (k->how == PAIR && n >= LARGE && k->limit < LARGE_LIMIT)
		return LARGE_LIMIT;
	return classes > 1 && k->limit < MIXED_LIMIT ? MIXED_LIMIT : k->limit;
}

static void print_row(const struct kind *k, long n, long classes, const double *best, int starts)
{
	double divisor, limit = limit_of(k, n, classes);
	const char *unit = unit_of(best[0] / k->nr, &divisor), *verdict = NULL;

	printf("%-20s %8ld %3ld  %s/%-9s %8.2f", k->name, n, classes, unit, k->per,
	       best[0] / k->nr / divisor);
	for (int w = 1; w < NR_WAYS; w++) {
		double ratio = best[w] / best[0];
		char judged[32] = "-,-";

		if (!way_runs(w))
			continue;
		printf(" %8.2f %5.2f", best[w] / k->nr / divisor, ratio);
		if (!strcmp(ways[w].name, "profile")) {
			verdict = ratio <= limit ? "reached" : "missed";
			snprintf(judged, sizeof(judged), "%.2f,%s", limit, verdict);
		}
		fprintf(csv, "%s,%ld,%ld,%s,ns/%s,%.3f,%.3f,%.4f,%s,%d,%s\n", k->name, n, classes,
			ways[w].name, k->per, best[0] / k->nr, best[w] / k->nr, ratio, judged,
			starts, cpu);
	}
	if (verdict)
		printf("  %4.2f %s", limit, verdict);
	putchar('\n');
	fflush(stdout);
}

static void measure_row(const struct kind *k, long n, long classes)
{
	char number[32], option[32], places[32];
	const char *const pair[] = {pairs, k->name, number, places, NULL};
	const char *const whole[] = {programs, k->name, number, NULL};
	const char *const tree[] = {
		index_bench, "--index=bplus", "--scheme=latch-pthread", "--preload=1000000",
		TREE_OPS, option, NULL,
	};
	const char *const *args[] = {[PAIR] = pair, [WHOLE] = whole, [TREE] = tree};
	struct best best = {{0}, {0}};
	int starts;

	snprintf(number, sizeof(number), "%ld", n);
	snprintf(option, sizeof(option), "--threads=%ld", n);
	snprintf(places, sizeof(places), "%ld", classes);
	starts = measure(k->how, args[k->how], &best);
	print_row(k, n, classes, best.ns, starts);
}

static void read_cpuinfo(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[4096];

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
			snprintf(cpu, sizeof(cpu), "%s", strchr(line, ':') + 2);
			cpu[strcspn(cpu, "\n")] = '\0';
		}
		has_rtm |= !strncmp(line, "flags", 5) &&
			   (strstr(line, " rtm ") || strstr(line, " rtm\n"));
	}
	if (file)
		fclose(file);
	/* A comma would end the field. */
	for (char *c = cpu; *c; c++)
		if (*c == ',')
			*c = ' ';
}

static void read_keys(char **args)
{
	for (; *args; args++) {
		if (!strncmp(*args, "kind=", 5))
			chosen_kind = *args + 5;
		else if (!strncmp(*args, "n=", 2))
			chosen_n = *args + 2;
		else if (!strncmp(*args, "classes=", 8))
			chosen_classes = *args + 8;
		else if (!strncmp(*args, "mode=", 5))
			chosen_mode = *args + 5;
		else if (!strncmp(*args, "seconds=", 8))
			row_seconds = atof(*args + 8);
		else
			die("keys are kind=, n=, classes=, mode=, seconds=", *args);
	}
}

/* The numbers of @list, with commas between them, into @numbers. */
static void numbers_of(const char *list, long *numbers)
{
	for (int nr = 0; list && nr < MAX_NUMBERS - 1; nr++) {
		numbers[nr] = atol(list);
		if (numbers[nr] < 1)
			die("no number", list);
		list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
	}
}

/* The rows of a kind. Numbers that were chosen replace those of the table. */
static int measure_kind(const struct kind *k)
{
	long classes[MAX_NUMBERS] = {1, MIXED}, chosen[MAX_NUMBERS] = {0};
	int rows = 0;

	numbers_of(chosen_n, chosen);
	if (chosen_classes || chosen_n)
		classes[1] = 0;
	if (k->how == PAIR)
		numbers_of(chosen_classes, classes);
	for (int c = 0; classes[c]; c++) {
		const long *n = classes[c] > 1 ? k->mixed : k->n;

		if (chosen_n)
			n = chosen;
		else if (chosen_classes && !*n)
			n = k->n;
		for (; *n; n++, rows++)
			measure_row(k, *n, classes[c]);
	}
	return rows;
}

static int measure_all(void)
{
	int rows = 0;

	for (int i = 0; i < NR_KINDS; i++)
		if (in_list(chosen_kind, kinds[i].name))
			rows += measure_kind(&kinds[i]);
	return rows;
}

int main(int argc, char **argv)
{
	if (argc < 7) {
		fprintf(stderr, "usage: turns PAIRS PROGRAMS INDEX_BENCH LIBRARY FOLDER CSV "
				"[KEY=VALUE...]\n");
		return 2;
	}
	pairs = argv[1];
	programs = argv[2];
	index_bench = argv[3];
	library = argv[4];
	folder = argv[5];
	read_keys(argv + 7);
	read_cpuinfo();
	signal(SIGPIPE, SIG_IGN);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	csv = fopen(argv[6], "w");
	if (!csv || null < 0)
		die(argv[6], strerror(errno));
	fprintf(csv, "kind,n,classes,mode,unit,plain,ours,ratio,limit,verdict,starts,cpu\n");
	printf("%-20s %8s %3s  %-12s %8s", "kind", "n", "cl.", "unit", "plain");
	for (int w = 1; w < NR_WAYS; w++)
		if (way_runs(w))
			printf(" %8s %5s", ways[w].name, "ratio");
	printf("%s\n", in_list(chosen_mode, "profile") ? "  limit of profile" : "");
	if (!measure_all())
		die("no such row", chosen_kind ? chosen_kind : "");
	for (int w = 1; w < NR_WAYS; w++) {
		if (way_runs(w) || !in_list(chosen_mode, ways[w].name))
			continue;
		printf("%s: left out, this processor (%s) has no RTM\n", ways[w].name, cpu);
		fprintf(csv, "-,-,-,%s,-,-,-,-,-,left out: no RTM,0,%s\n", ways[w].name, cpu);
	}
	return fclose(csv) != 0;
}
