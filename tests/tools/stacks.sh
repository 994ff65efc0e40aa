#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
# elide stacks: planted deadlocks, each way to wait, refusals, and that the process is not harmed.
# SEED chooses the moments of the kills.

. "$(dirname "$0")/common.sh"
waiters=$O/tests/tools/waiters
source=$here/waiters.c
SEED=${SEED:-$RANDOM}
pids=()
clean_up() { [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null; }

# line WORDS: number of the line of the program with these words.
line() { grep -nF -- "$1" "$source" | head -n 1 | cut -d : -f 1; }

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

# start MODE KIND [N]: a process that waits, with the library or plain; to $pid.
start() {
	local mode=$1 preload=

	shift
	[ "$mode" = plain ] || preload=$O/lib/libelide-preload.so
	rm -f "$tmp/to"
	mkfifo "$tmp/to"
	: >"$tmp/from"
	LD_PRELOAD=$preload "$waiters" "$@" <"$tmp/to" >"$tmp/from" &
	pid=$!
	pids+=("$pid")
	exec 7>"$tmp/to"
	await grep -q ready "$tmp/from"
}

stop() {
	exec 7>&-
	wait "$pid" 2>/dev/null
	pids=()
	rm -f elide.data*
}

# shows NAME RC TEXT...: each text is in a line of the output, as soon as all threads wait.
shows() {
	local name=$1 want=$2 tries=200 missing

	shift 2
	while :; do
		run_elide stacks "$pid"
		missing=
		for text in "$@"; do
			grep -qE -- "$text" out || missing=${missing:-$text}
		done
		[ $rc -eq "$want" ] || missing=${missing:-"exit $want, not $rc"}
		[ -n "$missing" ] || break
		[ $((tries--)) -gt 0 ] || break
		sleep 0.05
	done
	if [ -n "$missing" ]; then
		not_ok "$name" "no \"$missing\": $(cat out err)"
	else
		ok "$name"
	fi
}

wait_line=$(line '/* deadlock */')
for mode in elide plain; do
	start $mode cycle 2
	shows "$mode: deadlock of two" 1 '^deadlock: 2 threads wait for each other$' \
		'^  thread [0-9]+ "cycle" waits for the mutex first_lock \(0x[0-9a-f]+\), held by thread [0-9]+ "cycle", in take_both waiters.c:'"$wait_line"'$' \
		'^  thread [0-9]+ "cycle" waits for the mutex second_lock \(.*\), held by thread [0-9]+ "cycle", in take_both' \
		'^  holds the mutex first_lock' 'stopped for [0-9.]+[mnu]?s'
	stop
	start $mode cycle 3
	shows "$mode: deadlock of three" 1 '^deadlock: 3 threads wait for each other$' \
		'^  thread .* waits for the mutex third_lock .*, held by thread' \
		'^  holds the mutex third_lock'
	# Each waits for the next: the holders are the waiters.
	sed -n 's/^  thread \([0-9]*\) .* held by thread \([0-9]*\) .*/\1 \2/p' out >pairs
	if [ "$(cut -d ' ' -f 1 pairs | sort)" = "$(cut -d ' ' -f 2 pairs | sort)" ] &&
		[ "$(wc -l <pairs)" -eq 3 ]; then
		ok "$mode: the cycle is closed"
	else
		not_ok "$mode: the cycle is closed" "$(cat pairs)"
	fi
	"$elide" stacks --json "$pid" >json
	if [ "$(jq -r '[.deadlocks[0] | length, ([.[]] | unique | length)] | @csv' json)" = 3,3 ] &&
		[ "$(jq '[.threads[] | select(.waits.for == "lock") | .holds[].lock] | sort | join(" ")' json)" = \
			'"first_lock second_lock third_lock"' ] &&
		[ "$(jq '[.threads[].frames[] | select(.symbol == "take_both").line] | unique | length' json)" -eq 1 ]; then
		ok "$mode: JSON"
	else
		not_ok "$mode: JSON" "$(jq -c '{deadlocks, threads: [.threads[] | {waits, holds}]}' json)"
	fi
	stop
	start $mode relock
	shows "$mode: a thread that waits for itself" 1 '^deadlock: 1 thread waits for itself$' \
		'waits for the mutex third_lock'
	stop
	start $mode gone
	shows "$mode: a holder that has ended" 0 \
		'waits for the mutex first_lock .*, held by thread [0-9]+, which is none of this process or has ended'
	stop
	start $mode fork
	parent=$pid pid=$(pgrep -P "$pid")
	shows "$mode: a lock that was held across fork" 0 \
		"waits for the mutex first_lock .*, held by thread [0-9]+ of its parent, process $parent: unless they share"
	"$elide" stacks --json "$pid" | jq -e "any(.threads[].waits; .holder_parent == $parent)" >/dev/null &&
		ok "$mode: fork, JSON" || not_ok "$mode: fork, JSON" "$("$elide" stacks --json "$pid")"
	kill -KILL "$pid"
	pid=$parent
	stop
	start $mode signal
	shows "$mode: a thread in a signal handler" 0 \
		'"trapped" waits for the mutex first_lock .*, held by thread [0-9]+ "waiters"$' \
		'^ +[0-9]+  want_first waiters.c' '^ +[0-9]+  wanting_handler waiters.c' \
		'^ +[0-9]+  __restore_rt  libc.so.6$' \
		'^ +[0-9]+  trapped waiters.c:'"$(line '/* trapped */')"'$' \
		'^ +[0-9]+  trapped_thread waiters.c:'"$(($(line '/* trapped */') + 5))"'$'
	stop
	start $mode kinds
	shows "$mode: each way to wait" 0 \
		'"holder" is in the system call pause' '  holds the mutex first_lock' \
		'hold_for_ever waiters.c:'"$(($(line 'pthread_mutex_lock(&first_lock);') + 2))" \
		'"wanting" waits for the mutex first_lock .*, held by thread [0-9]+ "holder"$' \
		'"timed" waits for the mutex first_lock .*, for a limited time$' \
		'"reader" waits for the rwlock table_lock .*, to read, held by thread [0-9]+ "writer"' \
		'"cond" waits for the condition variable filled \(' '"sem" waits for the semaphore units' \
		'"joiner" waits for the end of a thread: thread [0-9]+ "holder"'
	if [ $mode = elide ] && ! grep -q '"spinner" waits for the spinlock spinner' out; then
		not_ok "$mode: spinlock" "$(grep spinner out)"
	elif [ $mode = elide ] && grep -q libelide out; then
		not_ok "$mode: no frames of ours" "$(grep libelide out)"
	else
		ok "$mode: spinlock, no frames of ours"
	fi
	stop
done

ELIDE_ORDER=1 start elide cycle 2
shows 'ELIDE_ORDER: where it was acquired' 1 \
	'holds the mutex first_lock .*, acquired in take_both waiters.c:'"$(line 'pthread_mutex_lock(one);')"
stop

start elide many 200
# Do all threads but the holder and the first wait, with their holder? They are one line, below the holder.
all_wait() {
	run_elide stacks "$pid"
	grep -qE '^thread [0-9]+ "[a-z]+" x199 \(also ([0-9]+, ){8}\.\.\.\) waits for the mutex first_lock .*, held by thread' out
}
await all_wait
holder=$(sed -n 's/.* x199 .* held by thread \([0-9]*\) .*/\1/p' out)
[ "$(sed -n 's/^thread \([0-9]*\) .*/\1/p' out | head -n 1)" = "$holder" ] &&
	[ "$(grep -c '^thread ' out)" -eq 3 ] && ok 'equal threads once, the holder first' ||
	not_ok 'equal threads once, the holder first' "$(cat out)"
[ "$("$elide" stacks --json "$pid" | jq '.threads | length')" -eq 201 ] && ok 'JSON has each thread' ||
	not_ok 'JSON has each thread' "$("$elide" stacks --json "$pid" | head -c 1000)"
shows '200 threads' 0 ': 201 threads, stopped for'
echo "note elide stacks: 201 threads are $(sed -n '1s/.*\(stopped for [^;]*\).*/\1/p' out)"
stop

start plain vfork
shows 'a thread in vfork()' 0 '^thread .* "vfork" could not be stopped in time'
refuses 'a thread' "is a thread of process $pid" \
	"$elide" stacks "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)"
stop

# A number that no process has: it was one's that has ended.
sh -c : &
ended=$!
wait $ended
refuses 'no such process' "process $ended is not there" "$elide" stacks $ended
refuses 'no number' 'x is not a process id' "$elide" stacks x
refuses 'no process' 'needs a process id' "$elide" stacks
# The parent says which child has ended: a python3 that is a script may have children of its own.
python3 -c 'import os, time
child = os.fork()
if child == 0:
    os._exit(0)
print(child, flush=True)
time.sleep(600)' >zombie &
pids+=($!)
await grep -q . zombie
zombie=$(cat zombie)
await grep -q '^State:	Z' "/proc/$zombie/status"
refuses 'a zombie' 'has ended and waits for its parent' "$elide" stacks "$zombie"
kill -KILL "${pids[@]}"
wait 2>/dev/null
pids=()

start plain run
mkfifo hold
"$waiters" trace "$pid" >traced <hold &
tracer=$!
pids+=("$tracer")
exec 8>hold
await grep -q ready traced
refuses 'traced already' "is traced already by process $tracer \(waiters\)" "$elide" stacks "$pid"
exec 8>&-
wait "$tracer"
refuses 'no ptrace(2)' 'ptrace\(2\) is denied here to all processes' \
	"$waiters" deny "$elide" stacks "$pid"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups' &&
	$nobody test -x "$elide"; then
	refuses 'another user' 'belongs to user root' $nobody "$elide" stacks "$pid"
	if $nobody unshare -U true 2>/dev/null; then
		refuses 'another user namespace' 'is in another user namespace' \
			$nobody unshare -U "$elide" stacks "$pid"
	else
		skip 'another user namespace' 'unshare -U is not allowed here'
	fi
	stop
	cp "$waiters" setuid && chmod 4755 setuid && chmod 755 "$tmp"
	mkfifo other
	$nobody ./setuid run >traced <other &
	pids+=($!)
	exec 8>other
	await grep -q ready traced
	refuses 'setuid' 'runs with the rights of user root \(setuid\)' $nobody "$elide" stacks $!
	exec 8>&-
	$nobody "$waiters" undumpable >traced <other &
	pids+=($!)
	exec 8>other
	await grep -q ready traced
	refuses 'undumpable' 'has or had more rights than its user' $nobody "$elide" stacks $!
	exec 8>&-
	wait 2>/dev/null
else
	for name in 'another user' 'another user namespace' setuid undumpable; do
		skip "$name" 'needs root, and a build directory that others can enter'
	done
	stop
fi
if [ -d /proc/2 ] && grep -q '^Name:	kthreadd' /proc/2/status; then
	refuses 'a thread of the kernel' 'is a thread of the kernel' "$elide" stacks 2
else
	skip 'a thread of the kernel' 'none is seen here'
fi

if bwrap --dev-bind / / --unshare-pid --proc /proc true 2>/dev/null; then
	mkfifo inner
	bwrap --dev-bind / / --unshare-pid --proc /proc "$waiters" cycle 2 >traced <inner &
	pids+=($!)
	exec 8>inner
	await grep -q ready traced
	pid=$(for task in /proc/[0-9]*/status; do
		awk '/^Name:/ { name = $2 } /^Pid:/ { pid = $2 } /^NSpid:/ { n = NF }
			END { if (name == "waiters" && n > 2) print pid }' "$task" 2>/dev/null
	done | tail -n 1)
	# Within chroot(2) the kernel names the container's files as outside of it.
	if [ -e "/proc/$pid/root$(readlink "/proc/$pid/exe")" ]; then
		shows 'a container: thread ids of its own' 1 '^deadlock: 2 threads wait for each other$'
	else
		skip 'a container: thread ids of its own' 'its files have other names: this is a chroot'
	fi
	exec 8>&-
	wait 2>/dev/null
else
	skip 'a container: thread ids of its own' 'bwrap does not run here'
fi

if [ -z "$(lacks emulator)" ]; then
	mkfifo emulated
	"$elide" run -q --emulate --cores=2 -- "$waiters" kinds >traced <emulated 2>/dev/null &
	pids+=($!)
	exec 8>emulated
	await grep -q ready traced
	pid=$(for task in /proc/[0-9]*/status; do
		awk -v launcher=$! '/^Pid:/ { pid = $2 } /^PPid:/ && $2 == launcher { print pid }' \
			"$task" 2>/dev/null
	done | tail -n 1)
	refuses 'an emulated machine' 'runs on an emulated machine' "$elide" stacks "$pid"
	kill -KILL "$pid"
	exec 8>&-
	wait 2>/dev/null
else
	skip 'an emulated machine' 'rtmgrind is not built'
fi
pids=()

python3 "$here/stacks-harm.py" "$elide" "$waiters" "$SEED" >harm 2>&1 || failed=$((failed + 1))
cat harm
nr=$((nr + $(grep -c '^ok\|^not ok' harm)))
finish
