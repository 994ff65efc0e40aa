// SPDX-License-Identifier: GPL-2.0-or-later
// exceptions.cc - C++: threads, futures, exceptions through frames that hold a lock.
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::map<std::string, int> words;

static void count(const std::string &word)
{
	std::lock_guard<std::mutex> guard(mutex);

	if (word == "k13")
		throw std::runtime_error("unlucky");
	words[word]++;
}

int main()
{
	std::vector<std::future<int>> futures;
	int caught = 0, sum = 0;

	for (int t = 0; t < 4; t++)
		futures.push_back(std::async(std::launch::async, [t] {
			int failed = 0;

			for (int i = 0; i < 500; i++) {
				try {
					count("k" + std::to_string((i * 7 + t) % 97));
				} catch (const std::runtime_error &) {
					failed++;
				}
			}
			return failed;
		}));
	for (auto &future : futures)
		caught += future.get();
	for (auto &word : words)
		sum += word.second;
	std::cout << sum << " + " << caught << " = " << sum + caught << "\n";
	return sum + caught != 2000;
}
