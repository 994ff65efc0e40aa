#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25 parts=2
#
# The report beside the truth: programs that time themselves run in mode profile and print what is true,
# in lines that truth.h and judge.jq explain; the report must say the same. Counts and names are exact; times
# lie between the program's bounds, give or take 5 % and three standard errors, which the report has in
# hold_error.
#
# LOAD=N runs all of it beside N processes that compute. SCENARIOS is a list of patterns: these alone.

. "$(dirname "$0")/../script.sh"
needs truth jq plain
no_settings
export LC_ALL=C # a point in EPOCHREALTIME
cd "$tmp" || exit 1
truth=$O/tests/truth

# Figures that the report does not have right yet, as patterns. One that is right makes the test fail: remove it here.
EXPECTED_TO_FAIL='
'

# Figures that are right in some runs: a thread may arrive for the next round of the barrier before the others look who
# ended this one.
VARYING='
	barrier: blocker barrier/barrier'

load=()
clean_up() { [ ${#load[@]} -eq 0 ] || kill "${load[@]}" 2>/dev/null; }
for ((i = 0; i < ${LOAD:-0}; i++)); do
	(while :; do :; done) &
	load+=($!)
done

# listed NAME PATTERNS: one of the lines matches.
listed() {
	local pattern

	while read -r pattern; do
		# shellcheck disable=SC2053 # a pattern
		[[ -z $pattern || $1 != $pattern ]] || return 0
	done <<<"$2"
	return 1
}

# said NAME WHY: what was compared; WHY is empty if the report is right.
said() {
	if listed "$1" "$EXPECTED_TO_FAIL"; then
		[ -n "$2" ] && echo "note $1: $2" || not_ok "$1" 'mended, take it off the list'
	elif [ -z "$2" ]; then
		ok "$1"
	elif listed "$1" "$VARYING"; then
		echo "note $1: $2"
	else
		not_ok "$1" "$2"
	fi
}

# judge NAME BEGAN BEFORE AFTER: compares the report in json with the lines in out, into judged. The launcher was
# started at BEGAN; the report is of a time between BEFORE, at which the program still ran or printed its last
# line, and AFTER.
judge() {
	jq -rn --rawfile out out --slurpfile report json --slurpfile chain chain --argjson began "$2" --argjson before "${3:-null}" \
		--argjson after "$4" -f "$here/judge.jq" >judged 2>err || not_ok "$1" "$(head -c 300 err out json)"
}

# said_all NAME: what is in judged.
said_all() {
	local name why

	while IFS=$'\t' read -r name why; do
		said "$1: $name" "$why"
	done <judged
}

# is_right NAME: is all in judged, but for what is expected to fail?
is_right() {
	local name why

	while IFS=$'\t' read -r name why; do
		[ -z "$why" ] || listed "$1: $name" "$EXPECTED_TO_FAIL$VARYING" || return 1
	done <judged
}

compare() {
	judge "$@"
	said_all "$1"
}

# wanted NAME: in this part, and among SCENARIOS.
wanted() {
	local pattern

	mine || return
	set -f
	for pattern in ${SCENARIOS:-*}; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 != $pattern ]] || { set +f; return 0; }
	done
	set +f
	return 1
}

# profiled OPTION... -- COMMAND...: runs it into a new data file; $began and $after are the times around it.
profiled() {
	rm -rf data* .data*
	began=$EPOCHREALTIME
	timeout -k 5 120 "$elide" run -q --mode=profile -o data "$@" >out 2>err </dev/null
	rc=$?
	after=$EPOCHREALTIME
}

# scenario NAME COMMAND...: the program ends by itself, or kills itself after it has printed what is true. A
# figure fails if it is wrong in three consecutive runs: an estimate is off by more than three standard errors in
# some runs, on a busy machine because one section lasted until its thread had a processor again.
scenario() {
	local run

	wanted "$1" || return
	for run in 1 2 3; do
		profiled "${options[@]}" -- "${@:2}"
		"$elide" report --json data >json 2>>err
		"$elide" report --by chain --json data >chain 2>>err
		grep -q '^truth at' out || { not_ok "$1" "exit $rc: $(head -c 300 err)"; return; }
		judge "$1" "$began" '' "$after"
		# A figure that was right in an earlier run is right.
		if [ $run -gt 1 ]; then
			awk -F '\t' -v OFS='\t' 'FNR == NR { if ($2 == "") right[$1]; next }
				$1 in right { $2 = "" } { print }' kept judged >both
			mv both judged
		fi
		is_right "$1" && break
		cp judged kept
	done
	said_all "$1"
}
options=()

for period in 63 64 65 100 128 256; do
	for phase in 0 1 $((period / 2)); do
		scenario "alias $period $phase" "$truth/hold" alias $period $phase
	done
done
scenario alternate "$truth/hold" alternate
scenario long-if-contended "$truth/hold" long-if-contended
scenario one-long "$truth/hold" one-long
scenario 'nested 1' "$truth/hold" nested 1
scenario 'nested 8' "$truth/hold" nested 8
scenario 'nested 64' "$truth/hold" nested 64
scenario overlapping "$truth/hold" overlapping
scenario handed-over "$truth/hold" handed-over
scenario recursive "$truth/hold" recursive
scenario errorcheck "$truth/hold" errorcheck
scenario rwlock "$truth/hold" rwlock
scenario spinlock "$truth/hold" spinlock
scenario trylock "$truth/hold" trying 0
scenario timedlock "$truth/hold" trying 1
scenario condition "$truth/hold" condition
scenario 'in-step 0' "$truth/hold" in-step 0
scenario 'in-step 63' "$truth/hold" in-step 63
for threads in 1 2 4 8 32; do
	scenario "threads $threads" "$truth/hold" threads $threads
done
scenario sites "$truth/hold" sites
for name in asleep short semaphore barrier turns parking wrapped processor; do
	scenario $name "$truth/wait" $name
done
for name in asleep short condition relock made; do
	scenario "glib $name" "$truth/glib" $name
done
scenario openmp env OMP_WAIT_POLICY=passive "$truth/openmp"
for name in mixed crowded brief; do
	scenario "account $name" "$truth/account" $name
done
# Beside others that compute the answer is another one.
for name in sleeping-logger full-queue idle-pool starving-writer short-sections long-sections turns crowded hang; do
	[ "${LOAD:-0}" -gt 0 ] || scenario "answer $name" "$truth/answer" $name
done
for name in exit term kill deadlock pool idle; do
	scenario "end by $name" "$truth/end" $name
done
scenario deposit "$truth/names" deposit
scenario members "$truth/members" known
for name in own pi semaphore qmutex qsemaphore absl tbb latch atomic notification many; do
	scenario "futex $name" "$truth/runtimes" $name
done
for name in mutex static rwlock condvar park; do
	scenario "rust $name" "$truth/runtimes-rust" $name
done
options=(--set ORDER=1)
scenario 'order without a cycle' "$truth/order" ordered
scenario 'order with a cycle' "$truth/order" opposite
options=()

# A program that still runs, and the same when the waits have ended.
live() {
	local before tries=600

	mkfifo in
	rm -rf data* .data*
	began=$EPOCHREALTIME
	timeout -k 5 120 "$elide" run -q --mode=profile -o data -- "$truth/end" live <in >>out 2>err &
	exec 9>in
	until grep -q '^truth at' out || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	before=$EPOCHREALTIME
	"$elide" report --json data >json 2>>err
	echo null >chain
	compare live "$began" "$before" "$EPOCHREALTIME"
	: >out
	exec 9>&-
	wait $!
	after=$EPOCHREALTIME
	"$elide" report --json data >json 2>>err
	compare 'live, ended' "$began" '' "$after"
}
: >out
if wanted live; then live; fi

# same_names RUNS WHAT NAME...: a lock has one name and one class, whichever call is the first one in a run, in
# the report of the run, and of several runs as one. ? as a name: any one of a lock call.
same_names() {
	local runs=$1 what=$2 first=(put get race) names

	shift 2
	names=$(printf '%s\n' "$@" | sort)
	: >rows
	rm -f same.*
	for ((i = 0; i < runs; i++)); do
		profiled -- "$truth/names" "$what" "${first[i % 3]}"
		"$elide" report --json data | jq -r '.rows[] | [.lock, .class] | @tsv' >>rows
		mv data "same.$i"
	done
	"$elide" report --json --merge same.0 same.1 | jq -r '.rows[] | [.lock, .class] | @tsv' >>rows
	cut -f 1 rows | sed 's/^used in .*/?/' | sort -u >distinct
	said "$what: names" "$([ "$(cat distinct)" = "$names" ] || echo "said $(paste -sd , distinct), true $*")"
	sort -u rows >distinct
	said "$what: classes" "$([ "$(wc -l <distinct)" -eq $# ] || echo "said $(cut -f 2 distinct | paste -sd ,), true $#")"
	"$elide" diff --json same.0 same.1 | jq -r '.rows[].status' | sort -u >distinct
	said "$what: diff" "$([[ $(paste -sd , distinct) =~ ^(same|changed|changed,same)$ ]] || cat distinct)"
}
if wanted 'one lock'; then same_names 20 queue Queue::m; fi
if wanted 'two kinds'; then same_names 6 store Store::m Store::s; fi
if wanted 'one helper'; then same_names 6 helper '?'; fi

# What a lock is that may be one of several is not said.
unknown_members() {
	profiled -- "$truth/members" unknown
	"$elide" report --json data | jq -r '.rows[] | .lock' >names
	said 'unknown members: names' \
		"$([ "$(grep -c '^used in ' names)" -eq 3 ] || echo "said $(paste -sd , names)")"
}
if wanted 'unknown members'; then unknown_members; fi

# What is not true is found: every number is half as large again, every word another one.
planted() {
	local wrong

	profiled -- "$truth/wait" asleep
	"$elide" report --json data >json 2>>err
	awk '$2 != "at" { for (i = NF > 3 ? 4 : 3; i <= NF; i++) $i = $i ~ /^[0-9.]+$/ ? $i * 1.5 : $i "x" }
		{ print }' out >planted
	jq -rn --rawfile out planted --slurpfile report json --argjson chain null --argjson began "$began" --argjson before null \
		--argjson after "$after" -f "$here/judge.jq" >judged
	wrong=$(grep -c "$(printf '\t')said" judged)
	if [ "$wrong" -eq 5 ]; then ok 'what is not true'; else not_ok 'what is not true' "$(cat judged)"; fi
}
if wanted 'what is not true'; then planted; fi

finish
