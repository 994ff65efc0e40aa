#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30 parts=2
#
# The emulator's self-test: emulators that are broken on purpose (break.sh) are refused with the
# name of the test that found it, and a pass is remembered for these files alone; O is the build
# directory.

. "${0%/*}/../part.sh"
O=$(cd "${O:-build}" && pwd)
here=$(cd "${0%/*}" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
failed=0

ok() { echo "ok $1"; }
not_ok() { failed=1; echo "not ok $1: $2"; }

if [ ! -x "$O/libexec/elide/rtmgrind-amd64-linux" ]; then
	echo 'skip selftest: rtmgrind is not built'
	exit 0
fi
if ldd "$O/lib/libelide-preload.so" | grep -q 'libasan'; then
	echo 'skip selftest: AddressSanitizer and valgrind want the same addresses'
	exit 0
fi

# install_with TOOL: an installation with this tool, which no self-test has passed. Each start of
# the emulator is noted in the file starts.
install_with() {
	rm -rf "$work/p" "$work/cache" "$work/starts"
	mkdir -p "$work/p/libexec" "$work/cache"
	cp -R "$O/bin" "$O/lib" "$work/p"
	cp -dR "$O/libexec/elide" "$work/p/libexec/elide"
	rm -f "$work/p/libexec/elide/selftest.passed"
	cp "$1" "$work/p/libexec/elide/rtmgrind-amd64-linux"
	: >"$work/starts"
	chmod 666 "$work/starts"
	printf '#!/bin/sh\necho "$*" >>%s\nexec %s "$@"\n' "$work/starts" "$O/libexec/elide/launch" \
		>"$work/p/libexec/elide/launch"
}

# emulate COMMAND...: runs it; the exit code is in rc, the output in out and err
emulate() {
	XDG_CACHE_HOME=$work/cache timeout 600 "$work/p/bin/elide" run -q --emulate \
		-o "$work/data" -- "$@" >"$work/out" 2>"$work/err"
	rc=$?
}

nr_selftests() { grep -c '/selftest' "$work/starts"; }

# refused TEST FILE: the emulator with this fault is refused, by name, and the program not started.
refused() {
	local name="broken: $1" want="its self-test fails: $1: "

	install_with "$O/tests/emulated/broken/${2%.c}.$1"
	emulate echo started
	if [ $rc -ne 2 ] || [ -s "$work/out" ] || ! grep -q "^elide: --emulate: .*$want" "$work/err"; then
		not_ok "$name" "exit $rc: $(cat "$work/out" "$work/err")"
	elif [ -e "$work/p/libexec/elide/selftest.passed" ] || [ -e "$work/cache/elide" ]; then
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
	[ $rc -eq 0 ] && [ "$(cat "$work/out")" = started ] && [ "$(nr_selftests)" -eq 2 ] &&
		[ "$(wc -l <"$work/cache/elide/selftest.passed")" = 1 ] &&
		[ ! -e "$work/p/libexec/elide/selftest.passed" ]
}

# Another valgrind, or another tool, has not passed; the record keeps both.
test_pass_is_of_these_files() {
	install_with "$good"
	mkdir -p "$work/bin"
	printf '#!/bin/sh\necho valgrind-3.99.0\n' >"$work/bin/valgrind"
	chmod +x "$work/bin/valgrind"
	emulate echo started
	PATH=$work/bin:$PATH emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 4 ] &&
		[ "$(wc -l <"$work/cache/elide/selftest.passed")" = 2 ] || return
	cp "$O/tests/emulated/broken/txn.rollback" "$work/p/libexec/elide/rtmgrind-amd64-linux"
	PATH=$work/bin:$PATH emulate echo started
	[ $rc -eq 2 ] && grep -q 'with this valgrind, 3.99.0: .*fails: rollback: ' "$work/err" || return
	cp "$good" "$work/p/libexec/elide/rtmgrind-amd64-linux"
	emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 5 ]
}

# The pass at the build is that of whoever runs it, and of no one's cache.
test_pass_of_the_build() {
	install_with "$good"
	cp "$O/libexec/elide/selftest.passed" "$work/p/libexec/elide"
	emulate echo started
	[ $rc -eq 0 ] && [ "$(nr_selftests)" -eq 0 ] && [ ! -e "$work/cache/elide" ] &&
		cmp "$O/libexec/elide/selftest.passed" "$work/p/libexec/elide/selftest.passed"
}

# A user who may write nothing that is installed has a record of his own.
test_pass_of_a_user() {
	local as=(env)

	install_with "$good"
	if [ "$(id -u)" -eq 0 ]; then
		as=(setpriv --reuid=65534 --clear-groups)
		chown 65534 "$work/cache"
	fi
	for _ in 1 2; do
		XDG_CACHE_HOME=$work/cache TMPDIR=$work/cache timeout 600 "${as[@]}" "$work/p/bin/elide" run -q \
			--mode=off --emulate -- echo started >"$work/out" 2>"$work/err"
		rc=$?
		[ $rc -eq 0 ] || return
	done
	[ "$(nr_selftests)" -eq 2 ] && [ ! -e "$work/p/libexec/elide/selftest.passed" ] &&
		[ "$(wc -l <"$work/cache/elide/selftest.passed")" = 1 ]
}

# elide doctor says it, and so does the JSON.
test_doctor() {
	install_with "$O/tests/emulated/broken/txn.nesting"
	XDG_CACHE_HOME=$work/cache "$work/p/bin/elide" doctor >"$work/out" 2>"$work/err"
	grep -q '^emulator  .*fails: nesting: ' "$work/out" || return
	XDG_CACHE_HOME=$work/cache "$work/p/bin/elide" doctor --json >"$work/out" 2>"$work/err"
	jq -e '.emulator.usable == false and (.emulator.why | contains("fails: nesting: "))' \
		<"$work/out" >"$work/err" || return
	"$O/bin/elide" doctor >"$work/out" 2>"$work/err"
	grep -q "^emulator  *ready, its self-test has passed on valgrind $(valgrind --version |
		cut -d - -f 2): elide run --emulate\$" "$work/out"
}

for name in each_has_a_fault pass_is_remembered pass_is_of_these_files pass_of_the_build pass_of_a_user doctor; do
	mine || continue
	if "test_$name"; then
		ok "$name"
	else
		not_ok "$name" "exit ${rc:-}: $(cat "$work/out" "$work/err" "$work/starts" | head -c 600)"
	fi
done
exit $failed
