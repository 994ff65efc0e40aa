// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names.cc - names of C++.
 *
 * names put, names get, names race: put() and get() lock one std::mutex in an object of the heap; the
 * argument says which of them is first. The report shall have one name for the lock in all three cases.
 *
 * names deposit: deposit(std::mutex &, int) does work while it holds the lock. The word mutex is in the types
 * of its parameters alone, so the report does not take it for a wrapper.
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
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

int main(int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : "race";

	if (!strcmp(first, "deposit"))
		return deposits();

	auto *q = new Queue;
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
			q->put();
	});
	std::thread b([&] {
		meet("get");
		for (int i = 0; i < 5000; i++, had_turn = 1)
			q->get();
	});

	a.join();
	b.join();
	return q->n;
}
