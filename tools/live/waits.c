// SPDX-License-Identifier: GPL-2.0-or-later
/* waits.c - see waits.h. */
#include <gnu/libc-version.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "../../lib/compiler.h"
#include "waits.h"

/* Innermost frames in which to look for the function that waits: glibc has up to six below it. */
#define DEEP 8

/* Offset of the holder's thread id from the futex word in glibc's mutex. */
#define MUTEX_OWNER 8

/* Offset of the writer's thread id in glibc's rwlock. */
#define RWLOCK_WRITER 24

/*
 * Bytes of the reference counts in front of the futex words of a condition variable, which glibc 2.41
 * has removed (nptl, struct __pthread_cond_s).
 */
#define COND_REFERENCES 8

/* The value of a contended mutex, at which lock calls wait (glibc, lowlevellock.h). */
#define MUTEX_CONTENDED 2

static const struct kind {
	uint8_t even;
	uint8_t odd;
} kinds[STACKS_NR_WAITS] = {
#define STACKS_WAIT(id, even, odd, words) [STACKS_WAIT_##id] = {even, odd},
#include "../model/waits.def"
#undef STACKS_WAIT
};

static const struct function {
	const char *name;
	enum stacks_wait wait;
	enum elide_kind kind;
	struct kind at;
} functions[] = {
#define STACKS_FUNCTION(name, id) {name, STACKS_WAIT_##id, ELIDE_KIND_NONE, {0, 0}},
#define STACKS_LOCK(name, kind, even, odd) {name, STACKS_WAIT_LOCK, ELIDE_KIND_##kind, {even, odd}},
#include "../model/waits.def"
#undef STACKS_FUNCTION
#undef STACKS_LOCK
};

/* May a function of that object be glibc's? Any may if the process has no libc.so. */
static bool is_libc(const struct stacks *s, const char *object)
{
	static const char *const names[] = {"libc.so", "libc-2", "libpthread"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (object && !strncmp(object, names[i], strlen(names[i])))
			return true;
	for (size_t i = 0; i < s->nr_modules; i++)
		if (strstr(s->modules[i].path, "/libc.so") || strstr(s->modules[i].path, "/libc-2"))
			return false;
	return true;
}

static const struct function *function_of(const char *name)
{
	/* glibc's internal names: __GI___pthread_mutex_lock, ___pthread_mutex_lock. */
	name += strspn(name, "_");
	if (!strncmp(name, "GI_", 3))
		name += 3;
	name += strspn(name, "_");
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (!strncmp(name, functions[i].name, strlen(functions[i].name)))
			return &functions[i];
	return NULL;
}

/* The innermost known function that the thread is in; NULL if it is in none. */
static const struct function *find_function(const struct stacks *s, const struct stacks_thread *t)
{
	for (size_t i = 0; i < t->nr_frames && i < DEEP; i++) {
		const struct place *places;
		size_t nr = symbolize_frames(s->symbols, t->frames[i], !i, &places);
		const char *name = nr ? places[nr - 1].elf_symbol : NULL;
		const struct function *f;

		if (nr && !name)
			name = places[nr - 1].symbol;
		if (!name || !is_libc(s, places[nr - 1].object))
			continue;
		f = function_of(name);
		if (f)
			return f;
	}
	return NULL;
}

static uint32_t word_at(const struct seize_thread *z, int offset)
{
	uint32_t word = 0;

	if (offset >= -SEIZE_FUTEX_BEFORE &&
	    offset <= SEIZE_FUTEX - SEIZE_FUTEX_BEFORE - (int)sizeof(word))
		memcpy(&word, z->futex + SEIZE_FUTEX_BEFORE + offset, sizeof(word));
	return word;
}

uint64_t waits_futex(const struct seize_thread *z)
{
	unsigned int op = z->regs.rsi & FUTEX_CMD_MASK;

	if (z->regs.orig_rax != SYS_futex && z->regs.orig_rax != SYS_restart_syscall)
		return 0;
	return op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET || op == FUTEX_LOCK_PI ||
			       op == FUTEX_LOCK_PI2 || op == FUTEX_WAIT_REQUEUE_PI ?
		       z->regs.rdi : 0;
}

/* The holder by the word of a futex that inherits priority; 0: it does not. */
static int holder_of_pi(const struct seize_thread *z)
{
	unsigned int op = z->regs.rsi & FUTEX_CMD_MASK;

	return op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2 ? word_at(z, 0) & FUTEX_TID_MASK : 0;
}

/* The holder of a mutex, or the writer of a rwlock, whose futex word is at @offset. */
static int holder_of(const struct seize_thread *z, enum elide_kind kind, int offset)
{
	int holder = holder_of_pi(z);

	if (holder)
		return holder;
	if (kind == ELIDE_KIND_MUTEX)
		return word_at(z, MUTEX_OWNER - offset);
	return word_at(z, RWLOCK_WRITER - offset);
}

/* Is this host's glibc 2.41 or later? The process is assumed to use the same. */
static bool cond_is_short(void)
{
	int major, minor;

	return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
	       (major > 2 || (major == 2 && minor >= 41));
}

int waits_find(const struct stacks *s, struct stacks_thread *t, const struct seize_thread *z)
{
	static const struct function mutex = {"", STACKS_WAIT_LOCK, ELIDE_KIND_MUTEX, {0, 0}};
	uint64_t futex = waits_futex(z);
	const struct function *f;
	struct kind at;
	int offset;

	if (!futex)
		return 0;
	f = find_function(s, t);
	/* A restarted call may be another one than futex, unless the function is known. */
	if (!f && z->regs.orig_rax != SYS_futex)
		return 0;
	t->timed = z->regs.r10 != 0;
	t->wait = f ? f->wait : STACKS_WAIT_FUTEX;
	t->object = futex;
	/* The lock of a program that inherits priority has its holder in the word; that of other locks is not known. */
	if (!f)
		return holder_of_pi(z);
	/* After a wait for a condition variable its mutex is locked again. */
	if (f->wait == STACKS_WAIT_COND && (z->regs.rsi & FUTEX_CMD_MASK) == FUTEX_WAIT &&
	    z->regs.rdx == MUTEX_CONTENDED)
		f = &mutex;
	t->wait = f->wait;
	t->kind = f->kind;
	at = f->wait == STACKS_WAIT_LOCK ? f->at : kinds[f->wait];
	offset = futex % 8 ? at.odd : at.even;
	if (f->wait == STACKS_WAIT_COND && cond_is_short())
		offset -= COND_REFERENCES;
	t->object -= offset;
	if (f->wait == STACKS_WAIT_JOIN)
		return word_at(z, 0);
	return f->wait == STACKS_WAIT_LOCK ? holder_of(z, f->kind, offset) : 0;
}
