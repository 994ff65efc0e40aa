// SPDX-License-Identifier: GPL-2.0-or-later
// locks.cc - the locks of C++ and condition variables, with exceptions thrown through them.
#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static const int END = -1;

static std::shared_mutex table_lock;
static int table[64];

static std::mutex queue_lock;
static std::condition_variable queue_filled, queue_drained;
static std::deque<int> queue;

static void put(int value)
{
	std::unique_lock<std::mutex> guard(queue_lock);

	queue_drained.wait(guard, [] { return queue.size() < 8; });
	queue.push_back(value);
	queue_filled.notify_one();
}

static int take()
{
	std::unique_lock<std::mutex> guard(queue_lock);

	queue_filled.wait(guard, [] { return !queue.empty(); });
	int value = queue.front();
	queue.pop_front();
	queue_drained.notify_one();
	return value;
}

static void count(int value)
{
	std::unique_lock<std::shared_mutex> guard(table_lock);

	if (value % 50 == 13)
		throw std::out_of_range("unlucky");
	table[value % 64]++;
}

static long look()
{
	std::shared_lock<std::shared_mutex> guard(table_lock);
	long sum = 0;

	for (int counted : table)
		sum += counted;
	return sum;
}

int main()
{
	std::vector<std::thread> consumers;
	std::mutex caught_lock;
	int caught = 0;

	for (int t = 0; t < 3; t++)
		consumers.emplace_back([&] {
			for (int value; (value = take()) != END;) {
				try {
					count(value);
				} catch (const std::out_of_range &) {
					std::lock_guard<std::mutex> guard(caught_lock);

					caught++;
				}
				if (value % 10 == 0)
					look();
			}
		});
	for (int value = 0; value < 600; value++)
		put(value);
	for (size_t t = 0; t < consumers.size(); t++)
		put(END);
	for (auto &consumer : consumers)
		consumer.join();
	std::cout << look() << " + " << caught << " = " << look() + caught << "\n";
	return look() + caught != 600;
}
