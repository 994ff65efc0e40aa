// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * members.cc - locks that are members, none of which a call initialises.
 *
 * members known: the functions that lock them have the types of the names that are printed.
 *
 * members unknown: functions that may lock one of several members, or a lock that is none. The report must
 * not name one of them.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>

#define NOINLINE __attribute__((noinline))

/* All of it is a lock: its name is that of the member that it is. */
class Mutex {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

public:
	void lock() { pthread_mutex_lock(&mutex); }
	void unlock() { pthread_mutex_unlock(&mutex); }
};

struct Guard {
	Mutex *mutex;

	explicit Guard(Mutex *m) : mutex(m) { mutex->lock(); }
	~Guard() { mutex->unlock(); }
};

namespace app {

struct Wrapped {
	Mutex m;
	int n = 0;

	NOINLINE void count()
	{
		Guard guard(&m);
		n++;
	}
};

template <typename T> struct Channel {
	std::mutex m;
	T last{};

	NOINLINE void put(T value)
	{
		std::unique_lock<std::mutex> guard(m);
		last = value;
	}
};

struct Base {
	std::mutex m;
	int n = 0;
};

struct Derived : Base {
	int calls = 0;

	NOINLINE void count()
	{
		std::lock_guard<std::mutex> guard(m);
		calls++;
	}
};

struct Lockable : std::mutex {
	int n = 0;

	NOINLINE void count()
	{
		lock();
		n++;
		unlock();
	}
};

struct Striped {
	std::mutex m[4];
	int n = 0;

	NOINLINE void count(int stripe)
	{
		std::lock_guard<std::mutex> guard(m[stripe]);
		n++;
	}
};

/* The lock is the member of a member. */
struct Outer {
	Base inner;
	int n = 0;

	NOINLINE void count()
	{
		std::lock_guard<std::mutex> guard(inner.m);
		n++;
	}
};

struct Pair {
	std::mutex a, b;
	int n = 0;

	NOINLINE void count()
	{
		std::lock_guard<std::mutex> guard(a);
		n++;
	}
};

struct Owner {
	std::mutex m;
	std::unique_ptr<Base> base{new Base};
	int n = 0;
};

struct Far {
	std::unique_ptr<Owner> owner{new Owner};
	int n = 0;

	NOINLINE void count()
	{
		std::lock_guard<std::mutex> guard(owner->base->m);
		n++;
	}
};

static NOINLINE void with(Derived *d, std::mutex &any)
{
	std::lock_guard<std::mutex> guard(any);
	d->calls++;
}

} // namespace app

typedef struct {
	int n;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
} plain;

static NOINLINE void count(plain *p)
{
	pthread_mutex_lock(&p->mutex);
	p->n++;
	pthread_mutex_unlock(&p->mutex);
}

static NOINLINE void read(plain *p)
{
	pthread_rwlock_rdlock(&p->rwlock);
	p->n++;
	pthread_rwlock_unlock(&p->rwlock);
}

int main(int argc, char **argv)
{
	using namespace std::chrono;

	if (argc > 1 && !strcmp(argv[1], "unknown")) {
		(new app::Pair)->count();
		(new app::Far)->count();
		with(new app::Derived, *new std::mutex);
		return 0;
	}
	plain *p = static_cast<plain *>(calloc(1, sizeof(*p)));

	(new app::Wrapped)->count();
	(new app::Channel<int>)->put(1);
	(new app::Derived)->count();
	(new app::Lockable)->count();
	(new app::Striped)->count(2);
	(new app::Outer)->count();
	count(p);
	read(p);
	printf("truth names app::Base::m,app::Channel<int>::m,app::Lockable,app::Striped::m[],app::Wrapped::m,"
	       "plain::mutex,plain::rwlock\ntruth at %.6f\n",
	       duration<double>(system_clock::now().time_since_epoch()).count());
	return 0;
}
