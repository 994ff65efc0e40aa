/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_tunables.c - every tunable of tunables.def, at and beyond its bounds,
 * and the words of the warnings.
 */
#include <errno.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/policy/policy.h"
#include "../../lib/state/tunables.h"

static char message[512];

static int set(struct elide_tunables *t, const char *name, const char *value)
{
	memset(message, 'x', sizeof(message) - 1);
	return elide_tunables_parse(t, name, value, message, sizeof(message));
}

static void check_uint(const char *name, size_t offset, unsigned long min, unsigned long max,
		       unsigned long initial)
{
	static const char *const garbage[] = {"", " ", "x", "-1", "+1", "0x10", "1 ", "1.5", "1e3"};
	struct elide_tunables t = {0};
	uint32_t *member = (uint32_t *)((char *)&t + offset);
	char text[64], expect[512];

	assert_in_range(initial, min, max);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%lu", i ? max : min);
		assert_int_equal(set(&t, name, text), 0);
		assert_int_equal(*member, i ? max : min);
		assert_string_equal(message, "");
	}
	*member = 77;
	if (min) {
		snprintf(text, sizeof(text), "%lu", min - 1);
		assert_int_equal(set(&t, name, text), -EINVAL);
		snprintf(expect, sizeof(expect),
			 "ELIDE_%s=%s is out of range, nearest is %lu, using %lu", name, text, min,
			 initial);
		assert_string_equal(message, expect);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%lu", max + 1);
		if (i)
			strcpy(text, "99999999999999999999999999999");
		assert_int_equal(set(&t, name, text), -EINVAL);
		snprintf(expect, sizeof(expect),
			 "ELIDE_%s=%s is out of range, nearest is %lu, using %lu", name, text, max,
			 initial);
		assert_string_equal(message, expect);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(garbage); i++) {
		assert_int_equal(set(&t, name, garbage[i]), -EINVAL);
		snprintf(expect, sizeof(expect), "ELIDE_%s=%s is not a number, using %lu", name,
			 garbage[i], initial);
		assert_string_equal(message, expect);
	}
	assert_int_equal(*member, 77);
}

static void check_enum(const char *name, size_t offset, const char *values, const char *initial)
{
	struct elide_tunables t = {0};
	uint32_t *member = (uint32_t *)((char *)&t + offset), index = 0;
	char copy[256], word[64], expect[512], *save, *nearest;

	snprintf(copy, sizeof(copy), "%s", values);
	for (char *v = strtok_r(copy, "|", &save); v; v = strtok_r(NULL, "|", &save), index++) {
		assert_int_equal(set(&t, name, v), 0);
		assert_int_equal(*member, index);
		elide_tunables_word(name, index, word, sizeof(word));
		assert_string_equal(word, v);
		/* A slip of the last letter is answered with this very word. */
		snprintf(word, sizeof(word), "%sx", v);
		nearest = v;
		*member = 77;
		assert_int_equal(set(&t, name, word), -EINVAL);
		snprintf(expect, sizeof(expect), "ELIDE_%s=%s is not one of %s, nearest is %s, using %s",
			 name, word, values, nearest, initial);
		assert_string_equal(message, expect);
		assert_int_equal(*member, 77);
	}
	assert_int_equal(set(&t, name, ""), -EINVAL);
	assert_int_equal(*member, 77);
}

static void check_set(const char *name, size_t offset, const char *values, const char *initial)
{
	struct elide_tunables t = {0};
	uint32_t *member = (uint32_t *)((char *)&t + offset), nr = 1;
	char all[256], expect[512];

	snprintf(all, sizeof(all), "%s", values);
	for (char *p = all; *p; p++)
		if (*p == '|') {
			*p = ',';
			nr++;
		}
	assert_int_equal(set(&t, name, all), 0);
	assert_int_equal(*member, (1u << nr) - 1);
	assert_int_equal(set(&t, name, ""), 0);
	assert_int_equal(*member, 0);
	assert_int_equal(set(&t, name, initial), 0);
	*member = 77;
	assert_int_equal(set(&t, name, "nonsense"), -EINVAL);
	snprintf(expect, sizeof(expect), "ELIDE_%s=nonsense is not one of %s, nearest is ", name,
		 values);
	assert_int_equal(strncmp(message, expect, strlen(expect)), 0);
	strcat(all, ",");
	assert_int_equal(set(&t, name, all), -EINVAL);
	assert_int_equal(*member, 77);
}

static void check_str(const char *name, size_t offset, const char *initial)
{
	struct elide_tunables t = {0};
	char *member = (char *)&t + offset, text[ELIDE_TUNABLE_TEXT + 1], expect[512];

	memset(text, 'a', sizeof(text));
	text[ELIDE_TUNABLE_TEXT] = '\0';
	assert_int_equal(set(&t, name, text), -EINVAL);
	snprintf(expect, sizeof(expect), "ELIDE_%s is longer than %d bytes, using \"%s\"", name,
		 ELIDE_TUNABLE_TEXT - 1, initial);
	assert_string_equal(message, expect);
	assert_string_equal(member, "");
	text[ELIDE_TUNABLE_TEXT - 1] = '\0';
	assert_int_equal(set(&t, name, text), 0);
	assert_string_equal(member, text);
	assert_int_equal(set(&t, name, ""), 0);
	assert_string_equal(member, "");
}

static void every_tunable(void **state)
{
#define AT(name) offsetof(struct elide_tunables, name)
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) \
	check_uint(#NAME, AT(name), min, max, def);
#define ELIDE_ENUM(name, NAME, scope, values, def, help) check_enum(#NAME, AT(name), values, def);
#define ELIDE_SET(name, NAME, scope, values, def, help)  check_set(#NAME, AT(name), values, def);
#define ELIDE_STR(name, NAME, scope, def, help)          check_str(#NAME, AT(name), def);
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
}

static void set_names_the_nearest_word(void **state)
{
	struct elide_tunables t = {0};

	assert_int_equal(set(&t, "KINDS", "mutex,rwlck"), -EINVAL);
	assert_string_equal(message, "ELIDE_KINDS=mutex,rwlck is not one of mutex|rwlock|spin, "
				     "nearest is rwlock, using mutex,rwlock,spin");
	assert_int_equal(set(&t, "KINDS", "spin,spin"), 0);
	assert_int_equal(t.kinds, ELIDE_KINDS_SPIN);
}

static void case_of_letters_does_not_mislead(void **state)
{
	struct elide_tunables t = {0};

	assert_int_equal(set(&t, "MODE", "Profile"), -EINVAL);
	assert_string_equal(message, "ELIDE_MODE=Profile is not one of auto|elide|profile|off, "
				     "nearest is profile, using auto");
}

static void unknown_name_gets_the_nearest(void **state)
{
	struct elide_tunables t = {0};

	assert_int_equal(set(&t, "SPIN_BSY", "3"), -ENOENT);
	assert_string_equal(message, "ELIDE_SPIN_BSY is unknown, nearest is "
				     "ELIDE_SPIN_BUSY, ignored");
	assert_int_equal(set(&t, "A_NAME_THAT_IS_MUCH_LONGER_THAN_ANY_OF_OURS", "3"), -ENOENT);
	assert_int_equal(strncmp(message, "ELIDE_A_NAME_THAT_IS_MUCH_LONGER_THAN_ANY_ is unknown, ",
				 30), 0);
}

static void long_value_is_cut_in_the_message(void **state)
{
	struct elide_tunables t = {0};
	char value[4000];

	memset(value, 'y', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(set(&t, "POLICY", value), -EINVAL);
	assert_true(strlen(message) < 200);
}

static void expect_defaults(void)
{
	struct elide_tunables t = {0};

#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) \
	assert_int_equal(elide_tunables.name, def);
#define ELIDE_ENUM(name, NAME, scope, values, def, help) \
	assert_int_equal(set(&t, #NAME, def), 0);        \
	assert_int_equal(elide_tunables.name, t.name);
#define ELIDE_SET(name, NAME, scope, values, def, help) ELIDE_ENUM(name, NAME, scope, values, def, help)
#define ELIDE_STR(name, NAME, scope, def, help) assert_string_equal(elide_tunables.name, def);
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
}

static void no_environment_is_all_defaults(void **state)
{
	elide_tunables.stacks = 5;
	strcpy(elide_tunables.output, "elsewhere");
	elide_tunables_read(NULL);
	expect_defaults();
}

/* What elide_tunables_read() says on stderr, into @text. */
static void read_with_stderr(char *const *environment, char *text, size_t size)
{
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	elide_tunables_read(environment);
	dup2(saved, STDERR_FILENO);
	close(saved);
	n = read(ends[0], text, size - 1);
	close(ends[0]);
	text[n > 0 ? n : 0] = '\0';
}

static void environment_is_read(void **state)
{
	char *environment[] = {"PATH=/bin", "ELIDE_STACKS=99", "ELIDE_MODE=off", "ELIDE_DEPS=skip",
			       "ELIDE_OUTPUT=/tmp/a b,c", "ELIDE_KINDS=spin", "NOTELIDE_SEED=3", NULL};
	char text[1024];

	read_with_stderr(environment, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(elide_tunables.stacks, 99);
	assert_int_equal(elide_tunables.mode, ELIDE_MODE_OFF);
	assert_int_equal(elide_tunables.kinds, ELIDE_KINDS_SPIN);
	assert_string_equal(elide_tunables.output, "/tmp/a b,c");
	assert_int_equal(elide_tunables.seed, 1);
}

static void each_fault_is_one_line(void **state)
{
	char *environment[] = {"ELIDE_STACKS=none", "ELIDE_MOED=off", "ELIDE_FOLLOW=2", NULL};
	char text[1024];

	read_with_stderr(environment, text, sizeof(text));
	assert_string_equal(text,
			    "elide: ELIDE_STACKS=none is not a number, using 64\n"
			    "elide: ELIDE_MOED is unknown, nearest is ELIDE_MODE, ignored\n"
			    "elide: ELIDE_FOLLOW=2 is out of range, nearest is 1, using 1\n");
	expect_defaults();
}

static void unknown_policy_is_the_default(void **state)
{
	char *environment[] = {"ELIDE_POLICY=fixd", NULL};
	char text[1024];

	elide_tunables.policy = 77;
	read_with_stderr(environment, text, sizeof(text));
	assert_string_equal(text, "elide: ELIDE_POLICY=fixd is not one of "
				  "adaptive|fixed|glibc|damon|hpca|never|restrict, nearest is fixed, "
				  "using adaptive\n");
	expect_defaults();
}

/* A policy with numbers: the numbers by enum elide_policy_number, or what is said of it. */
static void numbers_of_a_policy(void **state)
{
	static const struct {
		const char *value;
		uint32_t policy, numbers[ELIDE_NR_POLICY_NUMBERS];
		const char *why;
	} table[] = {
		{"fixed", POLICY_FIXED, {5, 8, 1, 0, 1, 1}},
		{"fixed:conflict=3", POLICY_FIXED, {3, 8, 1, 0, 1, 1}},
		{"fixed:other=1000,conflict=0,busy=0,capacity=0,backoff=0", POLICY_FIXED, {0, 0, 0, 1000, 0, 1}},
		/* The last one holds. */
		{"hpca:busy=1,busy=2", POLICY_HPCA, {5, 2, 1, 0, 1, 1}},
		{"adaptive:crowd=1024,other=2", POLICY_ADAPTIVE, {5, 8, 1, 2, 1, 1024}},
		{"damon:backoff=1000000", POLICY_DAMON, {5, 8, 1, 0, 1000000, 1}},
		{"restrict:crowd=0", POLICY_RESTRICT, {5, 8, 1, 0, 1, 0}},
		{"fixed:", .why = "fixed has conflict|busy|capacity|other|backoff=N, not ''"},
		{"fixed:conflict=3,", .why = "fixed has conflict|busy|capacity|other|backoff=N, not ''"},
		{"fixed:,busy=1", .why = "fixed has conflict|busy|capacity|other|backoff=N, not ''"},
		{"fixed:busy", .why = "fixed has conflict|busy|capacity|other|backoff=N, not 'busy'"},
		{"fixed:=1", .why = "fixed has conflict|busy|capacity|other|backoff=N, not '=1'"},
		{"hpca:backoff=1", .why = "hpca has conflict|busy|capacity|other=N, not 'backoff=1'"},
		{"damon:busy=1", .why = "damon has backoff=N, not 'busy=1'"},
		{"restrict:conflict|busy=1", .why = "restrict has crowd=N, not 'conflict|busy=1'"},
		{"adaptive:Busy=1", .why = "adaptive has conflict|busy|capacity|other|crowd=N, not 'Busy=1'"},
		{"glibc:busy=1", .why = "glibc has no numbers"},
		{"never:", .why = "never has no numbers"},
		{"fixed:busy=", .why = "busy is 0 to 1000 attempts"},
		{"fixed:busy=1x", .why = "busy is 0 to 1000 attempts"},
		{"fixed:busy=-1", .why = "busy is 0 to 1000 attempts"},
		{"fixed:busy=1001", .why = "busy is 0 to 1000 attempts"},
		{"fixed:busy=99999999999999999999", .why = "busy is 0 to 1000 attempts"},
		{"fixed:busy=1,backoff=1000001", .why = "backoff is 0 to 1000000 iterations"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct elide_tunables t = {.policy = 77, .policy_numbers = {1, 2, 3, 4, 5, 6}}, before = t;
		char expect[512];

		assert_int_equal(set(&t, "POLICY", table[i].value), table[i].why ? -EINVAL : 0);
		snprintf(expect, sizeof(expect), "ELIDE_POLICY=%.40s: %s, using adaptive", table[i].value,
			 table[i].why ?: "");
		assert_string_equal(message, table[i].why ? expect : "");
		if (table[i].why) {
			assert_memory_equal(&t, &before, sizeof(t));
			continue;
		}
		assert_int_equal(t.policy, table[i].policy);
		assert_memory_equal(t.policy_numbers, table[i].numbers, sizeof(t.policy_numbers));
	}
}

/* A long name does not run over the message, nor does a short one stay without its end. */
static void a_fault_is_cut_to_its_room(void **state)
{
	struct elide_tunables t = {0};
	char value[4000] = "fixed:", text[8];

	memset(value + 6, 'y', sizeof(value) - 7);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(set(&t, "POLICY", value), -EINVAL);
	assert_true(strlen(message) < 250);
	assert_int_equal(elide_tunables_parse(&t, "POLICY", value, text, sizeof(text)), -EINVAL);
	assert_string_equal(text, "ELIDE_P");
}

/* Each setting that there was is said to be gone, and is none now. */
static void settings_that_are_gone(void **state)
{
	struct elide_tunables t = {0}, before = t;
	char expect[512];

#define ELIDE_GONE(NAME, instead)                                                               \
	assert_int_equal(set(&t, #NAME, "1"), -ENOENT);                                         \
	snprintf(expect, sizeof(expect), "ELIDE_" #NAME " is gone (%s), ignored", instead);     \
	assert_string_equal(message, expect);
#include "../../lib/gone.def"
#undef ELIDE_GONE
	assert_memory_equal(&t, &before, sizeof(t));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tunable),
		cmocka_unit_test(set_names_the_nearest_word),
		cmocka_unit_test(case_of_letters_does_not_mislead),
		cmocka_unit_test(unknown_name_gets_the_nearest),
		cmocka_unit_test(long_value_is_cut_in_the_message),
		cmocka_unit_test(no_environment_is_all_defaults),
		cmocka_unit_test(environment_is_read),
		cmocka_unit_test(each_fault_is_one_line),
		cmocka_unit_test(unknown_policy_is_the_default),
		cmocka_unit_test(numbers_of_a_policy),
		cmocka_unit_test(a_fault_is_cut_to_its_room),
		cmocka_unit_test(settings_that_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
