// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_demangle.c - names of linkers, as their source has them.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/names/demangle.h"

static void names(void **state)
{
	static const char *const table[][2] = {
		{"main", "main"},
		{"", ""},
		{"__GI___pthread_mutex_lock", "__pthread_mutex_lock"},
		{"pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"},
		{"_ZN2ns1fEi", "ns::f(int)"},
		{"_ZN2ns1fEi.isra.0", "ns::f(int)"},
		{"_ZNSt6thread4joinEv@@GLIBCXX_3.4.11", "std::thread::join()"},
		{"_ZNKSt5mutex3getEv", "std::mutex::get() const"},
		/* Rust as it was up to 1.89: the part of the hash goes. */
		{"_ZN3app5queue4push17h0123456789abcdefE", "app::queue::push"},
		/* And since: crate app, with its hash. */
		{"_RNvNtCs1zG5boeDNqh_3app5queue4push", "app::queue::push"},
		{"_RNvNtCs1zG5boeDNqh_3app5queue4push.llvm.123456", "app::queue::push"},
		{"_RNvMNtCs1zG5boeDNqh_3app5queueNtB2_5Queue4push", "<app::queue::Queue>::push"},
		{"_RNCNvCs1zG5boeDNqh_3app4main0B3_", "app::main::{closure#0}"},
		{"_RINvCs1zG5boeDNqh_3app4callmEB2_", "app::call::<u32>"},
		/* No mangled names. */
		{"_Z", "_Z"},
		{"_ZN", "_ZN"},
		{"_R", "_R"},
		{"_Rest", "_Rest"},
		{"_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char *name = demangle(table[i][0]);

		assert_non_null(name);
		assert_string_equal(name, table[i][1]);
		free(name);
	}
}

static void own_names(void **state)
{
	static const char *const table[][2] = {
		{"pthread_mutex_lock", "pthread_mutex_lock"},
		{"_Z7depositRSt5mutexi", "deposit"},
		{"_ZL6mylockRSt5mutex", "mylock"},
		{"_ZNSt5mutex4lockEv", "std::mutex::lock"},
		{"_ZNSt11unique_lockISt5mutexE4lockEv", "std::unique_lock::lock"},
		{"_ZSt4lockISt5mutexS0_EvRT_RT0_", "std::lock"},
		{"_ZN12_GLOBAL__N_17deposit3fooERSt5mutex", "(anonymous namespace)::deposit::foo"},
		{"_RNvMNtCs1zG5boeDNqh_3app5queueNtB2_5Queue4push", "<app::queue::Queue>::push"},
		{"_RINvCs1zG5boeDNqh_3app4callmEB2_", "app::call::"},
		{"_Z", "_Z"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char *name = demangle_own(table[i][0]);

		assert_non_null(name);
		assert_string_equal(name, table[i][1]);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(own_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
