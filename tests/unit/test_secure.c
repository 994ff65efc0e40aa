/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_secure.c - in a setuid program the environment is ignored and every call passes through. */
#include <unistd.h>

#include "unit.h"
#include "../../lib/life/fill.h"
#include "../../lib/life/lock.h"
#include "../../lib/check/misuse.h"
#include "../../lib/state/settings.h"
#include "../../lib/life/start.h"
#include "../../lib/state/thread.h"
#include "../../lib/state/tunables.h"

static void secure_start_is_off(void **state)
{
	static int lock;

	setenv("ELIDE_MODE", "elide", 1);
	setenv("ELIDE_OUTPUT", "/tmp/elide-test-secure", 1);
	setenv("ELIDE_LEARNED", "/tmp/elide-test-secure", 1);
	elide_start(true);
	assert_int_equal(elide_tunables.mode, ELIDE_MODE_AUTO);
	assert_string_equal(elide_tunables.output, "elide.data");
	assert_string_equal(elide_tunables.learned, "");
	assert_false(elide_enabled);
	assert_false(elide_process.running);
	assert_null(elide_call_get(&lock, &secure_start_is_off, ELIDE_KIND_MUTEX));
	elide_lock_new(&lock, ELIDE_KIND_MUTEX, &secure_start_is_off, false);
	elide_lock_gone(&lock);
	elide_misuse(ELIDE_MISUSE_RELOCK, ELIDE_KIND_MUTEX, &secure_start_is_off, &lock);
	elide_stop();
	assert_null(elide_data);
	assert_int_not_equal(access("/tmp/elide-test-secure", F_OK), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(secure_start_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
