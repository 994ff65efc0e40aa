#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# elide ctl on a running process.

. "$(dirname "$0")/../script.sh"
cd "$tmp" || exit 1

# check NAME WHAT COMMAND...: the command succeeds; if not, why.
check() {
	local name=$1

	shift
	if "$@" >check.out 2>&1; then ok "$name"; else not_ok "$name" "$(tail -n 1 check.out)"; fi
}

# refused NAME WORDS ARG...: exit code 2 and one line with the words.
refused() {
	local name=$1 words=$2 rc

	shift 2
	timeout 20 "$elide" ctl "$@" >out 2>err
	rc=$?
	if [ $rc -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qF -- "$words" err; then
		not_ok "$name" "exit $rc: $(cat out err)"
	else
		ok "$name"
	fi
}

# value KEY [FILE]: of the report's totals
value() {
	"$elide" report --json -i "${2:-elide.data}" |
		sed -n '/^ "totals"/,/^ }/s/^  "'"$1"'": \([0-9]*\),*$/\1/p'
}

# tick: have the program go on for some thousand sections; how many it has made goes to $sections.
tick() {
	local until tries=60000

	echo >&"$to"
	read -r sections <&"$from"
	until=$((sections + 5000))
	while [ "$sections" -lt "$until" ] && [ $((tries--)) -gt 0 ]; do
		echo >&"$to"
		read -r sections <&"$from"
	done
}

coproc LOOPER { ELIDE_POLICY=fixed LD_PRELOAD=$O/lib/libelide-preload.so exec "$O/tests/tools/looper"; }
pid=$LOOPER_PID
# Its own descriptors the shell closes as soon as the program has ended.
exec {from}<&"${LOOPER[0]}" {to}>&"${LOOPER[1]}"
eval "exec ${LOOPER[1]}>&-"
clean_up() { kill "$pid" 2>/dev/null; }
tick

check snapshot timeout 20 "$elide" ctl "$pid" snapshot
check 'snapshot is a data file' "$elide" report -i elide.data.snapshot
check 'snapshot elsewhere' timeout 20 "$elide" ctl -o other "$pid" snapshot
first=$(value acquired other)
tick
check 'snapshot stands still' test "$(value acquired other)" -eq "$first"
check 'process goes on' test "$(value acquired)" -gt "$first"

if grep -qw rtm /proc/cpuinfo; then
	check off timeout 20 "$elide" ctl "$pid" off
	tick # sections that are open
	before=$(value elided) real=$(value not_attempted)
	tick
	check 'off: nothing is elided' test "$(value elided)" -eq "$before"
	check 'off: the program goes on' test "$(value not_attempted)" -gt "$real"
	check 'off: the report says so' grep -q 'switched off by elide ctl' <("$elide" report)
	check on timeout 20 "$elide" ctl "$pid" on
	tick
	check 'on: elided again' test "$(value elided)" -gt "$before"
else
	skip 'off and on' 'this processor has no RTM'
fi

all=$(value acquired)
check reset timeout 20 "$elide" ctl "$pid" reset
rest=$(value acquired)
check 'reset: what was before is left out' test "$rest" -lt "$all"
tick
check 'reset: counting goes on' test "$(value acquired)" -gt "$rest"

refused 'no such process' 'is not there' 99999999 off
refused 'a process without the library' "is running without elide's library" $$ off
# Switched off for good: it says why it cannot be switched on.
ELIDE_MODE=off LD_PRELOAD=$O/lib/libelide-preload.so sleep 600 &
off_pid=$!
tries=6000
until grep -q libelide-preload "/proc/$off_pid/maps" || [ $((tries--)) -eq 0 ]; do sleep 0.01; done
refused 'a process with ELIDE_MODE=off' 'was started with ELIDE_MODE=off' "$off_pid" on
kill "$off_pid"
wait "$off_pid" 2>/dev/null
refused 'not a process id' 'is not a process id' 12x off
refused 'unknown verb' 'nearest is reset' "$pid" rest
refused 'no verb' 'needs a process id' "$pid"
refused 'output with reset' '--output goes with snapshot' -o x "$pid" reset
refused 'snapshot to nowhere' 'No such file or directory' -o nowhere/x "$pid" snapshot

exec {to}>&-
read -r sections <&"$from"
wait "$pid"
check 'every section was counted' test "$(value acquired)" -le "$sections"
rm -f elide.data.base
check 'every section was counted, base gone' test "$(value acquired)" -eq "$sections"

finish
