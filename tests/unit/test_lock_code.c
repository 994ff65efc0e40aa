// SPDX-License-Identifier: GPL-2.0-or-later
/* test_lock_code.c - which functions are lock code, by the names of their symbols. */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/evidence/lock-code.h"

static const struct {
	const char *symbol;
	enum elide_lock_code code;
} names[] = {
	/* Rust 1.63, legacy names. */
	{"_ZN3std10sys_common5mutex12MovableMutex8raw_lock17h0123456789abcdefE", ELIDE_LOCK_CODE_LOCK},
	{"_ZN3std3sys4unix5locks11futex_mutex5Mutex14lock_contended17h0123456789abcdefE", ELIDE_LOCK_CODE_LOCK},
	{"_ZN3std3sys4unix5locks12futex_rwlock6RwLock15write_contended17h0123456789abcdefE", ELIDE_LOCK_CODE_LOCK},
	{"_ZN3std4sync7condvar7Condvar4wait17h0123456789abcdefE", ELIDE_LOCK_CODE_OTHER},
	{"_ZN3std6thread4park17h0123456789abcdefE", ELIDE_LOCK_CODE_ANY},
	{"_ZN3std3sys4unix5futex10futex_wait17h0123456789abcdefE", ELIDE_LOCK_CODE_ANY},
	{"_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE", ELIDE_LOCK_CODE_LOCK},
	{"_ZN3std10sys_common9backtrace28__rust_begin_short_backtrace17h0123456789abcdefE", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN4prog12mutex_worker17h0123456789abcdefE", ELIDE_LOCK_CODE_OUTSIDE},
	/* The same as of RFC 2603. */
	{"_RNvMs_NtNtNtNtCs6GSVcnXLtxm_3std3sys4sync5mutex5futexNtB5_5Mutex14lock_contended", ELIDE_LOCK_CODE_LOCK},
	{"_RNvNtNtNtNtCs1a2b3c_3std3sys3pal4unix5futex10futex_wait", ELIDE_LOCK_CODE_ANY},
	{"_RNvCs4fqI2P2rA04_4prog4push", ELIDE_LOCK_CODE_OUTSIDE},
	/* C++: not by template arguments, nor by the types of parameters. */
	{"_ZNSt8__detail15__platform_waitIiEEvPKT_S1_", ELIDE_LOCK_CODE_ANY},
	{"_ZNSt18counting_semaphoreILl8EE7acquireEv", ELIDE_LOCK_CODE_OTHER},
	{"_ZNSt5latch10count_downEl", ELIDE_LOCK_CODE_OTHER},
	{"_ZNKSt13__atomic_baseIiE4waitEiSt12memory_order", ELIDE_LOCK_CODE_ANY},
	{"_ZNSt6thread11_State_implINS_8_InvokerISt5tupleIJPFvRSt5mutexESt17reference_wrapperIS4_EEEEEE6_M_runEv",
	 ELIDE_LOCK_CODE_OUTSIDE},
	{"_Z4pushRSt5mutex", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN3app5Queue4pushEN4absl5MutexE", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN3app5QueueIN4absl5MutexEE4pushEv", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN11QBasicMutex12lockInternalEv", ELIDE_LOCK_CODE_LOCK},
	{"_ZN10QSemaphore7acquireEi", ELIDE_LOCK_CODE_OTHER},
	{"_ZN4absl14lts_202206235Mutex8LockSlowEPKNS0_10MuHowS_sES3_i", ELIDE_LOCK_CODE_LOCK},
	{"_ZN4absl14lts_2022062312Notification19WaitForNotificationEv", ELIDE_LOCK_CODE_OTHER},
	{"_ZN3tbb6detail2r115wait_on_addressEPvRNS0_2d113delegate_baseEm", ELIDE_LOCK_CODE_LOCK},
	{"_ZN8SpinLock4LockEv", ELIDE_LOCK_CODE_LOCK},
	{"_ZN5Clock5BlockEv", ELIDE_LOCK_CODE_OUTSIDE},
	/* C. */
	{"AbslInternalPerThreadSemWait_lts_20220623", ELIDE_LOCK_CODE_ANY},
	{"g_mutex_lock_slowpath", ELIDE_LOCK_CODE_LOCK},
	{"g_cond_wait", ELIDE_LOCK_CODE_OTHER},
	{"my_lock.constprop.0", ELIDE_LOCK_CODE_LOCK},
	{"syscall", ELIDE_LOCK_CODE_ANY},
	{"work", ELIDE_LOCK_CODE_OUTSIDE},
	{"locker_room", ELIDE_LOCK_CODE_OUTSIDE},
	{"main", ELIDE_LOCK_CODE_OUTSIDE},
	/* What no compiler writes: cut somewhere, but not overrun. */
	{"", ELIDE_LOCK_CODE_OUTSIDE},
	{"_Z", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN99mutex", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZN5muteE", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZNS", ELIDE_LOCK_CODE_OUTSIDE},
	{"_ZNSt", ELIDE_LOCK_CODE_OUTSIDE},
	{"_R9999999999999mutex", ELIDE_LOCK_CODE_OUTSIDE},
	{"_RB", ELIDE_LOCK_CODE_OUTSIDE},
};

static void names_say_it(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elide_lock_code_name(names[i].symbol) != names[i].code)
			fail_msg("%s: %d, not %d", names[i].symbol, elide_lock_code_name(names[i].symbol), names[i].code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_say_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
