#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every input of the fuzz targets' corpus once more, with the sanitizers of the compiler at hand.

. "$(dirname "$0")/../script.sh"
bin=$O/tests/fuzz

for corpus in "$here"/corpus/*; do
	target=${corpus##*/} bad=
	for input in "$corpus"/*; do
		timeout 60 "$bin/replay-$target" "$input" >"$tmp/out" 2>&1 ||
			bad="$bad ${input##*/}: $(grep -m 1 'ERROR\|runtime error' "$tmp/out")"
	done
	if [ -n "$bad" ]; then
		not_ok "fuzz-$target" "$bad"
	else
		ok "fuzz-$target ($(ls "$corpus" | wc -l) inputs)"
	fi
done
# The known-broken subject must not survive its corpus.
if (ulimit -c 0; "$bin/replay-broken" "$here"/corpus/symbol/*) >"$tmp/out" 2>&1; then
	not_ok broken-is-caught 'it ran through'
else
	ok broken-is-caught
fi
[ $nr -gt 1 ] || not_ok fuzz 'no corpus'
finish
