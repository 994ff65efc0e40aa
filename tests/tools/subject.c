// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * subject.c - functions and locks with known names and lines; tests compare them,
 * so that the numbers of these lines are part of the tests. The comments in the
 * assembly keep the compiler from folding equal functions into one.
 */
#include "synth.h"

int subject_index_lock;
struct subject_table subject_table;

static __attribute__((noinline)) uint64_t return_address(void)
{
	__asm__ volatile("");
	return (uint64_t)__builtin_return_address(0);
}

static __attribute__((noinline)) void subject_insert(uint64_t *site)
{
	*site = return_address();
	__asm__ volatile("# insert");
}

static __attribute__((noinline)) void subject_lookup(uint64_t *site)
{
	*site = return_address();
	__asm__ volatile("# lookup");
}

static __attribute__((noinline)) void subject_create(uint64_t *site)
{
	*site = return_address();
	__asm__ volatile("# create");
}

static inline __attribute__((always_inline)) void subject_guard(uint64_t *site)
{
	*site = return_address();
	__asm__ volatile("");
}

static __attribute__((noinline)) void subject_user(uint64_t *site)
{
	subject_guard(site);
	__asm__ volatile("");
}

static __attribute__((noinline)) void subject_count(void)
{
	subject_reads++;
}

static __attribute__((noinline)) void subject_drain(void)
{
	subject_writes++;
}

int subject_quiet_lock;
__asm__(".pushsection .bss\n.balign 64\n"
	".globl subject_reads\n.type subject_reads, @object\n.size subject_reads, 8\n"
	"subject_reads: .zero 8\n"
	".globl subject_writes\n.type subject_writes, @object\n.size subject_writes, 8\n"
	"subject_writes: .zero 8\n.zero 48\n.popsection\n"
	".pushsection .text\n.globl subject_pause\n.type subject_pause, @function\n"
	"subject_pause: pause\nret\n.size subject_pause, 3\n.popsection");

/**
 * subject_run() - tell the return addresses of the calls above.
 */
void subject_run(struct subject_sites *sites)
{
	subject_insert(&sites->insert);
	subject_lookup(&sites->lookup);
	subject_create(&sites->create);
	subject_user(&sites->inlined);
	sites->count = (uint64_t)subject_count;
	sites->drain = (uint64_t)subject_drain;
}
