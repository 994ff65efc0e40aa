// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * seize.c - see seize.h.
 *
 * A child does the work, because the end of a tracer, in whatever way, releases all threads that it has
 * stopped or was about to stop: a thread in an uninterruptible wait stops only when that wait is over,
 * perhaps long after the capture.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "process.h"
#include "seize.h"

/* Bytes of a stack to copy, at most; the rest is read when the threads run again. */
#define STACK_MAX SEIZE_STACK_MAX

/* Bytes of all stacks to copy, at most. */
#define ARENA_MAX (1ul << 30)

/* Threads that may start between the first look and the stop. */
#define BORN_MAX 1024

/*
 * How long to wait for threads while the others are stopped: each has to be scheduled once, which takes
 * long with many more threads than processors. After PATIENCE_NS threads in an uninterruptible wait are not
 * waited for. Chosen here.
 */
#define LIMIT_NS    500000000ull
#define PATIENCE_NS 20000000ull

/* Passes that look for new threads, at most, before all are stopped. */
#define PASSES 8

/* Ranges of one process_vm_readv(2): UIO_MAXIOV. */
#define BATCH 1024

/* A bit for each thread id: the greatest is 2^22 (PID_MAX_LIMIT of the kernel). */
#define MAX_TIDS (1u << 22)
static uint8_t seen[MAX_TIDS / 8];

static bool is_new(int tid)
{
	uint8_t bit = 1 << tid % 8, *byte = &seen[(unsigned int)tid % MAX_TIDS / 8];
	bool new = !(*byte & bit);

	*byte |= bit;
	return new;
}

/* Seize the threads that are not seized yet. Return: their number, or -errno if none is seized. */
static int seize_new(struct seizure *z, long pid)
{
	int *tids, nr_new = 0, err;
	size_t nr;

	err = process_threads(pid, &tids, &nr);
	if (err)
		return err;
	for (size_t i = 0; i < nr && z->nr < z->room; i++) {
		struct seize_thread *t = &z->threads[z->nr];

		if (!is_new(tids[i]))
			continue;
		*t = (struct seize_thread){.tid = tids[i]};
		if (!ptrace(PTRACE_SEIZE, t->tid, 0, 0))
			t->seized = true;
		else
			/* The main thread may have ended: it is still listed, but cannot be seized. */
			err = -errno;
		z->nr++;
		nr_new += t->seized;
	}
	free(tids);
	return nr_new || !err ? nr_new : err;
}

char seize_state(long pid, int tid)
{
	char path[64], line[512], *end, state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) && end[1])
		state = end[2];
	if (f)
		fclose(f);
	return state;
}

/* Has the thread stopped or ended? */
static bool has_stopped(struct seize_thread *t)
{
	int status, tid = waitpid(t->tid, &status, WNOHANG | __WALL);

	if (!tid)
		return false;
	if (tid < 0 || !WIFSTOPPED(status)) {
		t->ended = true;
		return true;
	}
	t->stopped = true;
	/* Not stopped by our request: a signal was about to be delivered, and will be. */
	if (status >> 16 != PTRACE_EVENT_STOP)
		t->signal = WSTOPSIG(status);
	else
		t->group_stop = WSTOPSIG(status) != SIGTRAP;
	return true;
}

/* Wait until all threads from number @first on are stopped, until @limit. */
static void await(struct seizure *z, long pid, size_t first, uint64_t start)
{
	for (;;) {
		uint64_t passed = now_ns() - start;
		size_t nr = 0;

		for (size_t i = first; i < z->nr; i++) {
			struct seize_thread *t = &z->threads[i];

			if (!t->seized || t->stopped || t->ended || has_stopped(t))
				continue;
			nr += passed < PATIENCE_NS || seize_state(pid, t->tid) != 'D';
		}
		if (!nr || passed > LIMIT_NS)
			return;
		/* The threads need the processor that this loop would take. */
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
}

static void interrupt(struct seizure *z, size_t first)
{
	for (size_t i = first; i < z->nr; i++)
		if (z->threads[i].seized)
			ptrace(PTRACE_INTERRUPT, z->threads[i].tid, 0, 0);
}

/* Stop all threads; a thread that runs may create further ones meanwhile. */
static int stop_all(struct seizure *z, long pid, uint64_t *start)
{
	int nr = seize_new(z, pid);
	size_t first = 0;

	if (nr < 0)
		return nr;
	for (int pass = 0; pass < PASSES && nr > 0; pass++)
		nr = seize_new(z, pid);
	*start = now_ns();
	do {
		interrupt(z, first);
		await(z, pid, first, *start);
		first = z->nr;
	} while (seize_new(z, pid) > 0 && now_ns() - *start < LIMIT_NS);
	return 0;
}

static size_t copy(long pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n > 0 ? n : 0;
}

static void copy_stack(struct seizure *z, long pid, const struct mappings *maps,
		       struct seize_thread *t)
{
	uint64_t from = t->regs.rsp - SEIZE_RED_ZONE, end = mapping_end(maps, t->regs.rsp);
	size_t size = end > from && end - from < STACK_MAX ? end - from : STACK_MAX;

	if (size > z->arena_size - z->arena_used)
		return;
	t->stack = z->arena + z->arena_used;
	t->stack_size = copy(pid, from, z->arena + z->arena_used, size);
	z->arena_used += t->stack_size;
}

static void copy_thread(struct seizure *z, long pid, const struct mappings *maps,
			struct seize_thread *t)
{
	struct iovec regs = {&t->regs, sizeof(t->regs)};

	if (ptrace(PTRACE_GETREGSET, t->tid, NT_PRSTATUS, &regs) ||
	    regs.iov_len != sizeof(t->regs)) {
		memset(&t->regs, 0, sizeof(t->regs));
		return;
	}
	copy_stack(z, pid, maps, t);
	/* An interrupted futex call may have become restart_syscall. */
	if (t->regs.orig_rax != SYS_futex && t->regs.orig_rax != SYS_restart_syscall)
		return;
	copy(pid, t->regs.rdi - SEIZE_FUTEX_BEFORE, t->futex, SEIZE_FUTEX_BEFORE);
	copy(pid, t->regs.rdi, t->futex + SEIZE_FUTEX_BEFORE, SEIZE_FUTEX - SEIZE_FUTEX_BEFORE);
}

/* Copy up to BATCH ranges. Return: how many are done, including the one that could not be read. */
static size_t copy_batch(long pid, struct seize_range *ranges, size_t nr)
{
	struct iovec local[BATCH] = {0}, remote[BATCH] = {0};
	ssize_t n;
	size_t i;

	for (i = 0; i < nr && i < BATCH; i++) {
		local[i] = (struct iovec){ranges[i].to, ranges[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)ranges[i].address, ranges[i].size};
	}
	nr = i;
	n = process_vm_readv(pid, local, nr, remote, nr, 0);
	for (i = 0; i < nr && n >= (ssize_t)ranges[i].size; i++) {
		ranges[i].copied = true;
		n -= ranges[i].size;
	}
	return i < nr ? i + 1 : nr;
}

void seize_let_go(const struct seize_thread *t)
{
	ptrace(PTRACE_DETACH, t->tid, 0, (long)t->signal);
}

static void release(struct seizure *z)
{
	for (size_t i = 0; i < z->nr; i++)
		if (z->threads[i].stopped)
			seize_let_go(&z->threads[i]);
}

static void work(struct seizure *z, long pid, const struct mappings *maps,
		 struct seize_range *ranges, size_t nr)
{
	uint64_t start;

	z->err = stop_all(z, pid, &start);
	if (z->err)
		return;
	for (size_t i = 0; i < z->nr; i++)
		if (z->threads[i].stopped)
			copy_thread(z, pid, maps, &z->threads[i]);
	for (size_t done = 0; done < nr;)
		done += copy_batch(pid, ranges + done, nr - done);
	release(z);
	z->stop_ns = now_ns() - start;
}

int seize_one(long pid, int tid, const struct mappings *maps, uint8_t *stack, struct seize_thread *t)
{
	struct seizure z = {.arena = stack, .arena_size = STACK_MAX};
	uint64_t start = now_ns();

	*t = (struct seize_thread){.tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return -errno;
	while (!has_stopped(t)) {
		/* It is detached from when it stops at last, which this process waits for. */
		if (now_ns() - start > PATIENCE_NS && seize_state(pid, tid) == 'D')
			return -EBUSY;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	if (t->ended)
		return -ESRCH;
	copy_thread(&z, pid, maps, t);
	return 0;
}

void *seize_bytes(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void seize_bytes_free(void *bytes, size_t size)
{
	if (bytes)
		munmap(bytes, size);
}

static struct seizure *seizure_new(size_t nr)
{
	size_t room = 2 * nr + BORN_MAX, size = sizeof(struct seizure) +
		      room * sizeof(struct seize_thread);
	struct seizure *z = seize_bytes(size);

	if (!z)
		return NULL;
	z->size = size;
	z->room = room;
	z->arena_size = room > ARENA_MAX / STACK_MAX ? ARENA_MAX : room * STACK_MAX;
	z->arena = seize_bytes(z->arena_size);
	z->err = -ECANCELED;
	if (z->arena)
		return z;
	munmap(z, size);
	return NULL;
}

void seizure_free(struct seizure *z)
{
	if (!z)
		return;
	seize_bytes_free(z->arena, z->arena_size);
	munmap(z, z->size);
}

int seize(long pid, const struct mappings *maps, struct seize_range *ranges, size_t nr,
	  struct seizure **result)
{
	struct seizure *z;
	pid_t child, parent = getpid();
	size_t nr_threads;
	int *tids, err;

	err = process_threads(pid, &tids, &nr_threads);
	if (err)
		return err;
	free(tids);
	z = seizure_new(nr_threads);
	if (!z)
		return -ENOMEM;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(z, pid, maps, ranges, nr);
		_exit(0);
	}
	err = child < 0 ? -errno : 0;
	while (!err && waitpid(child, NULL, 0) < 0)
		err = errno == EINTR ? 0 : -errno;
	if (!err)
		err = z->err;
	if (err) {
		seizure_free(z);
		z = NULL;
	}
	*result = z;
	return err;
}
