// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_settings.c - what is a valid value of a tunable, and what is said of a bad one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "../../lib/compiler.h"
#include "../../tools/base/settings.h"

static void names(void **state)
{
	assert_string_equal(setting_find("POLICY")->name, "POLICY");
	assert_string_equal(setting_find("elide_policy")->name, "POLICY");
	assert_null(setting_find("POLICYX"));
	assert_null(setting_find(""));
	assert_string_equal(setting_nearest("ELIDE_POLCY")->name, "POLICY");
	assert_string_equal(setting_nearest("retry_bussy")->name, "RETRY_BUSY");
}

/* Every default is valid: a warning says that it is used. */
static void defaults_are_valid(void **state)
{
	char message[512];

	for (size_t i = 0; i < nr_settings; i++)
		assert_int_equal(
			setting_check(&settings[i], settings[i].def, message, sizeof(message)), 0);
}

static void values(void **state)
{
	static const struct {
		const char *name, *value, *message; /* no message: valid */
	} table[] = {
		{"CORES", "1", NULL},
		{"CORES", "1024", NULL},
		{"CORES", "0", NULL},
		{"CORES", "1025", "ELIDE_CORES=1025 is out of range, nearest is 1024, using 0"},
		{"CORES", "99999999999999999999999",
		 "ELIDE_CORES=99999999999999999999999 is out of range, nearest is 1024, using 0"},
		{"CORES", "", "ELIDE_CORES= is not a number, using 0"},
		{"CORES", "-1", "ELIDE_CORES=-1 is not a number, using 0"},
		{"CORES", "4x", "ELIDE_CORES=4x is not a number, using 0"},
		{"SEED", "4294967295", NULL},
		{"MODE", "profile", NULL},
		{"MODE", "porfile",
		 "ELIDE_MODE=porfile is not one of auto|elide|profile|off, nearest is profile, "
		 "using auto"},
		{"KINDS", "", NULL},
		{"KINDS", "spin,mutex", NULL},
		{"KINDS", "mutex,spn",
		 "ELIDE_KINDS=mutex,spn is not one of mutex|rwlock|spin, nearest is spin, using "
		 "mutex,rwlock,spin"},
		{"MODE", "auto,off",
		 "ELIDE_MODE=auto,off is not one of auto|elide|profile|off, nearest is auto, using "
		 "auto"},
		{"LOCKS", "anything at all", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct setting *s = setting_find(table[i].name);
		char message[512] = "";
		int rc = setting_check(s, table[i].value, message, sizeof(message));

		assert_int_equal(rc, table[i].message ? -EINVAL : 0);
		assert_string_equal(message, table[i].message ? table[i].message : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
