// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_settings.c - what is a valid value of a tunable, and what is said of a bad one.
 */
#include <errno.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/settings.h"

static void names(void **state)
{
	assert_string_equal(setting_find("POLICY")->name, "POLICY");
	assert_string_equal(setting_find("elide_policy")->name, "POLICY");
	assert_null(setting_find("POLICYX"));
	assert_null(setting_find(""));
}

static void unknown_names(void **state)
{
	static const struct {
		const char *name, *why;
	} table[] = {
		{"ELIDE_POLCY", "is unknown, nearest is ELIDE_POLICY"},
		{"spin_bussy", "is unknown, nearest is ELIDE_SPIN_BUSY"},
		{"ELIDE_SMT", "is gone (write ELIDE_MODEL=flat:smt=N, or elide run --smt=N)"},
		{"retry_busy", "is gone (write ELIDE_POLICY=adaptive:busy=N, or fixed or hpca)"},
	};
	char text[160];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_null(setting_find(table[i].name));
		assert_string_equal(setting_why_unknown(table[i].name, text, sizeof(text)),
				    table[i].why);
	}
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
		{"ORDER", "1", NULL},
		{"FILE_MAX", "1", NULL},
		{"FILE_MAX", "1024", NULL},
		{"FILE_MAX", "0", "ELIDE_FILE_MAX=0 is out of range, nearest is 1, using 64"},
		{"FILE_MAX", "1025", "ELIDE_FILE_MAX=1025 is out of range, nearest is 1024, using 64"},
		{"FILE_MAX", "99999999999999999999999",
		 "ELIDE_FILE_MAX=99999999999999999999999 is out of range, nearest is 1024, using 64"},
		{"FILE_MAX", "", "ELIDE_FILE_MAX= is not a number, using 64"},
		{"FILE_MAX", "-1", "ELIDE_FILE_MAX=-1 is not a number, using 64"},
		{"FILE_MAX", "4x", "ELIDE_FILE_MAX=4x is not a number, using 64"},
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
		{"POLICY", "fixed:conflict=3,busy=0", NULL},
		{"POLICY", "fixed:",
		 "ELIDE_POLICY=fixed:: fixed has conflict|busy|capacity|other|backoff=N, not '', "
		 "using adaptive"},
		{"POLICY", "glibc:conflict=3",
		 "ELIDE_POLICY=glibc:conflict=3: glibc has no numbers, using adaptive"},
		{"POLICY", "hpca:busy=1001",
		 "ELIDE_POLICY=hpca:busy=1001: busy is 0 to 1000 attempts, using adaptive"},
		{"POLICY", "fixd:conflict=3",
		 "ELIDE_POLICY=fixd:conflict=3 is not one of "
		 "adaptive|fixed|glibc|damon|hpca|never|restrict, nearest is fixed, using adaptive"},
		{"MODE", "off:conflict=3",
		 "ELIDE_MODE=off:conflict=3 is not one of auto|elide|profile|off, nearest is off, "
		 "using auto"},
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
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
