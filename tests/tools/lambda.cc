// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lambda.cc - locks taken as C++ programs do it: by a guard, in a method of a class
 * template, inlined into a lambda, which DWARF has inside of main(). A test compares functions
 * and lines.
 */
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace stock
{
template <class Key> class Shelf {
      public:
	inline void put(const Key &key)
	{
		std::lock_guard<std::mutex> guard(lock);
		items[key]++;
	}

	inline void look(const Key &key)
	{
		std::lock_guard<std::mutex> guard(lock);
		found += items.count(key);
	}

      private:
	std::mutex lock;
	std::map<Key, long> items;
	long found = 0;
};
} // namespace stock

static stock::Shelf<std::string> shelf;

int main()
{
	std::thread worker([]() __attribute__((noinline)) {
		for (int i = 0; i < 100; i++)
			shelf.put("key");
		for (int i = 0; i < 50; i++)
			shelf.look("key");
	});

	worker.join();
	return 0;
}
