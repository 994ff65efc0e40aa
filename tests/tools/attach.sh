#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=12
# elide attach and detach: counts that are right, a second time, refusals, containers, and that the process is
# not harmed, whatever step elide is killed at. ATTACH_ROUNDS: of the kills at each step.

. "$(dirname "$0")/common.sh"
attached=$O/tests/tools/attached
ROUNDS=${ATTACH_ROUNDS:-1}
pids=()
clean_up() { [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null; }

# await COMMAND...: until it succeeds, or the test has failed.
await() {
	local tries=1000

	until "$@" 2>/dev/null; do
		if [ $((tries--)) -eq 0 ]; then
			not_ok "$*" 'never came'
			exit 1
		fi
		sleep 0.02
	done
}

# start COMMAND...: a process that answers, to $pid.
start() {
	rm -f to from
	mkfifo to
	: >from
	"$@" <to >from &
	pid=$!
	pids+=("$pid")
	exec 7>to
	await grep -q ready from
}

lines() { [ "$(wc -l <from)" -ge "$1" ]; }

# ask [WORD]: the process's own numbers: $acquired, $errors, $what.
ask() {
	local nr=$(($(wc -l <from) + 1))

	echo "${1:-}" >&7
	await lines $nr
	read -r acquired errors what <<<"$(tail -n 1 from)"
}

stop() {
	exec 7>&-
	wait "$pid" 2>/dev/null
	rm -f elide.data*
}

# unharmed NAME: the process goes on, and has noticed no error.
unharmed() {
	local before

	ask
	before=$acquired
	sleep 0.02
	ask
	if [ "$errors" -ne 0 ]; then
		not_ok "$1" "$errors errors: $what"
	elif [ "$acquired" -le "$before" ]; then
		not_ok "$1" 'the process does not go on'
	else
		ok "$1"
	fi
}

# between NAME LEAST MOST VALUE
between() {
	if [ "$4" -ge "$2" ] && [ "$4" -le "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "$4 is not from $2 to $3"
	fi
}

# counted: acquisitions of the mutex "counted" in the report of elide.data.
counted() {
	"$elide" report --json -i elide.data >json && jq '[.rows[] | select(.lock == "counted") | .acquired] | add' json
}

if [ -n "${SANITIZED:-}" ] || ldd "$attached" | grep -q 'lib[at]san'; then
	skip attach 'a sanitizer has to be loaded first'
	finish
fi
start "$attached" 2
refuses 'detach: not attached' 'is not attached to' "$elide" detach "$pid"
# The first number is before the calls are bound, the last one after they are unbound.
for time in first second; do
	ask
	begin=$acquired
	run_elide attach "$pid"
	[ $rc -eq 0 ] && grep -q "^elide: attached to process $pid (attached), [0-9]* threads, one of which" err &&
		ok "$time time: attach" || not_ok "$time time: attach" "exit $rc: $(cat out err)"
	ask
	from_bound=$acquired
	sleep 0.3
	ask
	to_bound=$acquired
	refuses "$time time: attached already" 'is attached to already' "$elide" attach "$pid"
	# Held since before it was attached to.
	[ $time = second ] || ask release
	run_elide detach "$pid"
	[ $rc -eq 0 ] && grep -q "^elide: detached from process $pid" err &&
		ok "$time time: detach" || not_ok "$time time: detach" "exit $rc: $(cat out err)"
	ask
	between "$time time: acquisitions" $((to_bound - from_bound)) $((acquired - begin + 8)) "$(counted)"
	jq -e '.misuse == [] and .mode == "profile" and all(.rows[]; .lock != "relocked" or .acquired == 0)' json >/dev/null && ok "$time time: no misuse" ||
		not_ok "$time time: no misuse" "$(jq -c '.misuse, [.rows[] | [.lock, .acquired]]' json)"
	# 10 threads that began before, one of which ends in between: since the attachment, not since their start.
	jq -e '.thread_time.total_ns / 1e9 / .program.elapsed_s | . > 6 and . < 11.5' json >/dev/null && ok "$time time: account" ||
		not_ok "$time time: account" "$(jq -c '.thread_time, .program.elapsed_s' json)"
	ls .elide.data* >/dev/null 2>&1 && not_ok "$time time: name of the file" "$(ls -A)" || ok "$time time: name of the file"
done
run_elide attach --for 100ms -o other.data "$pid"
[ $rc -eq 0 ] && grep -q "counted in $tmp/other.data; next: elide report -i '$tmp/other.data'" err && [ -s other.data ] &&
	ok 'for a time' || not_ok 'for a time' "exit $rc: $(cat err)"
unharmed 'the process is not harmed'

# Killed at each step: all of them are met once the command ends before the step.
for ((round = 1; round <= ROUNDS; round++)); do
	step=0 rc=0 tries=400
	while [ $rc -eq 0 ] && [ $((tries--)) -gt 0 ]; do
		timeout 60 "$O/tests/tools/kill-at" $((++step)) "$elide" attach --for 10ms "$pid" >out 2>err
		rc=$?
		"$elide" detach "$pid" 2>/dev/null
		# The thread has done what an elide wanted that was killed, after the next one had looked.
		if [ $rc -eq 1 ] && grep -q 'is attached to already\|by another elide' err; then
			rc=0 step=$((step - 1))
		fi
	done
	[ $rc -eq 1 ] && [ $step -gt 20 ] && ok "killed at each of $((step - 1)) steps: met" ||
		not_ok 'killed at each step: met' "exit $rc at step $step: $(cat err)"
	unharmed "killed at each of $((step - 1)) steps: not harmed"
done
refuses 'no such file' "cannot write /nowhere/x with the rights of user $(id -u)" "$elide" attach -o /nowhere/x "$pid"
refuses 'no RTM' 'cannot elide: ' "$elide" attach --mode=elide "$pid"
kill -STOP "$pid"
await grep -q '^State:	T' "/proc/$pid/status"
refuses 'stopped' 'is stopped: kill -CONT' "$elide" attach "$pid"
kill -CONT "$pid"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --clear-groups test -x "$O/bin/elide" 2>/dev/null; then
	refuses 'another user' 'belongs to user' setpriv --reuid=65534 --clear-groups "$elide" attach "$pid"
else
	skip 'another user' 'needs root, and a build directory that others can enter'
fi
run_elide attach "$pid"
ask
kill -KILL "$pid"
wait "$pid" 2>/dev/null
await test ! -d "/proc/$pid"
[ "$(counted)" -gt 0 ] && ok 'killed while attached: counted' || not_ok 'killed while attached: counted' "$(cat err)"
stop

refuses 'no such process' 'is not there' "$elide" attach "$pid"
start "$attached" -1
refuses 'seccomp' 'has a seccomp filter' "$elide" attach "$pid"
stop
LD_PRELOAD=$O/lib/libelide-preload.so start "$attached" 1
refuses 'started under elide' 'was started under elide, and is profiled already: elide report' "$elide" attach "$pid"
refuses 'started under elide: detach' 'is profiled to its end' "$elide" detach "$pid"
stop
# bin/elide is static where no sanitizer is.
"$O/bin/elide" run -q --mode=off -- sleep 60 &
static=$!
pids+=($static)
await grep -q elide "/proc/$static/maps"
refuses 'static' 'is statically linked' "$elide" attach $static
kill $static
wait $static 2>/dev/null

# A container whose files are others: the library is copied there, the data are in its /tmp.
if bwrap --dev-bind / / --tmpfs "$O/lib" --tmpfs /tmp --bind "$tmp" "$tmp" --unshare-pid --proc /proc true 2>/dev/null; then
	# The build may be in /tmp.
	cp "$attached" "$tmp/attached"
	start bwrap --dev-bind / / --tmpfs "$O/lib" --tmpfs /tmp --bind "$tmp" "$tmp" --unshare-pid --proc /proc "$tmp/attached" 1
	outer=$pid
	pid=$(for task in /proc/[0-9]*/status; do
		awk '/^Name:/ { name = $2 } /^Pid:/ { pid = $2 } /^NSpid:/ { n = NF }
			END { if (name == "attached" && n > 2) print pid }' "$task" 2>/dev/null
	done | tail -n 1)
	container=/proc/$pid/root
	run_elide attach --for 100ms "$pid"
	if [ $rc -eq 0 ] && grep -q "counted in $container/tmp/elide.data" err; then
		cp "$container/tmp/elide.data" elide.data
		[ "$(counted)" -gt 0 ] && ok container || not_ok container "$(cat json)"
	else
		not_ok container "exit $rc: $(cat err)"
	fi
	[ -z "$(find "$container/tmp" -name '*libelide*')" ] && ok 'container: no copy stays' ||
		not_ok 'container: no copy stays' "$(find "$container/tmp")"
	unharmed 'container: not harmed'
	pid=$outer
	stop
else
	skip container 'bwrap does not run here'
fi
pids=()
finish
