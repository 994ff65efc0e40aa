// SPDX-License-Identifier: GPL-2.0-or-later
// lock-tbb.cc - the locks of the loads as oneTBB's speculative ones.
#include <new>
#include <tbb/parallel_for.h>
#include <tbb/spin_mutex.h>
#include <tbb/spin_rw_mutex.h>

#define LOCKS_OF 1
#include "lock.h"

using mutex = tbb::speculative_spin_mutex;
using rw_mutex = tbb::speculative_spin_rw_mutex;
static_assert(sizeof(mutex) <= sizeof(lock) && sizeof(rw_mutex) <= sizeof(lock));
static_assert(sizeof(mutex::scoped_lock) <= sizeof(guard));
static_assert(sizeof(rw_mutex::scoped_lock) <= sizeof(guard));

// TBB looks for RTM when its scheduler starts: two turns, so that there is one on any machine.
static void start()
{
	static bool started;

	if (!started)
		tbb::parallel_for(0, 2, [](int) {});
	started = true;
}

extern "C" void lock_init(union lock *l, unsigned int)
{
	start();
	new (l->bytes) mutex;
}

extern "C" void lock_acquire(union lock *l, struct guard *g)
{
	new (g->bytes) mutex::scoped_lock(*reinterpret_cast<mutex *>(l->bytes));
}

extern "C" void lock_release(union lock *, struct guard *g)
{
	using scoped = mutex::scoped_lock;

	reinterpret_cast<scoped *>(g->bytes)->~scoped();
}

extern "C" void rwlock_init(union lock *l, unsigned int)
{
	start();
	new (l->bytes) rw_mutex;
}

extern "C" void rwlock_read(union lock *l, struct guard *g)
{
	new (g->bytes) rw_mutex::scoped_lock(*reinterpret_cast<rw_mutex *>(l->bytes), false);
}

extern "C" void rwlock_write(union lock *l, struct guard *g)
{
	new (g->bytes) rw_mutex::scoped_lock(*reinterpret_cast<rw_mutex *>(l->bytes), true);
}

extern "C" void rwlock_release(union lock *, struct guard *g)
{
	using scoped = rw_mutex::scoped_lock;

	reinterpret_cast<scoped *>(g->bytes)->~scoped();
}
