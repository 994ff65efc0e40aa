#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every input of the fuzz targets' corpus once more, with the sanitizers of
# the compiler at hand. $O is the build directory. Prints a line a target and
# a count.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
bin=${O:-build}/tests/fuzz
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0
unset LD_PRELOAD

for corpus in "$here"/corpus/*; do
	target=${corpus##*/} nr=$((nr + 1)) bad=
	for input in "$corpus"/*; do
		timeout 60 "$bin/replay-$target" "$input" >"$tmp/out" 2>&1 ||
			bad="$bad ${input##*/}: $(grep -m 1 'ERROR\|runtime error' "$tmp/out")"
	done
	if [ -n "$bad" ]; then
		failed=$((failed + 1))
		echo "not ok fuzz-$target:$bad"
	else
		echo "ok fuzz-$target ($(ls "$corpus" | wc -l) inputs)"
	fi
done
# The known-broken subject must not survive its corpus.
nr=$((nr + 1))
if (ulimit -c 0; "$bin/replay-broken" "$here"/corpus/symbol/*) >"$tmp/out" 2>&1; then
	failed=$((failed + 1))
	echo 'not ok broken-is-caught: it ran through'
else
	echo 'ok broken-is-caught'
fi
echo "$nr tests, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $nr -gt 1 ]
