// SPDX-License-Identifier: GPL-2.0-or-later
// tbb.cc - oneTBB's speculative_spin_mutex, which elides by RTM where CPUID shows it.
#include <iostream>
#include <tbb/parallel_for.h>
#include <tbb/spin_mutex.h>

static struct alignas(64) {
	long value;
} counters[64];

int main()
{
	tbb::speculative_spin_mutex mutex;
	long sum = 0;

	// TBB looks for RTM when its scheduler starts, so not before the first of these.
	tbb::parallel_for(0, 8, [](int) {});
	tbb::parallel_for(0, 2000, [&](int i) {
		tbb::speculative_spin_mutex::scoped_lock lock(mutex);

		counters[i * 7 % 64].value++;
	});
	for (auto &counter : counters)
		sum += counter.value;
	std::cout << "sum " << sum << "\n";
	return sum != 2000;
}
