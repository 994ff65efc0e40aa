// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_text.c - names of the program in what is printed: nothing in them reaches a terminal or a
 * spreadsheet as anything but text.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/text.h"
#include "../../tools/print/csv.h"
#include "../../tools/print/html/html.h"

static const struct {
	const char *text;
	const char *clean;
} table[] = {
	{"plain", "plain"},
	{"", ""},
	{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92"},
	{"a\033[2Jb\177\n\t", "a?[2Jb???"},
	{"a\xc2\x9b" "2J", "a?2J"},       /* C1 as UTF-8 */
	{"a\x9b" "2J\xc3\xa9\x9b", "a?2J\xc3\xa9?"}, /* C1 as bytes, behind whole characters */
	{"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f", "????"}, /* directions of writing */
	{"\xef\xbb\xbfx\xe2\x80\xa8y", "?x?y"},
	{"\xc3", "?"},
	{"\xe2\x82", "??"},
	{"\xc0\xaf\xe0\x80\x9b\xed\xa0\x80\xf4\x90\x80\x80\xff", "?????????????"},
};

static void cleaned(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char text[64], cell[CELL_MAX + 1], *printed = NULL;
		size_t size;
		FILE *out = open_memstream(&printed, &size);

		strcpy(text, table[i].text);
		text_clean(text);
		assert_string_equal(text, table[i].clean);
		fit(cell, table[i].text, CELL_MAX);
		assert_string_equal(cell, table[i].clean);
		print_clean(out, table[i].text);
		fputc('|', out);
		html_print(out, "%s", table[i].text);
		fclose(out);
		assert_int_equal(size, 2 * strlen(text) + 1);
		assert_memory_equal(printed, text, strlen(text));
		assert_string_equal(strchr(printed, '|') + 1, text);
		free(printed);
	}
}

/* Whatever the bytes: what is left is UTF-8 that is shown, and no longer than it was. */
static void random_bytes(void **state)
{
	uint64_t x = 88172645463325252ull;

	for (int i = 0; i < 20000; i++) {
		char text[17] = "";
		size_t len;

		/* xorshift, Marsaglia 2003 */
		for (int j = 0; j < 2; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			memcpy(text + 8 * j, &x, 8);
		}
		len = strlen(text);
		text_clean(text);
		assert_true(strlen(text) <= len);
		for (const char *c = text; *c;) {
			bool hidden;

			c += text_char(c, &hidden);
			assert_false(hidden);
		}
	}
}

static void cells(void **state)
{
	static const struct {
		const char *text;
		const char *cell;
	} cases[] = {
		{"lock", ",\"lock\""},
		{"=HYPERLINK(\"x\")", ",\"'=HYPERLINK(\"\"x\"\")\""},
		{"+1", ",\"'+1\""},
		{"-1", ",\"'-1\""},
		{"@SUM", ",\"'@SUM\""},
		{"a=b", ",\"a=b\""},
		{"\t=1\r\n", ",\"?=1??\""},
		{NULL, ",\"\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *printed = NULL;
		size_t size;
		FILE *out = open_memstream(&printed, &size);

		csv_text(out, cases[i].text);
		fclose(out);
		assert_string_equal(printed, cases[i].cell);
		free(printed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleaned),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
