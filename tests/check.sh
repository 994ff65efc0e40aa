#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs every test and sums up. A cmocka program reports on stderr in its own
# form, a script prints "ok NAME", "not ok NAME: why", "skip NAME: reason", and
# "note TEXT" with what is to be seen of a success too.
# The last line is "N passed, N failed, N skipped".
set -u

O=${O:-build}
export O
# A script that hangs is a failure; the slowest takes a ninth of this on two idle cores.
LIMIT=${LIMIT:-1800}
scripts='
tests/unit/layers.sh
tests/preload/run.sh
tests/semantics/run.sh
tests/tools/tools.sh
tests/tools/page.sh
tests/tools/examples.sh
tests/tools/views.sh
tests/tools/install.sh
tests/tools/ctl.sh
tests/tools/pmu.sh
tests/tools/recipes.sh
tests/demo/index_bench.sh
tests/demo/emulated.sh
tests/emulated/rtmgrind.sh
tests/emulated/e2e.sh
tests/planted/run.sh
tests/policy/check.sh
tests/fidelity/check.sh
tests/emulated/repeat.sh
tests/programs/run.sh
tests/model/run.sh
tests/fuzz/replay.sh
tests/torture/run.sh
tests/torture/crash.sh
'
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
: >"$tmp/skips"

# It takes the accesses of transactions that run beside each other for races.
case ${SAN:-} in
*thread*)
	ELIDE_MODE=profile
	export ELIDE_MODE
	skipped=1
	echo '  elided sections: ThreadSanitizer does not know transactions' >>"$tmp/skips"
	;;
esac

count() { grep -c "$1" "$tmp/out"; }

# died NAME RC: a runner that ends badly without having named a failed test.
died() {
	failed=$((failed + 1))
	echo "not ok $1: exit $2"
}

for test in "$O"/tests/unit/test_*; do
	[ -x "$test" ] && [ ! -d "$test" ] || continue
	CMOCKA_MESSAGE_OUTPUT=stdout timeout "$LIMIT" "$test" >"$tmp/all" 2>&1
	rc=$?
	# Without the list at the end, which repeats the failed ones.
	sed '/^\[==========\] .* run\.$/,$d' "$tmp/all" >"$tmp/out"
	bad=$(count '^\[  FAILED  \] [a-z_0-9]*$')
	passed=$((passed + $(count '^\[       OK \]')))
	skipped=$((skipped + $(count '^\[  SKIPPED \] [a-z_0-9]*$')))
	sed -n 's/^skip /  /p' "$tmp/out" >>"$tmp/skips"
	failed=$((failed + bad))
	if [ $rc -eq 0 ]; then
		echo "${test##*/}: ok"
	else
		cat "$tmp/out"
		[ "$bad" -gt 0 ] || died "${test##*/}" $rc
	fi
done

for script in $scripts; do
	[ -e "$script" ] || continue
	case $(head -n 1 "$script") in
	*bash*) shell=bash ;;
	*) shell=sh ;;
	esac
	timeout "$LIMIT" $shell "$script" >"$tmp/out" 2>&1
	rc=$?
	bad=$(count '^not ok ')
	passed=$((passed + $(count '^ok ')))
	skipped=$((skipped + $(count '^skip ')))
	sed -n 's/^skip /  /p' "$tmp/out" >>"$tmp/skips"
	failed=$((failed + bad))
	if [ $rc -eq 0 ] && [ "$bad" -eq 0 ]; then
		echo "$script: ok"
		sed -n 's/^note /  /p' "$tmp/out"
	else
		grep -v '^ok ' "$tmp/out"
		[ "$bad" -gt 0 ] || died "$script" $rc
	fi
done

if [ -s "$tmp/skips" ]; then
	echo 'skipped:'
	cat "$tmp/skips"
fi
# No test at all is a broken build, not a success.
[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
