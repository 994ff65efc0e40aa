/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rules.c - wildcards, the rules of ELIDE_LOCKS, and the names they are matched against. */
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/state/modules.h"
#include "../../lib/state/registry.h"
#include "../../lib/state/rules.h"
#include "../../lib/state/symbol.h"

int named_lock, other_lock; /* what the rules below name */

static void glob(void **state)
{
	static const struct {
		const char *pattern, *name;
		int matches;
	} table[] = {
		{"", "", 1}, {"", "a", 0}, {"a", "", 0}, {"*", "", 1}, {"**", "", 1}, {"?", "", 0},
		{"a", "a", 1}, {"a", "b", 0}, {"a", "ab", 0}, {"ab", "a", 0},
		{"?", "a", 1}, {"??", "a", 0}, {"a?c", "abc", 1}, {"a?c", "ac", 0},
		{"*", "anything", 1}, {"a*", "abc", 1}, {"*c", "abc", 1}, {"*b*", "abc", 1},
		{"a*c", "abbbc", 1}, {"a*c", "abbb", 0}, {"*a*b*c*", "xxaxxbxxcxx", 1},
		{"*a*b*c*", "xxaxxcxxbxx", 0}, {"*ab", "aab", 1}, {"*aab", "aaab", 1},
		{"a*?", "a", 0}, {"a*?", "ab", 1}, {"libc*!*", "libc.so.6!malloc", 1},
		{"*!*lock", "prog!my_lock", 1}, {"*aaaaaaaaaaaab", "aaaaaaaaaaaaaaaaaaaaaaaaaa", 0},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		if (elide_rules_glob(table[i].pattern, table[i].name) != table[i].matches)
			fail_msg("%s against %s", table[i].pattern, table[i].name);
}

static void symbols_of_this_program(void **state)
{
	const struct elide_module *m = elide_module_of(&named_lock);
	char name[64];

	assert_non_null(m);
	assert_int_equal(elide_symbol_find("/proc/self/exe", (uintptr_t)&named_lock - m->base, name,
					   sizeof(name)), 0);
	assert_string_equal(name, "named_lock");
	assert_int_equal(elide_symbol_find("/proc/self/exe", (uintptr_t)&named_lock - m->base + 3,
					   name, sizeof(name)), 0);
	assert_string_equal(name, "named_lock");
	/* The static function too: from .symtab. */
	assert_int_equal(elide_symbol_find("/proc/self/exe", (uintptr_t)&glob - m->base, name, 3), 0);
	assert_string_equal(name, "gl");
	assert_int_not_equal(elide_symbol_find("/proc/self/exe", 1, name, sizeof(name)), 0);
	assert_string_equal(name, "");
}

static const size_t max = 4096;

static int look(const char *path, uint64_t start, char *name, size_t size)
{
	struct elide_symbol symbol;

	return elide_symbol_function(path, start, max, name, size, &symbol);
}

/* The first look is another one than those that follow: each is done as either. */
static void functions_of_this_program(void **state)
{
	const struct elide_module *m = elide_module_of(&named_lock);
	const uint64_t start = (uintptr_t)&symbols_of_this_program - m->base;
	char name[64];

	for (int i = 0; i < 4; i++) {
		assert_int_equal(look("/proc/self/exe", start, name, sizeof(name)), 0);
		assert_string_equal(name, "symbols_of_this_program");
		assert_int_equal(look("/proc/self/exe", start, name, 8), 0);
		assert_string_equal(name, "symbols");
		assert_int_not_equal(look("/proc/self/exe", 1, name, sizeof(name)), 0);
		assert_string_equal(name, "");
		assert_int_not_equal(look("/nonexistent", start, name, sizeof(name)), 0);
	}
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(look("/proc/self/exe", start + 1, name, sizeof(name)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(look("/proc/self/exe", start, name, sizeof(name)), 0);
}

static void functions_that_are_large(void **state)
{
	const struct elide_module *m = elide_module_of(&named_lock);
	const uint64_t start = (uintptr_t)&symbols_of_this_program - m->base;
	struct elide_symbol symbol;
	char name[64];

	elide_modules_epoch++;
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(elide_symbol_function("/proc/self/exe", start, 4, name,
							   sizeof(name), &symbol), 0);
	elide_modules_epoch++;
}

static void symbols_of_anything(void **state)
{
	static const char *const paths[] = {"/nonexistent", "/dev/null", "/tmp", "/etc/passwd",
					    "/proc/self/maps"};
	char name[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++) {
		strcpy(name, "x");
		assert_int_not_equal(elide_symbol_find(paths[i], 0x1000, name, sizeof(name)), 0);
		assert_string_equal(name, "");
	}
}

/* This program's own file with bytes overwritten, at every place of its headers. */
static void symbols_of_a_damaged_object(void **state)
{
	const struct elide_module *m = elide_module_of(&named_lock);
	const uint64_t start = (uintptr_t)&symbols_of_this_program - m->base;
	char path[] = "/tmp/elide-test-XXXXXX", name[64];
	int fd = mkstemp(path);
	FILE *self = fopen("/proc/self/exe", "r");
	static char image[4 << 20];
	size_t n = fread(image, 1, sizeof(image), self);

	assert_in_range(n, 1000, sizeof(image) - 1);
	fclose(self);
	for (size_t at = 0; at < n; at += at < 64 ? 1 : n / 150) {
		char saved = image[at];

		image[at] = 0xff;
		assert_int_equal(pwrite(fd, image, n, 0), n);
		elide_symbol_find(path, 0x1234, name, sizeof(name));
		look(path, start, name, sizeof(name));
		look(path, start, name, sizeof(name));
		image[at] = saved;
		assert_int_equal(ftruncate(fd, at), 0);
		elide_symbol_find(path, 0x1234, name, sizeof(name));
		look(path, start, name, sizeof(name));
		elide_modules_epoch++;
	}
	close(fd);
	unlink(path);
}

static enum elide_ruling match(const void *lock)
{
	struct elide_class static_class = {.type = ELIDE_CLASS_STATIC, .kind = ELIDE_KIND_MUTEX,
					   .address = (uintptr_t)lock};

	return elide_rules_match(&static_class, (const char *)&symbols_of_anything + 1);
}

static void first_rule_wins(void **state)
{
	elide_rules_parse("named_lock=off,*_lock=profile,*=on");
	assert_int_equal(match(&named_lock), ELIDE_RULING_OFF);
	assert_int_equal(match(&other_lock), ELIDE_RULING_PROFILE);
	elide_rules_parse("*_lock=profile,named_lock=off");
	assert_int_equal(match(&named_lock), ELIDE_RULING_PROFILE);
	elide_rules_parse("absent=off");
	assert_int_equal(match(&named_lock), ELIDE_RULING_NONE);
	elide_rules_parse("");
	assert_int_equal(match(&named_lock), ELIDE_RULING_NONE);
}

static void object_and_call_site(void **state)
{
	elide_rules_parse("test_rules!named_lock=off");
	assert_int_equal(match(&named_lock), ELIDE_RULING_OFF);
	elide_rules_parse("test_rules!symbols_of_any*=off");
	assert_int_equal(match(&named_lock), ELIDE_RULING_OFF);
	elide_rules_parse("test_rules!absent=off,libc*!*=off");
	assert_int_equal(match(&named_lock), ELIDE_RULING_NONE);
}

static void class_of_an_initialiser(void **state)
{
	struct elide_class init = {.type = ELIDE_CLASS_INIT, .kind = ELIDE_KIND_MUTEX,
				   .address = (uintptr_t)&first_rule_wins + 1};

	elide_rules_parse("first_rule_wins=off");
	assert_int_equal(elide_rules_match(&init, NULL), ELIDE_RULING_OFF);
	/* No object at all: "?!". */
	init.address = 16;
	elide_rules_parse("?!=profile");
	assert_int_equal(elide_rules_match(&init, NULL), ELIDE_RULING_PROFILE);
}

/* A lock without an initialisation is known by the calls that lock it, whichever was the first. */
static void class_of_a_first_call(void **state)
{
	const char *here = (const char *)&first_rule_wins + 1, *other = (const char *)&object_and_call_site + 1;
	struct elide_class first = {.type = ELIDE_CLASS_FIRST, .kind = ELIDE_KIND_MUTEX,
				    .address = (uintptr_t)here};

	elide_rules_parse("first_rule_wins=off");
	assert_int_equal(elide_rules_match(&first, other), ELIDE_RULING_NONE);
	elide_rules_parse("*!first_rule_wins=off");
	assert_int_equal(elide_rules_match(&first, other), ELIDE_RULING_NONE);
	assert_int_equal(elide_rules_match(&first, here), ELIDE_RULING_OFF);
}

static void bad_rules_are_left_out(void **state)
{
	char text[2048], many[1200] = "";
	int ends[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	elide_rules_parse("none,named_lock=maybe,=on,,named_lock=off");
	for (int i = 0; i < 66; i++)
		strcat(many, "x=on,");
	assert_int_equal(match(&named_lock), ELIDE_RULING_OFF);
	elide_rules_parse(many);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	n = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	text[n > 0 ? n : 0] = '\0';
	assert_string_equal(text,
		"elide: ELIDE_LOCKS: \"none\" is not PATTERN=on|off|profile, ignored\n"
		"elide: ELIDE_LOCKS: \"named_lock=maybe\" is not PATTERN=on|off|profile, ignored\n"
		"elide: ELIDE_LOCKS: \"=on\" is not PATTERN=on|off|profile, ignored\n"
		"elide: ELIDE_LOCKS: more than 64 rules, \"x=on\" ignored\n"
		"elide: ELIDE_LOCKS: more than 64 rules, \"x=on\" ignored\n");
}

static char data[] = "/tmp/elide-test-XXXXXX";

static int start(void **state)
{
	int fd = mkstemp(data);

	close(fd);
	unlink(data);
	if (elide_data_open(data, 0, 1 << 20, ELIDE_DATA_FIRST) || elide_registry_start(64, 16))
		return -1;
	return 0;
}

static int stop(void **state)
{
	return unlink(elide_data_path());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(glob),
		cmocka_unit_test(symbols_of_this_program),
		cmocka_unit_test(functions_of_this_program),
		cmocka_unit_test(functions_that_are_large),
		cmocka_unit_test(symbols_of_anything),
		cmocka_unit_test(symbols_of_a_damaged_object),
		cmocka_unit_test(first_rule_wins),
		cmocka_unit_test(object_and_call_site),
		cmocka_unit_test(class_of_an_initialiser),
		cmocka_unit_test(class_of_a_first_call),
		cmocka_unit_test(bad_rules_are_left_out),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
