#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, make fuzz
#
# fuzz.sh TARGET...: libFuzzer on each for $FUZZ_SECONDS, beginning with the
# corpus. What it learns stays in $O/tests/fuzz/found/TARGET. Says how many
# inputs it ran; an input that fails is named, to be mended and then added to
# the corpus. Exits 1 if there was one.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
bin=$(cd "${O:-build}/tests/fuzz" && pwd) || exit 1
export UBSAN_OPTIONS=print_stacktrace=1
status=0

for target in "$@"; do
	mkdir -p "$bin/found/$target" "$bin/failed"
	timeout $((FUZZ_SECONDS + 60)) "$bin/fuzz-$target" -max_total_time="$FUZZ_SECONDS" \
		-max_len=4096 -timeout=10 -print_final_stats=1 -artifact_prefix="$bin/failed/$target-" \
		"$bin/found/$target" "$here/corpus/$target" >"$bin/$target.log" 2>&1
	rc=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$bin/$target.log")
	covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$bin/$target.log" | tail -n 1)
	echo "fuzz $target: ${runs:-?} inputs, ${covered:-?} edges covered, exit $rc"
	if [ $rc -ne 0 ]; then
		grep -m 3 'ERROR\|runtime error\|SUMMARY\|Test unit written' "$bin/$target.log" | sed 's/^/  /'
		status=1
	fi
done
exit $status
