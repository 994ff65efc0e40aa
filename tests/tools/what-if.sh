#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=15
# elide what-if: against what can be computed, and against the program with shorter sections; refusals.

. "$(dirname "$0")/common.sh"
serial=$O/tests/tools/serial

expect 'no program' 2 '' 'elide: no program given: elide what-if [OPTION...] -- PROGRAM [ARGUMENT...]' what-if
for list in 0 101 50x 50%% 50, '' 1,2,3,4,5,6,7,8,9; do
	expect "not a list: '$list'" 2 '' "elide: --faster=$list: not up to 8 numbers from 0.1 to 100" \
		what-if --faster "$list" -- true
done
expect 'a site without a lock' 2 '' 'elide: --site needs --lock' what-if --site put -- true
expect 'an option of other commands' 2 '' 'elide: unknown option --mode' what-if --mode=off -- true

why=$(lacks emulator jq)
if [ -n "$why" ]; then
	skip 'what-if emulated' "$why"
	finish
fi

# ask ARG...: the JSON of a what-if to out.
ask() {
	run_elide what-if --json "$@"
	[ $rc -eq 0 ] && [ ! -s err ] || not_ok "what-if $*" "exit $rc: $(cat err)"
}

# plain ARG...: nanoseconds of the run as it is.
plain() { ask --lock "$@" && jq .elapsed_ns out; }

# near NAME GOT WANT PERCENT
near() {
	awk -v got="$2" -v want="$3" -v p="$4" 'BEGIN { exit !(want > 0 && got >= want * (1 - p / 100) && got <= want * (1 + p / 100)) }' &&
		ok "$1" || not_ok "$1" "$2 ns, not $3 within $4 %"
}

# Parts of 400 sections of 10,000 cycles at 1 GHz, which are serialised. How long sleeping threads take to wake up is
# not a part of that.
for kind in spin sleep; do
	ask --lock queue --faster 25,50 -- "$serial" $kind 10000
	[ $kind = sleep ] || near "$kind: 25 % of 4 ms" "$(jq '.elapsed_ns - .what_if[0].elapsed_ns' out)" 1000000 10
	[ $kind = sleep ] || near "$kind: 50 % of 4 ms" "$(jq '.elapsed_ns - .what_if[1].elapsed_ns' out)" 2000000 10
	quarter=$(jq '.what_if[0].elapsed_ns' out) half=$(jq '.what_if[1].elapsed_ns' out)
	near "$kind: as with sections of 75 %" "$quarter" "$(plain queue --faster 1 -- "$serial" $kind 7500)" 5
	near "$kind: as with sections of 50 %" "$half" "$(plain queue --faster 1 -- "$serial" $kind 5000)" 5
done
ask --lock queue --faster 50 -- "$serial" sites 10000
site="get serial.c:$(grep -n 'spin_lock(&queue)' "$here/serial.c" | sed -n 's/:.*//;2p')"
all=$(jq '.elapsed_ns - .what_if[0].elapsed_ns' out)
ask --lock queue --site "$site" --faster 50 -- "$serial" sites 10000
near 'one of two sites' "$(jq '.elapsed_ns - .what_if[0].elapsed_ns' out)" $((all / 2)) 10
[ "$(jq -r '.what_if[0] | "\(.lock) \(.site)"' out)" = "queue $site" ] && ok 'names of lock and site' ||
	not_ok 'names of lock and site' "$(cat out)"
ask --lock gate --faster 90 -- "$serial" mutex 10000
now=$(jq '.what_if[0].elapsed_ns' out)
near 'mutex: as with shorter sections' "$now" "$(plain gate --faster 1 -- "$serial" mutex 1000)" 10
ask --emulate=haswell --lock queue --faster 50 -- "$serial" spin 10000
now=$(jq '.what_if[0].elapsed_ns' out)
near 'on a machine with caches' "$now" "$(plain queue --emulate=haswell --faster 1 -- "$serial" spin 5000)" 5

# The first five by waiting; own has four locks, each of which gains nothing.
ask -- "$serial" spin 10000
cp out first
[ "$(jq -r '.what_if | map(.lock) | unique | length' out)" = 5 ] && [ "$(jq -r '.what_if[0].lock' out)" = queue ] &&
	[ "$(jq '.what_if[:3] | map(.faster_percent) == [25, 50, 100]' out)" = true ] &&
	[ "$(jq '.what_if[3:] | map(select(.gain_percent > 3)) | length' out)" = 0 ] && ok 'the first five' ||
	not_ok 'the first five' "$(cat out)"
ask -- "$serial" spin 10000
same 'the answer repeats' first out
# An environment of another size must not matter.
STRANGER=$(printf '%0500d' 0) ask --seed 2 --lock queue --faster 50 -- "$serial" spin 10000
near 'another seed' "$(jq '.elapsed_ns - .what_if[0].elapsed_ns' out)" 2000000 10
run_elide what-if --faster 50,100 -- "$serial" kinds 10000
[ $rc -eq 0 ] && [ ! -s err ] && [ "$(grep -c '%$' out)" = 10 ] && ok 'no kind of lock leaves a thread faster' ||
	not_ok 'no kind of lock leaves a thread faster' "exit $rc: $(cat out err)"
expect 'no such lock' 2 '' 'elide: what-if: the program has locked no nix; there are gate, own, own+0x28, own+0x50, own+0x78' \
	what-if --lock nix -- "$serial" mutex 10
expect 'no such site' 2 '' "elide: what-if: queue is not locked at nix, but at put serial.c:$(grep -n 'spin_lock(&queue)' "$here/serial.c" | sed 's/:.*//;q')" \
	what-if --lock queue --site nix -- "$serial" spin 10
expect 'no lock' 2 '' 'elide: what-if: the program has locked no lock whose releases are seen' what-if -- true
expect 'not found' 2 '' 'elide: nosuch-program: not found' what-if nosuch-program
finish
