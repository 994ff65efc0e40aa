// SPDX-License-Identifier: GPL-2.0-or-later
// std::shared_mutex, condition_variable_any and call_once, used by four threads.
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::shared_mutex table_lock;
static std::map<int, long> table;
static std::mutex turn_lock;
static std::condition_variable_any turn_changed;
static std::once_flag once;
static int turn, calls;

static void work(int self)
{
	std::call_once(once, [] { calls++; });
	for (int i = 0; i < 2000; i++) {
		if (i % 10 == 0) {
			std::unique_lock<std::shared_mutex> lock(table_lock);
			table[i % 50]++;
		} else {
			std::shared_lock<std::shared_mutex> lock(table_lock);
			if (table.count(i % 50) && table[0] < 0)
				std::puts("impossible");
		}
	}
	/* Each in its turn: a lost wake-up would hang. */
	for (int i = 0; i < 50; i++) {
		std::unique_lock<std::mutex> lock(turn_lock);
		turn_changed.wait(lock, [=] { return turn % 4 == self; });
		turn++;
		turn_changed.notify_all();
	}
	try {
		std::lock_guard<std::mutex> lock(turn_lock);
		throw self;
	} catch (int) {
		std::lock_guard<std::mutex> lock(turn_lock);
	}
}

int main()
{
	std::vector<std::thread> threads;
	long sum = 0;

	for (int i = 0; i < 4; i++)
		threads.emplace_back(work, i);
	for (auto &t : threads)
		t.join();
	for (auto &entry : table)
		sum += entry.second;
	std::printf("sum %ld turns %d calls %d\n", sum, turn, calls);
}
