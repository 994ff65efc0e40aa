// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_short.c - names of C++ and Rust that fit a table, and those of programs.
 */
#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/text.h"
#include "../../tools/names/names.h"
#include "../../tools/names/short.h"

static void last_parts(void **state)
{
	static const char *const table[][2] = {
		{"insert", "insert"},
		{"insert.part.0", "insert.part.0"},
		{"f(int)", "f"},
		{"ns::f(int)", "ns::f"},
		{"ns::a<b::c>::f(int) const", "a::f"},
		{"void ns::f<int, long>(int)", "ns::f"},
		{"std::vector<int, std::allocator<int> > ns::f<int>()", "ns::f"},
		{"std::vector<int> f<int>()", "f"},
		{"std::allocator<char>::allocator()", "allocator::allocator"},
		{"(anonymous namespace)::table::f(std::string const&)", "table::f"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"main::{lambda()#1}::operator()() const", "main::{lambda()#1}"},
		{"ns::f(int)::{lambda(int, long)#2}::operator()(int, long) const",
		 "f::{lambda(int, long)#2}"},
		{"ns::f(int) const::local::g()", "local::g"},
		{"ns::a<int>::operator()(int)", "a::operator()"},
		{"ns::a<int>::operator<(ns::a<int> const&)", "a::operator<"},
		{"std::operator<< <char>(std::ostream&)", "std::operator<<"},
		{"a::operator->() const", "a::operator->"},
		{"a::operator bool() const", "a::operator bool"},
		{"operator new(unsigned long)", "operator new"},
		{"a::operators()", "a::operators"},
		{"<std::sync::poison::mutex::Mutex<u64>>::lock", "Mutex::lock"},
		{"<&dyn core::ops::Fn<(), Output = i32> as core::ops::FnOnce<()>>::call_once", "Fn::call_once"},
		{"<<a::b as c::d>::e as f>::g", "e::g"},
		{"<fn(a::b) -> c::d as core::ops::FnOnce<()>>::call_once", "fn::call_once"},
		{"std::panicking::catch_unwind::do_call::<a::b, ()>", "catch_unwind::do_call"},
		{"app::main::{closure#0}::{closure#1}", "main::{closure#1}"},
		/* What no compiler writes: cut somewhere, but not overrun. */
		{"a<b::c", "a"},
		{"f(int", "f"},
		{"{lambda", "{lambda"},
		{"a::", "a"},
		{"<a", ""},
		{"<a::bc", "b"},
		{"<>::", ""},
		{"", ""},
	};
	char name[SHORT_NAME];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		short_symbol(name, sizeof(name), table[i][0]);
		assert_string_equal(name, table[i][1]);
	}
}

static void plain_names(void **state)
{
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	static const char *const table[][2] = {
		{"insert", "insert"},
		{"", ""},
		{"f(" STRING " const&)", "f(std::string const&)"},
		{"shop::names[abi:cxx11]", "shop::names"},
		{"shelf<" STRING " >::put(" STRING ")", "shelf<std::string>::put(std::string)"},
		{"shelf<b<a > >::put()", "shelf<b<a > >::put()"},
		{"std::map<" STRING ", int, std::less<" STRING " >, std::allocator<std::pair<" STRING
		 " const, int> > >::at(" STRING " const&)", "std::map<std::string, int>::at(std::string const&)"},
		{"std::vector<int, std::allocator<int> >::push_back(int)",
		 "std::vector<int>::push_back(int)"},
		{"std::__cxx11::list<int, std::allocator<int> >::size() const",
		 "std::list<int>::size() const"},
		{"std::basic_string_view<char, std::char_traits<char> >::size()",
		 "std::string_view::size()"},
		{"std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >::c_str()",
		 "std::wstring::c_str()"},
		{"mystd::basic_string<char, x>::f()", "mystd::basic_string<char, x>::f()"},
		{"std::basic_string<char16_t, x>::f()", "std::basic_string<char16_t, x>::f()"},
		/* Cut somewhere. */
		{"std::vector<int, std::allocator<int", "std::vector<int"},
		{"std::__cxx11::basic_string<char, x", "std::string"},
	};
	char name[300], cut[8];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		size_t len = plain_symbol(name, sizeof(name), table[i][0]);

		assert_string_equal(name, table[i][1]);
		assert_int_equal(len, strlen(name));
		assert_int_equal(plain_symbol(cut, sizeof(cut), table[i][0]), len);
		assert_true(strlen(cut) < sizeof(cut));
	}
	short_symbol(name, sizeof(name), STRING "::append(char const*)");
	assert_string_equal(name, "string::append");
	assert_string_equal(readable(name, sizeof(name), "f(" STRING ")"), "f(std::string)");
	assert_ptr_equal(readable(name, sizeof(name), table[0][0]), table[0][0]);
}

static void long_names(void **state)
{
	char name[8], symbol[600];

	memset(symbol, 'x', sizeof(symbol));
	symbol[sizeof(symbol) - 1] = '\0';
	short_symbol(name, sizeof(name), symbol);
	assert_string_equal(name, "xxxxxxx");
	short_symbol(name, sizeof(name), "operator and a very long name of a type that follows it");
	assert_string_equal(name, "operato");
}

static void sentences(void **state)
{
	char name[SHORT_NAME];

	assert_string_equal(readable(name, sizeof(name), "ns::a<b>::f(int)"), "ns::a<b>::f(int)");
	assert_string_equal(readable(name, sizeof(name),
				     "ns::a<std::map<std::string, std::vector<std::string>>>::f()"
				     " const"),
			    "a::f");
}

static void fitted(void **state)
{
	static const struct {
		const char *text;
		int width;
		const char *fitted;
	} table[] = {
		{"insert b.c:12", 20, "insert b.c:12"},
		{"insert b.c:12", 10, "insert"},
		{"guard in user b.c:12", 15, "guard in user"},
		{"guard in user b.c:12", 8, "guard"},
		/* A name with colons is no place. */
		{"node::Environment", 12, "node:..nment"},
		{"first ns::a::f", 8, "fir..::f"},
	};
	char to[CELL_MAX + 1];

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		fit(to, table[i].text, table[i].width);
		assert_string_equal(to, table[i].fitted);
	}
}

static void fitted_apart(void **state)
{
	static const char *const texts[] = {
		"first a::run", "first b::run", "first a::run", "first c::run", "other",
	};
	char to[5][CELL_MAX + 1];

	fit_apart(to, texts, 5, 8);
	assert_string_equal(to[0], "fir..run");
	assert_string_equal(to[1], "fir..r#2");
	assert_string_equal(to[2], "fir..run");
	assert_string_equal(to[3], "fir..r#3");
	assert_string_equal(to[4], "other");
	/* Another order of the rows: the same names. */
	fit_apart(to, (const char *const[]){texts[3], texts[1], texts[0]}, 3, 8);
	assert_string_equal(to[0], "fir..r#3");
	assert_string_equal(to[1], "fir..r#2");
	assert_string_equal(to[2], "fir..run");
}

/* What a program is called by: its first argument, which some processes set to a title. */
static void titles(void **state)
{
	static const char *const table[][2] = {
		{"/usr/bin/redis-server", "redis-server"},
		{"redis-server", "redis-server"},
		{"-bash", "bash"},
		{"/opt/my app/run", "run"},
		{"nginx: worker process", "nginx: worker process"},
		{"nginx: master process /usr/sbin/nginx -c /etc/nginx.conf",
		 "nginx: master process /usr/sbin/nginx -c /etc/nginx.conf"},
		{"/opt/a: b", "a: b"},
		{"", "exe"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct elide_header h = {.exe = "/usr/bin/exe"};

		h.args_len = strlen(table[i][0]) + 1;
		memcpy(h.args, table[i][0], h.args_len);
		assert_string_equal(program_title(&h), table[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fitted),
		cmocka_unit_test(fitted_apart),
		cmocka_unit_test(last_parts),
		cmocka_unit_test(plain_names),
		cmocka_unit_test(long_names),
		cmocka_unit_test(sentences),
		cmocka_unit_test(titles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
