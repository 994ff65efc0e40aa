#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=60
#
# What each lock call answers, with every combination of a lock's attributes: the same without the
# library, with locks that are only counted, and elided with no, some and all transactions aborted.
#
#   run.sh [PART...]           all parts of the program, or some; $O is the build directory
#   run.sh --cell MODE PART    one run, for the above
#
# MODES: those to compare with plain. Prints a line a part and mode, and counts.

if [ "${1:-}" = --cell ]; then
	elide=$O/bin/elide lib=$O/lib/libelide-preload.so
else
	. "$(dirname "$0")/../script.sh"
fi
conform=$O/tests/conformance/conform
sums=$O/tests/preload/sums
# Seconds a run may take; the longest takes a tenth of it.
LIMIT=${LIMIT:-240}

# One run, in a directory of its own: out, err, rc and sums.
cell() {
	mkdir -p "$TMP/$1/$2" && cd "$TMP/$1/$2" || exit 1
	part=$2
	export ELIDE_OUTPUT="$PWD/data" ELIDE_POLICY=fixed
	case $1 in
	plain) set -- ;;
	profile) set -- env ELIDE_MODE=profile LD_PRELOAD="$lib" ;;
	native) set -- env LD_PRELOAD="$lib" ;;
	broken-*)
		export VALGRIND_LIB="$O/libexec/elide"
		set -- env LD_PRELOAD="$O/tests/semantics/$1.so" "$O/libexec/elide/launch" \
			--tool=rtmgrind --deadlock=wait
		;;
	*)
		rate=${1#emulated-}
		[ "$rate" = plain ] && rate='0 --mode=off'
		set -- "$elide" run -q --emulate --set DEADLOCK=wait --abort-rate=$rate --
		;;
	esac
	timeout -k 5 "$LIMIT" "$@" "$conform" "$part" >out 2>err </dev/null
	echo $? >rc
	[ ! -e data ] || "$sums" data >sums
}

if [ "${1:-}" = --cell ]; then
	cell "$2" "$3"
	exit 0
fi

export O LIMIT TMP="$tmp"

# run CELL...: "MODE PART" each, two at a time.
run() {
	printf '%s\n' "$@" | xargs -P 2 -L 1 sh "$here/run.sh" --cell
}

# total NAME FILE
total() {
	tr ' ' '\n' <"$2" | sed -n "s/^$1=//p"
}

# differs MODE PART: nothing, or how its answers are others than plain ones.
differs() {
	at=$TMP/$1/$2
	[ -s "$at/rc" ] || { echo 'no result'; return; }
	if cmp -s "$TMP/plain/$2/out" "$at/out" && [ "$(cat "$at/rc")" -eq 0 ]; then
		return
	fi
	diff "$TMP/plain/$2/out" "$at/out" >"$at/diff"
	echo "exit $(cat "$at/rc"), $(grep -c '^<' "$at/diff") of $(wc -l <"$TMP/plain/$2/out") cases: $(
		head -n 1 "$at/err") $(sed -n 's/^> //p' "$at/diff" | head -n "${SHOW:-2}" | tr '\n' ' ')"
}

# attempted MODE PART: nothing, or what is wrong with the number of transactions.
attempted() {
	[ $1 != plain ] && [ $1 != emulated-plain ] || return
	[ -s "$TMP/$1/$2/sums" ] || { echo 'no data file'; return; }
	attempts=$(total attempts "$TMP/$1/$2/sums") commits=$(total commits "$TMP/$1/$2/sums")
	case $1 in
	profile) [ "$attempts" -eq 0 ] || echo "$attempts attempts" ;;
	emulated-100)
		[ "$attempts" -gt 0 ] && [ "$commits" -eq 0 ] ||
			echo "$commits commits in $attempts attempts"
		;;
	*) [ "$commits" -gt 0 ] || echo "no commit in $attempts attempts" ;;
	esac
}

parts=${*:-mutex cond rwlock spin c11}
modes=profile
if "$elide" doctor --json 2>/dev/null | grep -q '"rtm_usable": true'; then
	modes="$modes native"
else
	skip conformance-native 'RTM cannot be used on this processor'
fi
why=$(lacks emulator plain)
if [ -z "$why" ] && "$elide" run -q --emulate true; then
	modes="$modes emulated-plain emulated-0 emulated-30 emulated-100"
else
	skip conformance-emulated "${why:-elide run --emulate fails}"
fi
modes=${MODES:-$modes}

for part in $parts; do run "plain $part"; done
for mode in $modes; do
	for part in $parts; do set -- "$@" "$mode $part"; done
done
case "$# $modes" in
*emulated-0*) for part in $parts; do set -- "$@" "broken-$part $part"; done ;;
esac
printf '%s\n' "$@" | grep ' ' >"$TMP/cells"
xargs -P 2 -L 1 sh "$here/run.sh" --cell <"$TMP/cells"

for part in $parts; do
	out=$TMP/plain/$part/out
	if [ "$(cat "$TMP/plain/$part/rc")" -ne 0 ] || ! [ -s "$out" ]; then
		not_ok "plain-$part" "exit $(cat "$TMP/plain/$part/rc") after: $(tail -n 1 "$out")"
	elif grep -q 'deadline\|absurdly' "$out"; then
		not_ok "plain-$part" "$(grep 'deadline\|absurdly' "$out" | head -n 2)"
	else
		ok "plain-$part ($(wc -l <"$out") cases)"
	fi
	# What this machine refuses: no call but the first is tried there.
	for error in $(sed -n 's/.*: refused //p' "$out" | sort -u); do
		case $error in
		22) why='22: a mutex with a priority ceiling is for threads with a real-time priority' ;;
		*) why=$error ;;
		esac
		skip "conformance-$part-refused" "$(grep -c ": refused $error\$" "$out") combinations: the first lock answers $why"
	done
	for mode in $modes; do
		why=$(differs $mode $part)
		[ -n "$why" ] || why=$(attempted $mode $part)
		[ -z "$why" ] && ok "$mode-$part" || not_ok "$mode-$part" "$why"
	done
	# A wrapper of each kind that is broken on purpose.
	case $modes in
	*emulated-0*)
		why=$(differs broken-$part $part)
		case $why in
		'' | 'no result') not_ok "broken-$part-is-caught" "it passed: $why" ;;
		*) ok "broken-$part-is-caught" ;;
		esac
		;;
	esac
done
finish
