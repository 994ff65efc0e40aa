// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - see account.h.
 *
 * The time of all threads is the integral of their number, by the trapezoidal rule over the samples: right on
 * average, however short threads live.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/data-open.h"
#include "../base/unseen.h"
#include "account.h"

/*
 * Nanoseconds between two samples: 1 % of the time since the start, so that the last interval, at whose end
 * the number of threads is not known, is 1 % of the run.
 */
#define LEAST_GAP 3000000
#define MOST_GAP 1000000000
#define GAP_PART 100
/* A sample takes at most 1 % of the time until the next one. */
#define SPACING 100
/* System calls of a process that are told apart. */
#define MOST_CALLS 64
/* Threads of a process that have ended whose times are kept: 160 KiB. */
#define MOST_ENDED 4096

/*
 * A thread, and its numbers in the last sample that has it, in nanoseconds. It was born half an interval
 * before its first sample at @born. @ran_before, @late_before: its numbers when the account began
 */
struct account_thread {
	pid_t tid;
	uint64_t born;
	uint64_t lived;
	uint64_t ran;
	uint64_t late;
	uint64_t ran_before;
	uint64_t late_before;
	int call; /* system call in which it is; -1: it runs, or that is not known */
};

/* A system call, and for how long threads were in it. */
struct account_call {
	int nr;
	uint64_t ns;
};

/**
 * struct account_process - a process of the run.
 * @threads:   @nr_threads of the last sample, by their id
 * @ended:     those of earlier samples, of which only the last MOST_ENDED are kept
 * @total:     but for @late, the account up to @sampled_ns
 * @past_late: of threads that have ended
 * @calls:     @nr_calls
 * @ran_before: processor time when the account began
 * @attached:  the process ran before that
 * @turn:      the thread whose children are looked for next
 * @seen:      all but @total: what is known of its program
 * @look_at:   number of the sample at which the program is looked at again: it may execute another one, or
 *             load a library. Each is four times the one before, as that takes as long as
 *             some samples
 */
struct account_process {
	pid_t pid;
	bool is_over;
	struct account_thread *threads;
	size_t nr_threads;
	struct account_thread *ended;
	size_t nr_ended;
	size_t turn;
	struct account_call calls[MOST_CALLS];
	size_t nr_calls;
	uint64_t sampled_ns;
	uint64_t ran_before;
	bool attached;
	uint64_t past_late;
	uint32_t look_at;
	struct elide_account total;
	struct account_seen seen;
};

/* Reads a file of /proc. Return: bytes, 0 if there is none. */
static size_t read_proc(char *text, size_t size, const char *format, pid_t pid, pid_t tid)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), format, pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/*
 * Processor time of a process, or of the children that it has waited for: utime and stime, or cutime and
 * cstime.
 */
static uint64_t cpu_ns(pid_t pid, bool children)
{
	unsigned long long user = 0, system = 0;
	char text[1024], *after;

	if (!read_proc(text, sizeof(text), "/proc/%d/stat", pid, 0) || !(after = strrchr(text, ')')))
		return 0;
	/* From field 3 on, which follows the name. */
	if (sscanf(after + 1, children ? "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu"
				       : "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu",
		   &user, &system) != 2)
		return 0;
	return (user + system) * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
}

static struct account_process *process_of(const struct account *a, pid_t pid)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->processes[i].pid == pid && !a->processes[i].is_over)
			return &a->processes[i];
	return NULL;
}

static void add_process(struct account *a, pid_t pid, uint64_t now)
{
	struct account_process *grown = reallocarray(a->processes, a->nr + 1, sizeof(*grown));

	if (!grown)
		return;
	a->processes = grown;
	grown[a->nr] = (struct account_process){.pid = pid, .sampled_ns = now, .look_at = 1};
	grown[a->nr].seen = (struct account_seen){.pid = pid, .start_ns = now, .pid_start = data_started(pid)};
	grown[a->nr++].total.no_late = a->no_late;
}

/* Adds the children of a thread to the processes. */
static void find_children(struct account *a, pid_t pid, pid_t tid, uint64_t now)
{
	char text[4096], *at = text, *end;
	long child;

	if (!read_proc(text, sizeof(text), "/proc/%d/task/%d/children", pid, tid))
		return;
	/* A space follows each id, but for the last one if it was cut off. */
	for (; (child = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
		if (!process_of(a, (pid_t)child))
			add_process(a, (pid_t)child, now);
}

static int compare_threads(const void *x, const void *y)
{
	const struct account_thread *a = x, *b = y;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The threads of a process now, by their id. Return: their number, 0 if it has ended. */
static size_t read_threads(struct account_process *p, struct account_thread **threads)
{
	unsigned long long ran, late;
	struct dirent *entry;
	char text[128];
	size_t nr = 0;
	DIR *dir;

	*threads = NULL;
	snprintf(text, sizeof(text), "/proc/%d/task", p->pid);
	dir = opendir(text);
	while (dir && (entry = readdir(dir))) {
		struct account_thread t = {.tid = atoi(entry->d_name)}, *grown;

		if (t.tid <= 0)
			continue;
		/* A thread may have ended meanwhile. */
		if (read_proc(text, sizeof(text), "/proc/%d/task/%d/schedstat", p->pid, t.tid) &&
		    sscanf(text, "%llu %llu", &ran, &late) == 2) {
			t.ran = ran;
			t.late = late;
		}
		t.call = -1;
		if (read_proc(text, sizeof(text), "/proc/%d/task/%d/syscall", p->pid, t.tid) &&
		    sscanf(text, "%d", &t.call) != 1)
			t.call = -1;
		grown = reallocarray(*threads, nr + 1, sizeof(t));
		if (!grown)
			break;
		*threads = grown;
		grown[nr++] = t;
	}
	if (dir)
		closedir(dir);
	if (nr)
		qsort(*threads, nr, sizeof(**threads), compare_threads);
	return nr;
}

/* A thread was in the system call @nr for @ns. */
static void add_call(struct account_process *p, int nr, uint64_t ns)
{
	size_t i = 0;

	while (i < p->nr_calls && p->calls[i].nr != nr)
		i++;
	if (nr < 0 || i == MOST_CALLS)
		return;
	if (i == p->nr_calls)
		p->calls[p->nr_calls++] = (struct account_call){.nr = nr};
	p->calls[i].ns += ns;
}

static int compare_calls(const void *x, const void *y)
{
	const struct account_call *a = x, *b = y;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Keeps the times of a thread that has ended. */
static void keep_ended(struct account_process *p, const struct account_thread *t)
{
	p->past_late += t->late - t->late_before;
	if (!p->ended)
		p->ended = calloc(MOST_ENDED, sizeof(*p->ended));
	if (p->ended)
		p->ended[p->nr_ended++ % MOST_ENDED] = *t;
}

/* Replaces the threads of the last sample by those of a sample at @at, by their id. */
static void take_threads(struct account_process *p, struct account_thread *threads, size_t nr, uint64_t at)
{
	uint64_t late = 0;
	size_t was = 0;

	for (size_t i = 0; i < nr; i++) {
		struct account_thread *t = &threads[i];

		while (was < p->nr_threads && p->threads[was].tid < t->tid)
			keep_ended(p, &p->threads[was++]);
		/* One whose processor time has shrunk is another thread with the same id. */
		if (was < p->nr_threads && p->threads[was].tid == t->tid && p->threads[was].ran <= t->ran) {
			t->ran_before = p->threads[was].ran_before;
			t->late_before = p->threads[was].late_before;
			t->born = p->threads[was++].born;
		} else
			t->born = t->tid == p->pid ? p->sampled_ns : p->sampled_ns + (at - p->sampled_ns) / 2;
		t->lived = at - t->born;
		late += t->late - t->late_before;
	}
	while (was < p->nr_threads)
		keep_ended(p, &p->threads[was++]);
	p->total.late = p->past_late + late;
	free(p->threads);
	p->threads = threads;
	p->nr_threads = nr;
}

/* Finds out which program it is, and why locks of it may have no rows. */
static void look_at(struct account_process *p)
{
	struct account_seen *s = &p->seen;

	p->look_at *= 4;
	s->unseen = unseen_of_process(p->pid, s->exe, sizeof(s->exe));
	read_proc(s->name, sizeof(s->name), "/proc/%d/cmdline", p->pid, 0);
}

static void sample_process(struct account *a, size_t which)
{
	struct account_process *p = &a->processes[which];
	struct account_thread *threads;
	uint64_t cpu, now;
	size_t nr;

	if (p->is_over)
		return;
	nr = read_threads(p, &threads);
	now = now_ns();
	cpu = cpu_ns(p->pid, false);
	if (!nr) {
		p->is_over = true;
		return;
	}
	p->total.threads += (now - p->sampled_ns) * ((p->nr_threads ? p->nr_threads : 1) + nr) / 2;
	cpu = cpu > p->ran_before ? cpu - p->ran_before : 0;
	p->total.running = cpu > p->total.running ? cpu : p->total.running;
	if (++p->total.samples == p->look_at)
		look_at(p);
	p->seen.nr_threads = nr > p->seen.nr_threads ? nr : p->seen.nr_threads;
	for (size_t i = 0; i < nr; i++)
		add_call(p, threads[i].call, now - p->sampled_ns);
	take_threads(p, threads, nr, now);
	p->sampled_ns = now;
	p->turn = (p->turn + 1) % nr;
	/* Both may move the array of processes. */
	find_children(a, p->pid, p->pid, now);
	p = &a->processes[which];
	if (p->turn)
		find_children(a, p->pid, p->threads[p->turn].tid, now);
}

/* Writes the account of the program into its file, if that is there already. */
static void publish(const struct account *a)
{
	struct elide_header h;
	int fd = a->file && a->nr ? data_open(a->file, O_RDWR | O_NOFOLLOW) : -1;

	if (fd < 0)
		return;
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) && h.magic == ELIDE_DATA_MAGIC &&
	    h.version == ELIDE_DATA_VERSION && h.pid == (uint32_t)a->processes[0].pid)
		account_write(a, fd, &h);
	close(fd);
}

void account_begin(struct account *a, pid_t pid)
{
	char text[128];

	/* A kernel without schedstats has no such file. */
	a->no_late = !read_proc(text, sizeof(text), "/proc/%d/schedstat", getpid(), 0);
	a->begun_ns = now_ns();
	add_process(a, pid, a->begun_ns);
	a->next_ns = a->begun_ns + LEAST_GAP;
}

void account_begin_late(struct account *a, pid_t pid)
{
	struct account_process *p;

	account_begin(a, pid);
	if (!a->nr)
		return;
	p = &a->processes[0];
	p->attached = true;
	p->ran_before = cpu_ns(pid, false);
	p->nr_threads = read_threads(p, &p->threads);
	for (size_t i = 0; i < p->nr_threads; i++) {
		struct account_thread *t = &p->threads[i];

		t->born = p->sampled_ns;
		t->ran_before = t->ran;
		t->late_before = t->late;
	}
}

void account_sample(struct account *a)
{
	uint64_t begin = now_ns(), gap = (begin - a->begun_ns) / GAP_PART, took;

	/* Those that are found meanwhile, too. */
	for (size_t i = 0; i < a->nr; i++)
		sample_process(a, i);
	publish(a);
	took = (now_ns() - begin) * SPACING;
	gap = gap < LEAST_GAP ? LEAST_GAP : gap > MOST_GAP ? MOST_GAP : gap;
	a->next_ns = begin + (took > gap ? took : gap);
}

uint64_t account_children(const struct account *a)
{
	return a->nr ? cpu_ns(a->processes[0].pid, true) : 0;
}

void account_end(struct account *a, uint64_t cpu)
{
	struct account_process *p = a->processes;
	uint64_t now = now_ns();

	if (!p)
		return;
	p->total.threads += (now - p->sampled_ns) * (p->nr_threads + 1) / 2;
	p->total.running = cpu;
	p->total.samples++;
	p->is_over = true;
}

static const struct account_process *written_of(const struct account *a, const struct elide_header *h)
{
	for (size_t i = 0; a && i < a->nr; i++)
		if (a->processes[i].pid == (pid_t)h->pid && a->processes[i].total.samples)
			return &a->processes[i];
	return NULL;
}

/* The account of a process, with its system calls. */
static struct elide_account total_of(const struct account_process *p)
{
	struct account_call calls[MOST_CALLS];
	struct elide_account total = p->total;

	memcpy(calls, p->calls, sizeof(calls));
	qsort(calls, p->nr_calls, sizeof(*calls), compare_calls);
	for (size_t i = 0; i < p->nr_calls && i < ELIDE_ACCOUNT_CALLS; i++) {
		total.calls[i].nr = (uint64_t)calls[i].nr;
		total.calls[i].ns = calls[i].ns;
	}
	return total;
}

bool account_write(const struct account *a, int fd, const struct elide_header *h)
{
	const struct account_process *p = written_of(a, h);
	struct elide_account total;
	uint32_t unseen;

	if (!p)
		return true;
	total = total_of(p);
	/* The library is in it. */
	unseen = unseen_with_library(p->seen.unseen) | (p->attached ? UNSEEN_BIT(attached) : 0);
	return pwrite(fd, &total, sizeof(total), offsetof(struct elide_header, account)) >= 0 &&
	       pwrite(fd, &unseen, sizeof(unseen), offsetof(struct elide_header, unseen)) >= 0;
}

uint64_t account_threads(const struct account *a)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < a->nr; i++)
		ns += a->processes[i].total.threads;
	return ns;
}

void account_seen(const struct account *a, size_t i, struct account_seen *to)
{
	const struct account_process *p = &a->processes[i];

	*to = p->seen;
	to->end_ns = p->sampled_ns;
	to->total = total_of(p);
}

/* The times of a thread; NULL if it was in no sample, or is no longer kept. */
static const struct account_thread *thread_of(const struct account_process *p, pid_t tid)
{
	size_t nr = p->nr_ended < MOST_ENDED ? p->nr_ended : MOST_ENDED;
	const struct account_thread key = {.tid = tid}, *found;

	found = p->nr_threads ? bsearch(&key, p->threads, p->nr_threads, sizeof(key), compare_threads) : NULL;
	if (found)
		return found;
	/* The last one of that id. */
	for (size_t i = p->nr_ended; nr--;)
		if (p->ended[--i % MOST_ENDED].tid == tid)
			return &p->ended[i % MOST_ENDED];
	return NULL;
}

bool account_write_threads(const struct account *a, int fd, const struct elide_header *h)
{
	const struct account_process *p = written_of(a, h);
	struct elide_chunk chunk;

	for (off_t at = ELIDE_HEADER_SIZE; p && at < (off_t)h->size; at += ELIDE_CHUNK_SIZE) {
		off_t first = at + (off_t)sizeof(chunk);
		struct elide_thread_record t;

		if (pread(fd, &chunk, sizeof(chunk), at) != sizeof(chunk))
			return false;
		if (chunk.magic != ELIDE_CHUNK_MAGIC || chunk.type != ELIDE_CHUNK_THREADS ||
		    chunk.record_size != sizeof(t) ||
		    chunk.nr_records > (ELIDE_CHUNK_SIZE - sizeof(chunk)) / sizeof(t))
			continue;
		for (uint32_t i = 0; i < chunk.nr_records; i++) {
			off_t record = first + (off_t)(i * sizeof(t));
			off_t written = record + (off_t)offsetof(struct elide_thread_record, lived);
			const struct account_thread *found;
			uint64_t times[3];

			if (pread(fd, &t, sizeof(t), record) != sizeof(t))
				return false;
			if (!t.tid || !(found = thread_of(p, (pid_t)t.tid)))
				continue;
			memcpy(times, (uint64_t[]){found->lived, found->ran - found->ran_before,
							found->late - found->late_before}, sizeof(times));
			if (pwrite(fd, times, sizeof(times), written) < 0)
				return false;
		}
	}
	return true;
}

void account_free(struct account *a)
{
	for (size_t i = 0; i < a->nr; i++) {
		free(a->processes[i].threads);
		free(a->processes[i].ended);
	}
	free(a->processes);
	*a = (struct account){0};
}
