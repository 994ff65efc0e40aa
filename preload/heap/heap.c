/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * heap.c - wraps the allocator and remembers where some blocks were allocated.
 *
 * These are one in ELIDE_HEAP allocations of a thread, and its first. A library of its own, preloaded only on
 * demand: so no other program's malloc() gets longer.
 *
 * C++'s operator new calls malloc(). malloc_usable_size() and the like are not wrapped.
 *
 * Must never change what the allocator returns, nor allocate. Inside a transaction no block is entered, but
 * freed blocks are forgotten.
 */
#include <cpuid.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../find.h"
#include "blocks.h"
#include "compiler.h"
#include "emulator.h"
#include "rtm.h"
#include "base/own-stack.h"
#include "evidence/frames.h"

/* CPUID leaf 7, EBX (Intel SDM vol. 2): a processor with either has XTEST. */
#define CPUID_HLE (1u << 4)
#define CPUID_RTM (1u << 11)

struct real_heap {
#define HEAP_SYMBOL(name, result, parameters, arguments) result(*name) parameters;
#include "symbols.def"
#undef HEAP_SYMBOL
	void (*free)(void *p);
};

static void resolve(void);
static struct real_heap real_heap;

/* The first call of a function, perhaps before any constructor: resolve all, then call it. */
#define HEAP_SYMBOL(name, result, parameters, arguments) \
	static result first_##name parameters           \
	{                                               \
		resolve();                              \
		return real_heap.name arguments;        \
	}
#include "symbols.def"
#undef HEAP_SYMBOL

static void first_free(void *p)
{
	resolve();
	real_heap.free(p);
}

static struct real_heap real_heap = {
#define HEAP_SYMBOL(name, result, parameters, arguments) .name = first_##name,
#include "symbols.def"
#undef HEAP_SYMBOL
	.free = first_free,
};

/* ELIDE_HEAP; 0: nothing is remembered. Constant after the start. */
static uint32_t period;
static bool emulated, may_test;
/* Allocations until the next is remembered. */
static __thread uint32_t left;
/* The thread is in the table: allocations of a signal handler meanwhile are not remembered. */
static __thread bool inside;
/*
 * The unwinder, which needs 2 KB, runs on this stack. Signals are not blocked, which would be a system call:
 * so it has room for their handlers, and a handler that never returns leaves it in use.
 */
#define OWN_STACK (256 << 10)
static void *own_stack;
static uint32_t own_stack_used;

static void resolve(void)
{
#define HEAP_SYMBOL(name, result, parameters, arguments) \
	__atomic_store_n((void **)&real_heap.name, find_function(#name, ""), __ATOMIC_RELAXED);
#include "symbols.def"
#undef HEAP_SYMBOL
	__atomic_store_n((void **)&real_heap.free, find_function("free", ""), __ATOMIC_RELAXED);
}

static bool in_txn(void)
{
	return may_test && rtm_test();
}

/* An allocation to be remembered. */
struct allocation {
	void *p;
	size_t size;
	const void *site;
};

static void walk_and_add(void *arg)
{
	const struct allocation *a = arg;
	struct elide_heap_block block = {.base = (uintptr_t)a->p, .size = a->size};

	block.nr = elide_walk(block.frames, a->site, emulated);
	blocks_add(&block);
}

static __noinline void remember(void *p, size_t size, const void *site)
{
	struct allocation a = {p, size, site};
	int saved_errno = errno;

	/* While another thread uses the stack, the next allocation is remembered instead. */
	if (!p || inside || in_txn() || __atomic_exchange_n(&own_stack_used, 1, __ATOMIC_ACQUIRE))
		return;
	left = period;
	inside = true;
	elide_on_stack(walk_and_add, &a, own_stack);
	inside = false;
	__atomic_store_n(&own_stack_used, 0, __ATOMIC_RELEASE);
	errno = saved_errno;
}

/* Remember the allocation if it is due. */
static inline void allocated(void *p, size_t size, const void *site)
{
	if (likely(!period))
		return;
	if (left > 1)
		left--;
	else
		remember(p, size, site);
}

/* Forget a block. Return: true if it was known; @block is filled then. */
static __noinline bool forget_known(void *p, struct elide_heap_block *block)
{
	bool known;

	if (in_txn()) {
		blocks_remove_in_txn((uintptr_t)p);
		return false;
	}
	if (inside)
		return false;
	inside = true;
	known = blocks_remove((uintptr_t)p, block);
	inside = false;
	return known;
}

static inline bool forget(void *p, struct elide_heap_block *block)
{
	return period && p && blocks_known((uintptr_t)p) && forget_known(p, block);
}

static void put_back(const struct elide_heap_block *block)
{
	inside = true;
	blocks_add(block);
	inside = false;
}

#define SITE __builtin_return_address(0)

__export void *malloc(size_t size)
{
	void *p = real_heap.malloc(size);

	allocated(p, size, SITE);
	return p;
}

__export void *calloc(size_t nr, size_t size)
{
	void *p = real_heap.calloc(nr, size);

	allocated(p, nr * size, SITE);
	return p;
}

/* A known block stays known at its new address, with the stack of its first allocation. */
static __always_inline_fn void *reallocate(void *p, size_t size, const void *site)
{
	struct elide_heap_block block;
	/* Before the call: after it another thread may have the address. */
	bool known = forget(p, &block);
	void *q = real_heap.realloc(p, size);

	if (!known) {
		allocated(q, size, site);
		return q;
	}
	if (q) {
		block.base = (uintptr_t)q;
		block.size = size;
	}
	/* realloc() to 0 bytes frees the block. */
	if (q || size)
		put_back(&block);
	return q;
}

__export void *realloc(void *p, size_t size)
{
	return reallocate(p, size, SITE);
}

__export void *reallocarray(void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(p, bytes, SITE);
}

__export void free(void *p)
{
	forget(p, NULL);
	real_heap.free(p);
}

__export void *memalign(size_t alignment, size_t size)
{
	void *p = real_heap.memalign(alignment, size);

	allocated(p, size, SITE);
	return p;
}

__export void *aligned_alloc(size_t alignment, size_t size)
{
	void *p = real_heap.aligned_alloc(alignment, size);

	allocated(p, size, SITE);
	return p;
}

__export int posix_memalign(void **to, size_t alignment, size_t size)
{
	int rc = real_heap.posix_memalign(to, alignment, size);

	if (!rc)
		allocated(*to, size, SITE);
	return rc;
}

__export void *valloc(size_t size)
{
	void *p = real_heap.valloc(size);

	allocated(p, size, SITE);
	return p;
}

__export void *pvalloc(size_t size)
{
	void *p = real_heap.pvalloc(size);

	allocated(p, size, SITE);
	return p;
}

/* The thread that used the stack may not be in the child. */
static void child_begins(void)
{
	blocks_after_fork();
	own_stack_used = 0;
}

__attribute__((constructor)) static void start(void)
{
	const char *value = getenv("ELIDE_HEAP");
	unsigned int a, b, c, d;
	unsigned long n = value ? strtoul(value, NULL, 10) : 0;

	resolve();
	/* The launcher checks the value; see lib/tunables.def for its range. */
	if (!n || n > 1000000000 || !blocks_start())
		return;
	emulated = rtmgrind_request(RTMGRIND_VERSION, 0, 0) == RTMGRIND_PROTOCOL;
	may_test = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & (CPUID_HLE | CPUID_RTM);
	own_stack = elide_own_stack_alloc(OWN_STACK);
	pthread_atfork(blocks_before_fork, blocks_after_fork, child_begins);
	period = n;
}
