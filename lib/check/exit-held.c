/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit-held.c - locks that a thread held when it ended.
 *
 * An acquisition only notes the lock in its call. A lock that is held is mostly noted, and a mutex or a
 * writer's rwlock has the thread id of its holder. A lock's memory may be unmapped without destroy, so it
 * must never be read directly, unless it lies in the data of the program itself.
 */
#include <link.h>
#include <sys/auxv.h>

#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../emulator.h"
#include "../state/call.h"
#include "../state/gate.h"
#include "../state/settings.h"
#include "exit-held.h"
#include "misuse.h"

/* Up to this number of locks that a thread has left held, each is counted once; of more some count twice. */
#define MAX_FOUND 16

/*
 * Calls of a thread that are examined, at most. Each takes 65 instructions and a system call, for which
 * the thread that joins waits.
 */
#define MAX_LOOKS 128

/* The word in which the kind of lock names its holder; NULL: it does not. */
static const void *holder_word(const struct elide_call *call, const struct elide_row *row)
{
	uint32_t offset = row && call->lock ? elide_process.holder[row->kind] : 0;

	return offset ? (const char *)call->lock + offset : NULL;
}

/* Is the call's lock still registered as it was, and of a kind that must not be left held? */
static bool counts(const struct elide_call *call, const struct elide_row *row)
{
	/* A robust mutex may be left held, as its next owner learns of it; its class is shared. */
	return elide_registry_find(call->lock) == elide_call_tag(call) && !elide_class_shared(row->class_index);
}

/* Is the lock in @list? */
static bool has(const void *const *list, uint32_t nr, const void *lock)
{
	for (uint32_t i = 0; i < nr && i < MAX_FOUND; i++)
		if (list[i] == lock)
			return true;
	return false;
}

/* The data of the program, which are never unmapped; @end is 0 before they are looked for. */
static struct {
	uintptr_t start;
	uintptr_t end;
} data;

static void find_data(void)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR), *h = headers;
	uintptr_t bias = 0, start = 0, end = 1;
	bool known = false;

	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++, h++) {
		if (h->p_type == PT_PHDR) {
			bias = (uintptr_t)headers - h->p_vaddr;
			known = true;
		}
		if (h->p_type != PT_LOAD || !(h->p_flags & PF_W) || !known)
			continue;
		start = bias + h->p_vaddr;
		end = start + h->p_memsz;
	}
	/* Several threads may do this at once: they find the same. */
	WRITE_ONCE(data.start, start);
	__atomic_store_n(&data.end, end, __ATOMIC_RELEASE);
}

/* sys_word_is(), without a system call where the word is known to be mapped. */
static bool word_is(const void *word, uint32_t value)
{
	uintptr_t at = (uintptr_t)word;

	if (!__atomic_load_n(&data.end, __ATOMIC_ACQUIRE)) {
		/* The address of the auxiliary vector depends on the environment. */
		rtmgrind_time_stops();
		find_data();
		rtmgrind_time_goes_on();
	}
	if (at >= data.start && at + sizeof(value) <= data.end)
		return READ_ONCE(*(const uint32_t *)word) == value;
	return sys_word_is(word, value);
}

/* A lock that was left held, and the row of a call that has locked it. */
struct left {
	const struct elide_row *row;
	const void *lock;
};

static void count(const struct left *left)
{
	elide_misuse_locked(ELIDE_MISUSE_EXIT_HELD, left->row->kind, (const void *)left->row->site,
			    left->lock);
}

static void exit_global(void *left)
{
	test_point(exit_entered);
	test_point(exit_publish);
	count(left);
	test_point(exit_done);
}

/* If the thread has locked a lock at several sites, the last is not known: the first found is named. */
void elide_exit_held(struct elide_thread *t, uint32_t tid)
{
	const void *found[MAX_FOUND];
	uint32_t nr_found = 0;

	for (uint32_t nr = 1; nr <= t->nr_calls && nr <= MAX_LOOKS; nr++) {
		const struct elide_call *call = elide_call_at(t, nr);
		const struct elide_row *row = READ_ONCE(call->row);
		const void *word = holder_word(call, row);
		struct left left = {row, call->lock};

		if (!word || !counts(call, row) || has(found, nr_found, call->lock) || !word_is(word, tid))
			continue;
		found[nr_found++ % MAX_FOUND] = call->lock;
		if (elide_busy)
			count(&left);
		else
			elide_global_run(exit_global, &left);
	}
}
