#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30 parts=2
#
# The emulator's self-test: emulators that are broken on purpose (break.sh) are refused with the
# name of the test that found it, and a pass is remembered for these files alone;

. "$(dirname "$0")/../script.sh"
chmod 755 "$tmp"

needs selftest emulator

# install_with TOOL: an installation with this tool, which no self-test has passed. Each start of
# the emulator is noted in the file starts.
install_with() {
	rm -rf "$tmp/p" "$tmp/cache" "$tmp/starts"
	mkdir -p "$tmp/p/libexec" "$tmp/cache"
	cp -R "$O/bin" "$O/lib" "$tmp/p"
	cp -dR "$O/libexec/elide" "$tmp/p/libexec/elide"
	rm -f "$tmp/p/libexec/elide/selftest.passed"
	cp "$1" "$tmp/p/libexec/elide/rtmgrind-amd64-linux"
	: >"$tmp/starts"
	chmod 666 "$tmp/starts"
	printf '#!/bin/sh\necho "$*" >>%s\nexec %s "$@"\n' "$tmp/starts" "$O/libexec/elide/launch" \
		>"$tmp/p/libexec/elide/launch"
}

# emulate COMMAND...: runs it; the exit code is in rc, the output in out and err
emulate() {
	XDG_CACHE_HOME=$tmp/cache timeout 600 "$tmp/p/bin/elide" run -q --emulate \
		-o "$tmp/data" -- "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

nr_selftests() { grep -c '/selftest' "$tmp/starts"; }

# refused TEST FILE: the emulator with this fault is refused, by name, and the program not started.
refused() {
	local name="broken: $1" want="its self-test fails: $1: "

	install_with "$O/tests/emulated/broken/${2%.c}.$1"
	emulate echo started
	if [ $rc -ne 2 ] || [ -s "$tmp/out" ] || ! grep -q "^elide: --emulate: .*$want" "$tmp/err"; then
		not_ok "$name" "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	elif [ -e "$tmp/p/libexec/elide/selftest.passed" ] || [ -e "$tmp/cache/elide" ]; then
		not_ok "$name" 'a pass is remembered'
	else
		ok "$name"
	fi
}

while read -r test file; do
	! mine || refused "$test" "$file"
done < <(sh "$here/break.sh" --list)

# Each test has a fault that it must find.
test_each_has_a_fault() {
	local tests

	tests=$(sed -n 's/^SELFTEST(\([a-z]*\),.*/\1/p' "$here/../../tools/selftest/tests.def" | sort)
	[ -n "$tests" ] && [ "$tests" = "$(sh "$here/break.sh" --list | cut -d ' ' -f 1 | sort)" ]
}

good=$O/libexec/elide/rtmgrind-amd64-linux

# With the emulator as it is: one self-test, on two machines, remembered for the user. What is
# installed stays as it is.
test_pass_is_remembered() {
	install_with "$good"
	emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 2 ] || return
	emulate echo started
	[ $rc -eq 0 ] && [ "$(cat "$tmp/out")" = started ] && [ "$(nr_selftests)" -eq 2 ] &&
		[ "$(wc -l <"$tmp/cache/elide/selftest.passed")" = 1 ] &&
		[ ! -e "$tmp/p/libexec/elide/selftest.passed" ]
}

# Another valgrind, or another tool, has not passed; the record keeps both.
test_pass_is_of_these_files() {
	install_with "$good"
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\necho valgrind-3.99.0\n' >"$tmp/bin/valgrind"
	chmod +x "$tmp/bin/valgrind"
	emulate echo started
	PATH=$tmp/bin:$PATH emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 4 ] &&
		[ "$(wc -l <"$tmp/cache/elide/selftest.passed")" = 2 ] || return
	cp "$O/tests/emulated/broken/txn.rollback" "$tmp/p/libexec/elide/rtmgrind-amd64-linux"
	PATH=$tmp/bin:$PATH emulate echo started
	[ $rc -eq 2 ] && grep -q 'with this valgrind, 3.99.0: .*fails: rollback: ' "$tmp/err" || return
	cp "$good" "$tmp/p/libexec/elide/rtmgrind-amd64-linux"
	emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 5 ]
}

# The pass at the build is that of whoever runs it, and of no one's cache.
test_pass_of_the_build() {
	install_with "$good"
	cp "$O/libexec/elide/selftest.passed" "$tmp/p/libexec/elide"
	emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 0 ] && [ ! -e "$tmp/cache/elide" ] &&
		cmp "$O/libexec/elide/selftest.passed" "$tmp/p/libexec/elide/selftest.passed"
}

# A user who may write nothing that is installed has a record of his own.
test_pass_of_a_user() {
	local as=(env)

	install_with "$good"
	if [ "$(id -u)" -eq 0 ]; then
		as=(setpriv --reuid=65534 --clear-groups)
		chown 65534 "$tmp/cache"
	fi
	for _ in 1 2; do
		XDG_CACHE_HOME=$tmp/cache TMPDIR=$tmp/cache timeout 600 "${as[@]}" "$tmp/p/bin/elide" run -q \
			--mode=off --emulate -- echo started >"$tmp/out" 2>"$tmp/err"
		rc=$?
		[ $rc -eq 0 ] || return
	done
	[ "$(nr_selftests)" -eq 2 ] && [ ! -e "$tmp/p/libexec/elide/selftest.passed" ] &&
		[ "$(wc -l <"$tmp/cache/elide/selftest.passed")" = 1 ]
}

# elide doctor says it, and so does the JSON.
test_doctor() {
	install_with "$O/tests/emulated/broken/txn.nesting"
	XDG_CACHE_HOME=$tmp/cache "$tmp/p/bin/elide" doctor >"$tmp/out" 2>"$tmp/err"
	grep -q '^emulator  .*fails: nesting: ' "$tmp/out" || return
	XDG_CACHE_HOME=$tmp/cache "$tmp/p/bin/elide" doctor --json >"$tmp/out" 2>"$tmp/err"
	jq -e '.emulator.usable == false and (.emulator.why | contains("fails: nesting: "))' \
		<"$tmp/out" >"$tmp/err" || return
	"$O/bin/elide" doctor >"$tmp/out" 2>"$tmp/err"
	grep -q "^emulator  *ready, its self-test has passed on valgrind $(valgrind --version |
		cut -d - -f 2): elide run --emulate\$" "$tmp/out"
}

for name in each_has_a_fault pass_is_remembered pass_is_of_these_files pass_of_the_build pass_of_a_user doctor; do
	mine || continue
	if "test_$name"; then
		ok "$name"
	else
		not_ok "$name" "exit ${rc:-}: $(cat "$tmp/out" "$tmp/err" "$tmp/starts" | head -c 600)"
	fi
done
finish
