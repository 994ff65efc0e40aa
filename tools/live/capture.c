// SPDX-License-Identifier: GPL-2.0-or-later
/* capture.c - see capture.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "../model/load.h"
#include "capture.h"
#include "live.h"
#include "process.h"
#include "tables.h"
#include "unwind.h"
#include "waits.h"

/* Bytes of the largest lock, pthread_rwlock_t of glibc: a futex within them belongs to the lock. */
#define LOCK_BYTES 56

/* What is needed until @s is filled. */
struct work {
	struct stacks *s;
	struct memory *memory;
	struct objects objects;
	struct tables tables;
	struct seizure *seizure;
	struct unwinder *unwinder;
};

static void read_title(struct stacks *s)
{
	char path[64], command[4096];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", s->pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(command, 1, sizeof(command) - 1, f);
		fclose(f);
	}
	command[n] = '\0';
	snprintf(s->title, sizeof(s->title), "%s", base_name(command));
}

/*
 * Read the data file, which has the classes and the addresses of the tables. Without one @inspect
 * stays empty. Return: false if the process runs on an emulated machine.
 */
static bool read_file(struct stacks *s, struct elide_inspect *inspect)
{
	static struct target target;
	char error[LOAD_ERROR_MAX];
	struct data_file file;
	bool emulated;
	int rc;

	if (live_find(s->pid, &target))
		return true;
	rc = load(target.path, &file, error);
	live_close(&target);
	if (rc)
		return true;
	emulated = file.header.rtm == ELIDE_RTM_EMULATED;
	*inspect = file.header.inspect;
	s->elide = inspect->size != 0;
	/* The tables of the process have the numbers of its file. */
	s->classes = calloc(file.nr_numbers + 1, sizeof(*s->classes));
	for (size_t i = 0; s->classes && i < file.nr_numbers; i++)
		s->classes[s->nr_classes++] = file.classes[file.numbers[i]];
	s->sites = file.sites;
	s->nr_sites = file.nr_sites;
	file.sites = NULL;
	load_free(&file);
	return !emulated;
}

/* Index of the thread with an id of its pid namespace; STACKS_NONE if there is none. */
static uint32_t find_thread(const struct stacks *s, int inner_tid)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->threads[i].inner_tid == inner_tid)
			return i;
	return STACKS_NONE;
}

static bool is_in_stack(const struct stacks_thread *t, uint64_t site)
{
	for (size_t i = 0; i < t->nr_frames; i++)
		if (t->frames[i] == site)
			return true;
	return false;
}

/*
 * The wait that the engine has noted. A thread that has just got the lock still seems to wait for it:
 * the wait counts only while the thread sleeps for that lock, or while another thread holds the lock.
 */
static bool waits_by_engine(struct work *w, struct stacks_thread *t, const struct seize_thread *z,
			    int *holder)
{
	const struct tables_lock *lock;
	struct tables_wait wait;
	uint64_t futex = waits_futex(z);
	int held_by;

	tables_wait(&w->tables, w->memory, t->inner_tid, &wait);
	if (!wait.lock || !is_in_stack(t, wait.site))
		return false;
	lock = tables_lock(&w->tables, wait.lock);
	held_by = lock ? tables_holder(&w->tables, lock) : 0;
	if ((futex < wait.lock || futex >= wait.lock + LOCK_BYTES) && held_by == t->inner_tid)
		return false;
	t->wait = STACKS_WAIT_LOCK;
	t->object = wait.lock;
	t->kind = wait.kind;
	t->site = wait.site;
	t->timed = futex && z->regs.r10;
	if (held_by)
		*holder = held_by;
	return true;
}

static int set_holder(struct stacks *s, struct stacks_thread *t, int inner_tid)
{
	uint32_t holder = find_thread(s, inner_tid);

	if (!inner_tid)
		return 0;
	if (holder != STACKS_NONE)
		return stacks_add_holder(t, holder);
	/* A joined thread may just have ended, but a lock stays with a thread that has ended. */
	if (t->wait != STACKS_WAIT_LOCK)
		return 0;
	t->gone = inner_tid;
	/* In another pid namespace the id would be another thread's. */
	if (t->tid == t->inner_tid)
		t->gone_parent = process_parent_with(s->pid, inner_tid);
	return 0;
}

/* Locks whose own words say who holds them. */
static int add_locks(struct work *w)
{
	const struct tables *t = &w->tables;

	for (size_t i = 0; i < t->nr_locks; i++) {
		const struct tables_lock *lock = &t->locks[i];
		struct stacks_held held = {lock->address, 0, lock->class_index, lock->kind};
		int tid = tables_holder(t, lock);
		uint32_t holder = tid ? find_thread(w->s, tid) : STACKS_NONE;

		if (holder != STACKS_NONE && stacks_add_held(&w->s->threads[holder], &held))
			return -ENOMEM;
	}
	return 0;
}

/* What a thread waits for, and its holder if the wait tells it. */
static int find_wait(struct work *w, struct stacks_thread *t, const struct seize_thread *z)
{
	const struct tables_lock *lock;
	int holder = waits_find(w->s, t, z);

	waits_by_engine(w, t, z, &holder);
	t->class_index = STACKS_NONE;
	lock = t->object ? tables_lock(&w->tables, t->object) : NULL;
	if (lock)
		t->class_index = lock->class_index;
	return set_holder(w->s, t, holder);
}

/* Does the holder keep that thread waiting? Readers do not wait for readers. */
static bool keeps_waiting(const struct stacks_thread *t, const struct stacks_held *held)
{
	return t->wait == STACKS_WAIT_LOCK && held->lock == t->object &&
	       !(t->kind == ELIDE_KIND_RWLOCK_READ && held->kind == ELIDE_KIND_RWLOCK_READ);
}

/* Holders that only the engine's lists name: those of spinlocks, and readers. */
static int add_listed_holders(struct stacks *s, struct stacks_thread *t)
{
	for (uint32_t i = 0; i < s->nr; i++)
		for (size_t n = 0; n < s->threads[i].nr_held; n++)
			if (keeps_waiting(t, &s->threads[i].held[n]) && stacks_add_holder(t, i))
				return -ENOMEM;
	return 0;
}

/* Adds the lock that @t waits for to its holder, even if the engine does not know that lock. */
static int add_to_holder(struct stacks *s, const struct stacks_thread *t)
{
	struct stacks_held held = {t->object, 0, t->class_index, t->kind};
	int err = 0;

	if (t->wait != STACKS_WAIT_LOCK)
		return 0;
	/* A lock names only a holder that writes. */
	if (held.kind == ELIDE_KIND_RWLOCK_READ)
		held.kind = ELIDE_KIND_RWLOCK_WRITE;
	for (size_t i = 0; !err && i < t->nr_holders; i++)
		err = stacks_add_held(&s->threads[t->holders[i]], &held);
	return err;
}

static void fill_thread(struct work *w, struct stacks_thread *t, const struct seize_thread *z)
{
	t->tid = z->tid;
	t->inner_tid = process_inner_tid(w->s->pid, z->tid);
	process_thread_name(w->s->pid, z->tid, t->name, sizeof(t->name));
	t->stopped = z->stopped && z->regs.rip;
	t->class_index = STACKS_NONE;
	t->syscall = -1;
	if (!t->stopped)
		return;
	t->syscall = (long)z->regs.orig_rax;
	t->nr_frames = unwind(w->unwinder, z, t->frames, STACKS_FRAMES);
}

/* Fill the threads that have not ended. */
static int fill_threads(struct work *w)
{
	const struct seizure *z = w->seizure;
	const struct seize_thread **from = calloc(z->nr + 1, sizeof(*from));
	struct stacks *s = w->s;
	int err = 0;

	s->threads = calloc(z->nr + 1, sizeof(*s->threads));
	if (!from || !s->threads)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < z->nr; i++) {
		if (!z->threads[i].seized || z->threads[i].ended)
			continue;
		from[s->nr] = &z->threads[i];
		fill_thread(w, &s->threads[s->nr++], &z->threads[i]);
	}
	for (size_t i = 0; !err && i < s->nr; i++)
		if (s->threads[i].stopped)
			err = find_wait(w, &s->threads[i], from[i]);
	for (size_t i = 0; !err && i < s->nr; i++)
		err = tables_listed(&w->tables, &s->threads[i]);
	if (!err)
		err = add_locks(w);
	for (size_t i = 0; !err && i < s->nr; i++)
		err = add_to_holder(s, &s->threads[i]);
	for (size_t i = 0; !err && i < s->nr; i++)
		err = add_listed_holders(s, &s->threads[i]);
	free(from);
	return err;
}

/*
 * Fill everything, from the objects to the cycles. *@unwinds_not: set to what is wrong with the
 * unwinder if that is the reason for a failure.
 */
static int take(struct work *w, const struct elide_inspect *inspect,
		void (*warn)(const char *line), const char **unwinds_not)
{
	struct stacks *s = w->s;
	int err;

	w->memory = memory_new(s->pid);
	if (!w->memory)
		return -ENOMEM;
	w->unwinder = unwinder_new(w->memory, &w->objects, unwinds_not);
	if (!w->unwinder)
		return -ENOTSUP;
	err = objects_read(&w->objects, s->pid, w->memory);
	if (!err)
		err = tables_read(&w->tables, w->memory, inspect, s->classes, s->nr_classes);
	if (!err)
		err = seize(s->pid, &w->objects.maps, w->tables.ranges, w->tables.nr_ranges,
			    &w->seizure);
	s->modules = w->objects.modules;
	s->nr_modules = w->objects.nr;
	if (err)
		return err;
	s->stop_ns = w->seizure->stop_ns;
	s->symbols = symbolizer_new(s->modules, s->nr_modules, warn);
	if (!s->symbols || symbolizer_locks(s->symbols, s->sites, s->nr_sites))
		return -ENOMEM;
	err = fill_threads(w);
	return err ? err : stacks_find_cycles(s);
}

static void explain(const struct process *p, int err, char *why)
{
	struct process now;
	struct denial denial;

	process_read(&now, p->pid);
	if (process_refuses(&now, why))
		return;
	if (err == -EPERM || err == -EACCES) {
		denial_read(&denial, &now);
		denial_says(&denial, why);
		return;
	}
	snprintf(why, CAPTURE_WHY, "cannot be read: %s", strerror(-err));
}

int capture(long pid, struct stacks *s, void (*warn)(const char *line), char *why)
{
	struct work w = {.s = s};
	struct elide_inspect inspect = {0};
	const char *unwinds_not = NULL;
	struct process process;
	int err;

	*s = (struct stacks){.pid = pid};
	process_read(&process, pid);
	if (process_refuses(&process, why))
		return -EINVAL;
	read_title(s);
	if (!read_file(s, &inspect)) {
		snprintf(why, CAPTURE_WHY, "runs on an emulated machine, whose threads and stacks are "
					   "not those of the process");
		return -EINVAL;
	}
	err = take(&w, &inspect, warn, &unwinds_not);
	if (unwinds_not)
		snprintf(why, CAPTURE_WHY, "has stacks that cannot be read: %s", unwinds_not);
	else if (err)
		explain(&process, err, why);
	unwinder_free(w.unwinder);
	seizure_free(w.seizure);
	tables_free(&w.tables);
	objects_free(&w.objects);
	memory_free(w.memory);
	return err;
}
