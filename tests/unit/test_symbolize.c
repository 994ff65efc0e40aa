// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_symbolize.c - addresses of this very program, resolved from its file.
 */
#include <errno.h>
#include <unistd.h>

#include "unit.h"
#include "../../tools/names/symbolize.h"
#include "../tools/synth.h"

static struct synth file;
static struct elide_module module;
static struct subject_sites sites;
static char warning[1024];
static int nr_warnings;

static void take_warning(const char *line)
{
	snprintf(warning, sizeof(warning), "%s", line);
	nr_warnings++;
}

static int setup(void **state)
{
	synth_make(&file, SYNTH_ELIDE, 0, 1);
	memcpy(&module, synth_chunk(&file, ELIDE_CHUNK_MODULES) + 1, sizeof(module));
	subject_run(&sites);
	nr_warnings = 0;
	return 0;
}

static int teardown(void **state)
{
	synth_free(&file);
	return 0;
}

static void calls(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_call(s, sites.insert, &p);
	assert_string_equal(p.object, program_invocation_short_name);
	assert_string_equal(p.symbol, "subject_insert");
	assert_string_equal(p.elf_symbol, "subject_insert");
	assert_non_null(p.file);
	assert_non_null(strstr(p.file, "tools/subject.c"));
	assert_int_equal(p.line, 20);
	assert_null(p.inlined_into);
	assert_int_equal(p.offset, sites.insert - 1 - module.base);
	symbolizer_free(s);
	assert_int_equal(nr_warnings, 0);
}

/* The innermost function names the call, followed by the one that it is inlined into. */
static void inlined_call(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_call(s, sites.inlined, &p);
	assert_string_equal(p.symbol, "subject_guard");
	assert_string_equal(p.inlined_into, "subject_user");
	assert_string_equal(p.elf_symbol, "subject_user");
	assert_int_equal(p.line, 38);
	symbolizer_free(s);
}

extern const char _GLOBAL_OFFSET_TABLE_[];

static void variables(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_data(s, (uint64_t)&subject_index_lock, &p);
	assert_string_equal(p.symbol, "subject_index_lock");
	assert_int_equal(p.symbol_offset, 0);
	symbolize_data(s, (uint64_t)&subject_table.lock, &p);
	assert_string_equal(p.symbol, "subject_table");
	assert_int_equal(p.symbol_offset, offsetof(struct subject_table, lock));
	/* The linker's symbol is the name of no variable. */
	symbolize_data(s, (uint64_t)&_GLOBAL_OFFSET_TABLE_, &p);
	assert_non_null(p.object);
	assert_null(p.symbol);
	symbolizer_free(s);
}

typedef struct link *chain;

static volatile long number;
static struct {
	long nr;
	union {
		chain heads[2];
		char text[16];
	};
	struct link {
		struct link *next;
		long value;
	} links[2];
} volatile lists[3];

/* Code that uses them all. */
static __attribute__((noinline)) uint64_t user(uint64_t *local)
{
	static chain last[2];

	*local = (uint64_t)&last[1];
	number++;
	lists[number].heads[1] = last[number];
	return (uint64_t)user;
}

static void pointers(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	uint64_t local, code = user(&local) + 1;

	assert_false(symbolize_is_pointer(s, (uint64_t)&number, code));
	assert_false(symbolize_is_pointer(s, (uint64_t)&lists[1].nr, code));
	assert_true(symbolize_is_pointer(s, (uint64_t)&lists[1].heads[0], code));
	assert_true(symbolize_is_pointer(s, (uint64_t)&lists[2].heads[1], code));
	assert_true(symbolize_is_pointer(s, (uint64_t)&lists[2].links[1].next, code));
	assert_false(symbolize_is_pointer(s, (uint64_t)&lists[2].links[1].value, code));
	assert_true(symbolize_is_pointer(s, local, code));
	/* Not known. */
	assert_false(symbolize_is_pointer(s, (uint64_t)&lists[1].heads[0], 0));
	assert_false(symbolize_is_pointer(s, module.end, code));
	symbolizer_free(s);
}

/* What signal handlers return to, as in a C library without symbols. */
extern const uint64_t returns_from_signal __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	"\t.type before, @function\nbefore:\tret\n\t.size before, 1\n\tnop\n"
	".Lreturns:\tmov $15, %rax\n\tsyscall\n\tnop\n\t.popsection\n"
	".pushsection .data.rel.ro, \"aw\"\n\t.balign 8\n"
	"returns_from_signal:\t.quad .Lreturns\n\t.popsection\n");

static void signal_returns(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_call(s, returns_from_signal + 1, &p);
	assert_string_equal(p.symbol, "__restore_rt");
	symbolize_call(s, returns_from_signal + 2, &p);
	assert_null(p.symbol);
	symbolizer_free(s);
}

/* Code of which there is no DWARF, between two parts of a unit. */
extern const unsigned char bare_code[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text.bare, \"ax\"\n"
	"\t.type bare_code, @function\nbare_code:\tnop\n\tnop\n\tret\n\t.size bare_code, 3\n"
	"\t.popsection\n");

__attribute__((noinline, section(".text.behind"))) static int behind_it(void)
{
	return bare_code[0];
}

static void code_without_lines(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_instruction(s, (uint64_t)bare_code + 1, &p);
	assert_string_equal(p.symbol, "bare_code");
	assert_int_equal(p.symbol_offset, 1);
	assert_null(p.file);
	assert_int_equal(p.line, 0);
	/* The unit, which knows the type, is not that of this code. */
	assert_false(symbolize_is_pointer(s, (uint64_t)&lists[1].heads[0], (uint64_t)bare_code + 1));
	assert_int_equal(behind_it(), 0x90);
	symbolizer_free(s);
}

static void outside_all_objects(void **state)
{
	struct symbolizer *s = symbolizer_new(&module, 1, take_warning);
	struct place p;

	symbolize_call(s, 0, &p);
	assert_null(p.object);
	symbolize_call(s, ~0ull, &p);
	assert_null(p.object);
	symbolize_data(s, module.end, &p);
	assert_null(p.object);
	assert_null(p.symbol);
	symbolizer_free(s);
	assert_int_equal(nr_warnings, 0);
}

/* One warning, and offsets instead of names, for any number of addresses. */
static void untrusted(struct elide_module *m, const char *says)
{
	struct symbolizer *s = symbolizer_new(m, 1, take_warning);
	struct place p;

	symbolize_call(s, sites.insert, &p);
	symbolize_call(s, sites.lookup, &p);
	assert_non_null(p.object);
	assert_null(p.symbol);
	assert_null(p.file);
	assert_int_equal(p.line, 0);
	symbolize_data(s, (uint64_t)&subject_index_lock, &p);
	assert_null(p.symbol);
	symbolizer_free(s);
	assert_int_equal(nr_warnings, 1);
	assert_non_null(strstr(warning, says));
}

static void other_build_id(void **state)
{
	struct elide_module m = module;

	assert_true(m.build_id_len > 0);
	m.build_id[0] ^= 1;
	untrusted(&m, "build-id differs");
}

static void object_is_gone(void **state)
{
	struct elide_module m = module;

	strcpy(m.path, "/nonexistent/subject");
	untrusted(&m, "cannot be opened");
}

static void object_is_no_object(void **state)
{
	struct elide_module m = module;

	strcpy(m.path, "/etc/passwd");
	untrusted(&m, "/etc/passwd");
}

static void object_is_a_directory(void **state)
{
	struct elide_module m = module;

	strcpy(m.path, "/tmp");
	untrusted(&m, "cannot be opened");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_call, setup, teardown),
		cmocka_unit_test_setup_teardown(variables, setup, teardown),
		cmocka_unit_test_setup_teardown(pointers, setup, teardown),
		cmocka_unit_test_setup_teardown(signal_returns, setup, teardown),
		cmocka_unit_test_setup_teardown(code_without_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(outside_all_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(other_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(object_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(object_is_no_object, setup, teardown),
		cmocka_unit_test_setup_teardown(object_is_a_directory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
