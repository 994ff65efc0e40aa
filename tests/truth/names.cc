// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names.cc - names of C++.
 *
 * The locks of these lie in an object of the heap, and two threads lock them by different calls. FIRST says
 * which of them is first: put, get, or race for chance. The report shall have the same names and classes in
 * all three cases.
 *
 * names queue FIRST: a std::mutex. One name, Queue::m.
 *
 * names store FIRST: a std::mutex and a std::shared_mutex, in the same functions. Two names, Store::m and
 * Store::s.
 *
 * names helper FIRST: two std::mutex of two types, each with a function of its own, and a function that locks
 * either. As that function may be the first, one class; its name is a call's, as it is no member of one type.
 *
 * names deposit: deposit(std::mutex &, int) does work while it holds the lock. The word mutex is in the types
 * of its parameters alone, so the report does not take it for a wrapper.
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::atomic<int> arrived{0}, had_turn{0};

struct Queue {
	std::mutex m;
	int n = 0;

	__attribute__((noinline)) void put()
	{
		std::lock_guard<std::mutex> guard(m);
		n++;
	}

	__attribute__((noinline)) void get()
	{
		std::lock_guard<std::mutex> guard(m);
		n--;
	}
};

struct Store {
	std::mutex m;
	std::shared_mutex s;
	int n = 0;

	__attribute__((noinline)) void put()
	{
		std::unique_lock<std::shared_mutex> all(s);
		std::lock_guard<std::mutex> guard(m);
		n++;
	}

	__attribute__((noinline)) void get()
	{
		std::shared_lock<std::shared_mutex> some(s);
		std::lock_guard<std::mutex> guard(m);
		n--;
	}
};

static __attribute__((noinline)) void drain(std::mutex &mutex, int &n)
{
	std::lock_guard<std::mutex> guard(mutex);

	n = 0;
}

struct Left {
	std::mutex m;
	int n = 0;

	__attribute__((noinline)) void add()
	{
		std::lock_guard<std::mutex> guard(m);
		n++;
	}
};

struct Right {
	std::mutex m;
	int n = 0;

	__attribute__((noinline)) void add()
	{
		std::lock_guard<std::mutex> guard(m);
		n--;
	}
};

static std::mutex accounts_mutex;
static volatile int balance;

static __attribute__((noinline)) void deposit(std::mutex &mutex, int amount)
{
	std::lock_guard<std::mutex> guard(mutex);

	for (int i = 0; i < 2000; i++)
		balance = balance + amount;
}

static int deposits()
{
	auto teller = [] {
		for (int i = 0; i < 10000; i++)
			deposit(accounts_mutex, 1);
	};
	std::thread a(teller), b(teller);
	using namespace std::chrono;

	a.join();
	b.join();
	printf("truth callers accounts_mutex 0\ntruth names accounts_mutex\ntruth at %.6f\n",
	       duration<double>(system_clock::now().time_since_epoch()).count());
	return 0;
}

/* Two threads, each with a turn of its own; @first: which of them begins. */
template <typename Put, typename Get> static int both(const char *first, Put put, Get get)
{
	auto meet = [&](const char *name) {
		arrived++;
		while (arrived < 2)
			;
		if (strcmp(first, "race") && strcmp(first, name))
			while (!had_turn)
				;
	};
	std::thread a([&] {
		meet("put");
		for (int i = 0; i < 5000; i++, had_turn = 1)
			put();
	});
	std::thread b([&] {
		meet("get");
		for (int i = 0; i < 5000; i++, had_turn = 1)
			get();
	});

	a.join();
	b.join();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *first = argc > 2 ? argv[2] : "race";
	auto *queue = new Queue;
	auto *store = new Store;
	auto *left = new Left;
	auto *right = new Right;

	if (!strcmp(what, "deposit"))
		return deposits();
	if (!strcmp(what, "queue"))
		return both(first, [&] { queue->put(); }, [&] { queue->get(); });
	if (!strcmp(what, "store"))
		return both(first, [&] { store->put(); }, [&] { store->get(); });
	if (!strcmp(what, "helper"))
		return both(
			first,
			[&] {
				left->add();
				drain(left->m, left->n);
				drain(right->m, right->n);
			},
			[&] {
				drain(right->m, right->n);
				right->add();
				drain(left->m, left->n);
			});
	return 2;
}
