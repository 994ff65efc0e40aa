// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_objects.cc - C++ objects of a thread each, from new, so small that two
 * share a cache line. Repaired: the class is aligned.
 */
#include <cstdio>
#include <mutex>

#include "planted.h"

namespace tally
{

class REPAIRED_APART Worker {
public:
	__attribute__((noinline)) void add(long n)
	{
		sum += n;
		jobs++;
		planted_dwell(60);
	}
	long done() const
	{
		return jobs;
	}

private:
	long sum = 0;
	long jobs = 0;
};

static APART std::mutex book_lock;
static APART Worker *workers[PLANTED_THREADS];

__attribute__((noinline)) static Worker *hire()
{
	return new Worker;
}

__attribute__((noinline)) static void finish(Worker &worker, long n)
{
	std::lock_guard<std::mutex> guard(book_lock);

	worker.add(n);
}

} // namespace tally

static void work(struct worker *w)
{
	tally::Worker &own = *tally::workers[w->thread];

	for (long i = 0; i < w->rounds; i++) {
		tally::finish(own, i);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, jobs = 0;
	int pairs = 0;

	for (int i = 0; i < PLANTED_THREADS; i++) {
		tally::workers[i] = tally::hire();
		pairs += i && planted_same_line(tally::workers[i - 1], tally::workers[i]);
	}
	if ((pairs == 0) != IS_REPAIRED) {
		std::fputs("the objects do not lie as they should\n", stderr);
		return 2;
	}
	rounds = planted_run(argc, argv, work);
	for (tally::Worker *worker : tally::workers)
		jobs += worker->done();
	return planted_end("jobs", jobs, rounds);
}
