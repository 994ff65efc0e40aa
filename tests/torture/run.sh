#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30
#
# Torture: run.sh [SEED...]. Every kind of lock and everything that can happen around one,
# natively where RTM works and on the emulated machine. The seeds are 1 to $TORTURE_SEEDS, or with
# LONG_MINUTES set 1 to 3, each for a third of that time with the seeds SEED, SEED + 1000, ...
#
# A failure prints the command that does the same again. On the emulated
# machine it does so exactly; natively the threads meet in another way.

. "$(dirname "$0")/../script.sh"
TORTURE_SEEDS=${TORTURE_SEEDS:-3}
LONG_MINUTES=${LONG_MINUTES:-0}
# Seconds; a run takes one or two, a hang would take for ever.
LIMIT=${LIMIT:-240}
torture=$O/tests/torture/torture
points=$O/tests/torture/points.so
rule='*!off_*=off'
cd "$tmp" || exit 1
: >results

# quoted WORD...: as the shell reads it.
quoted() { for word; do printf "'%s' " "$word"; done; }

# counted: is every acquisition in the data file, or was it said to be dropped?
counted() {
	acquired=$(sed -n 's/^acquired //p' out)
	[ -n "$acquired" ] || return 0
	got=$(($(sum acquired) + $(sum dropped | tr ',' '+')))
	[ "$got" = "$acquired" ] || echo "$acquired acquisitions, the file has $got"
}

# what_failed HOW RC: nothing, or why the run is a failure.
what_failed() {
	if [ "$2" -eq 124 ]; then
		echo "hangs"
	elif [ "$2" -ne 0 ] || [ -s err ]; then
		echo "exit $2: $(head -n 3 err | tr '\n' ' ')"
	elif [ "$1" != plain ]; then
		counted
		[ "$(sum bad)" = 0 ] || echo "$(sum bad) rows contradict themselves"
		case $1 in
		profile | points-profile | points-restrict) ;;
		emulated-100)
			[ "$(sum attempts)" -gt 0 ] || echo 'nothing was tried'
			[ "$(sum commits)" = 0 ] || echo 'something was committed'
			;;
		*) [ "$(sum attempts)" -gt 0 ] || echo 'nothing was tried' ;;
		esac
	fi
}

# one HOW SEED ARG...: a run of the torture program, its outcome in results.
one() {
	how=$1 seed=$2
	shift 2
	name=$(echo "$how-$*" | sed 's/ --[a-z]*=[0-9]*//g; s/-*--[a-z]*=[0-9]* */-/g; s/ /-/g')
	set -- "$torture" "--seed=$seed" "$@"
	case $how in
	plain) ;;
	profile) set -- env ELIDE_MODE=profile ELIDE_OUTPUT=data LD_PRELOAD="$lib" "$@" ;;
	points)
		set -- env ELIDE_POLICY=fixed "ELIDE_LOCKS=$rule" ELIDE_OUTPUT=data \
			TORTURE_POINTS="$seed" LD_PRELOAD="$points" "$@"
		;;
	points-profile)
		set -- env ELIDE_MODE=profile ELIDE_OUTPUT=data TORTURE_POINTS="$seed" \
			LD_PRELOAD="$points" "$@"
		;;
	points-restrict)
		set -- env ELIDE_MODE=elide ELIDE_POLICY=restrict ELIDE_OUTPUT=data \
			TORTURE_POINTS="$seed" LD_PRELOAD="$points" "$@"
		;;
	emulated-*)
		set -- "$O/bin/elide" run --quiet --emulate --seed="$seed" \
			--abort-rate="${how#*-}" --policy=fixed --locks="$rule" \
			-o data -- "$@"
		;;
	*)
		set -- env ELIDE_POLICY="$how" "ELIDE_LOCKS=$rule" ELIDE_OUTPUT=data \
			LD_PRELOAD="$lib" "$@"
		;;
	esac
	rm -f data* .data*
	timeout "$LIMIT" "$@" >out 2>err
	rc=$?
	# After 10,000 aborts of a thread without a commit.
	[ "$how" != emulated-100 ] || sed -i '/^elide: elision switched off: transactions have stopped committing$/d' err
	why=$(what_failed "$how" $rc | tr '\n' ' ')
	if [ -z "$why" ]; then
		echo "$name ok" >>results
	else
		echo "$name ${why}; replay: $(quoted "$@")" >>results
	fi
}

subjects='mutex normal recursive errorcheck adaptive rwlock rwlock-writer rwlock-nonrecursive mtx
mtx-recursive word'

# natively HOW SEED: all that runs on this processor.
natively() {
	for s in $subjects; do
		one "$1" "$2" exclusion "$s"
	done
	# A spinlock whose holder is not running costs the others their time slices.
	one "$1" "$2" --rounds=1000 --threads=3 exclusion spin
	one "$1" "$2" --rounds=2000 exclusion
	one "$1" "$2" cond
	one "$1" "$2" waits
	one "$1" "$2" fork
	one "$1" "$2" signals
	one "$1" "$2" --rounds=100 cancel rwlock
	one "$1" "$2" --rounds=100 cancel
}

# mixed_kinds SEED: many threads on locks of all kinds, those with extras and semaphores among them.
mixed_kinds() {
	one plain "$1" --threads=18 mixed
	one profile "$1" --threads=18 mixed
	one points-profile "$1" --threads=18 --rounds=100 mixed
	one points-restrict "$1" --threads=18 --rounds=100 mixed
	one points-restrict "$1" --threads=18 --rounds=100 mixed inherit
}

# The same with fewer rounds, as the emulated machine is a hundred times slower.
emulated() {
	how=emulated-$1
	one "$how" "$2" --rounds=100 exclusion
	one "$how" "$2" --rounds=100 exclusion rwlock-nonrecursive
	one "$how" "$2" --rounds=50 cond
	one "$how" "$2" --rounds=30 waits
	one "$how" "$2" --rounds=3 fork
	one "$how" "$2" --rounds=15 signals
	one "$how" "$2" --rounds=5 cancel
	one "$how" "$2" --rounds=60 threads
	one "$how" "$2" --rounds=1500 locks
}

all_emulated() {
	for s in $subjects spin; do
		one emulated-1 "$1" --rounds=100 exclusion "$s"
	done
	for rate in 1 30 100; do
		emulated $rate "$1"
	done
}

# churns HOW SEED: ten thousand threads, a million locks.
churns() {
	one "$1" "$2" threads
	one "$1" "$2" locks
}

# The oracles themselves: the subject that locks nothing, and the library that elides beside a
# holder, must be caught, or no other result means anything.
known_broken() {
	timeout "$LIMIT" "$torture" exclusion broken >out 2>err
	if [ $? -eq 1 ]; then
		echo 'broken-lock-is-caught ok'
	else
		echo "broken-lock-is-caught it passed: $(tail -n 1 err)"
	fi >>results
	[ "$native" ] || return
	seed=1
	while [ $seed -le 20 ]; do
		ELIDE_POLICY=damon ELIDE_LOCKS=$rule ELIDE_OUTPUT=$tmp/data \
			LD_PRELOAD=$O/tests/preload/ignores-holder.so \
			timeout "$LIMIT" "$torture" --seed=$seed exclusion mutex >out 2>err || break
		seed=$((seed + 1))
	done
	if [ $seed -le 20 ]; then
		echo 'broken-library-is-caught ok'
	else
		echo 'broken-library-is-caught it passed with 20 seeds'
	fi >>results
}

# round SEED FIRST: everything with one seed; what takes long with the first one only.
round() {
	one plain "$1" --rounds=2000 exclusion
	mixed_kinds "$1"
	if [ "$native" ]; then
		natively fixed "$1"
		natively points "$1"
		[ "$2" ] && natively adaptive "$1" && churns adaptive "$1"
	fi
	[ "$2" ] || return 0
	one profile "$1" --rounds=2000 exclusion
	# Writers that find readers waiting as they release.
	one profile "$1" --rounds=2000 exclusion rwlock
	one profile "$1" signals
	one profile "$1" cond
	one profile "$1" waits
	# Each wait and its end, at the points of their global-lock paths.
	one points-profile "$1" --rounds=500 cond
	one points-profile "$1" --rounds=500 waits
	# Threads that find a lock held and are parked.
	one points-restrict "$1" --rounds=1000 exclusion
	one points-restrict "$1" --rounds=500 exclusion rwlock
	one points-restrict "$1" --rounds=500 cond
	one points-restrict "$1" --rounds=500 waits
	one points-restrict "$1" signals
	one points-restrict "$1" fork
	one points-restrict "$1" --rounds=50 cancel
	churns profile "$1"
	[ "$emulator" ] && all_emulated "$1"
	return 0
}

# A handler that forks in the middle of a global-lock path; the child returns into it. Signal 14 is SIGALRM.
interrupted() {
	TORTURE_SIGNAL=14 ELIDE_MODE=profile ELIDE_OUTPUT=$tmp/data LD_PRELOAD=$points \
		timeout 60 "$O/tests/semantics/cases" handler-forks >out 2>err
	if [ "$(cat out)" = 'exact, 0 failed' ]; then
		echo 'fork-in-slow-path ok'
	else
		echo "fork-in-slow-path $(cat out err | head -n 1)"
	fi >>results
}

# Events in global-lock paths: see slow.c.
events='locks forks vforks jumps ends deferred async exits unloads fifo'
slow=$O/tests/torture/slow
slow_under='' # what runs it
slow_at=''    # :POINT, the only one where there are events

# slow_failed EVENT RC: nothing, or why the run of slow is a failure.
slow_failed() {
	wanted=0
	[ "$1" = exits ] && wanted=7
	if [ "$2" -ne $wanted ] || [ -s err ]; then
		[ "$2" -eq 124 ] && echo hangs
		echo "exit $2: $(head -n 3 err | tr '\n' ' ')"
		return
	fi
	for file in data*; do
		[ "$(sum bad "$file")" = 0 ] ||
			echo "$file has rows that contradict themselves, or is none"
	done
	for word in unlock_foreign destroy_held relock; do
		[ "$(sum misuse_$word)" = 0 ] || echo "$word is reported, which nobody did"
	done
	[ "$(sum state)" = 2 ] || echo 'the data file was not closed'
	# A process that exits has threads that do not come to an end.
	[ "$1" = exits ] && return
	acquired=$(sed -n 's/^acquired //p' out) most=$(sed -n 's/^interrupted //p' out)
	got=$(($(sum acquired) + $(sum dropped | tr ',' '+'))) least=$acquired
	# After a commit the section's inner lock is counted in a global-lock path, out of which a handler may jump.
	[ "$(sum commits)" -gt 0 ] && least=$((acquired - most))
	[ "$got" -ge "$least" ] && [ "$got" -le $((acquired + most)) ] ||
		echo "$acquired acquisitions, $most interrupted, the file has $got"
	kept=$(sed -n 's/^kept //p' out)
	[ "$most" -gt 0 ] || [ "$(sum misuse_exit_held)" = "$kept" ] ||
		echo "$kept threads ended with a lock, the file has $(sum misuse_exit_held)"
}

# slow_run EVENT SEED [LIBRARY [LIMIT]]: why it failed in $why. Every other seed watches orders.
slow_run() {
	rm -f data* .data*
	set -- "$1" "$2" "${3:-$points}" "${4:-$LIMIT}"
	replay="$(quoted env $slow_mode ELIDE_ORDER=$(($2 % 2)) ELIDE_OUTPUT=data TORTURE_EVENT="$2$slow_at" \
		TORTURE_POINTS="$2" LD_PRELOAD="$3" $slow_under "$slow" "--seed=$2" --rounds=10 "$1")"
	eval timeout "$4" "$replay" >out 2>err
	rc=$?
	why=''
	[ $rc -eq 77 ] || why=$(slow_failed "$1" $rc | tr '\n' ' ')
}

# slow_one NAME EVENT SEED: its outcome in results.
slow_one() {
	slow_run "$2" "$3"
	if [ $rc -eq 77 ]; then
		echo "slow-$2 skip $(cat out)" >>results
	elif [ -z "$why" ]; then
		echo "$1-$2 ok" >>results
	else
		echo "$1-$2 ${why}; replay: $replay" >>results
	fi
}

# A few on the emulated machine, where sections are elided, on the shortest way with even seeds.
slow_emulated() {
	slow_under="$O/libexec/elide/launch --tool=rtmgrind -q"
	slow_mode="VALGRIND_LIB=$O/libexec/elide"
	for event in locks forks jumps unloads; do
		slow_one slow-emulated $event 1
		slow_one slow-emulated $event 2
	done
	slow_under=''
}

# A library goes while a global-lock path asks the loader of another thread's call in it. Without what
# makes up for that one run in three ends with a fault.
slow_unloads() {
	slow_mode='ELIDE_MODE=profile' slow_at=:global_module
	for seed in $(seq 1 15); do
		slow_one slow-object unloads "$seed"
	done
	slow_at=''
}

# slow_seeds FIRST LAST: an event each, natively.
slow_seeds() {
	for seed in $(seq "$1" "$2"); do
		set -- $events
		shift $((seed % 10))
		slow_mode='ELIDE_MODE=profile'
		slow_one slow "$1" "$seed"
		[ "$native" ] || continue
		slow_mode='ELIDE_MODE=elide'
		slow_one slow-elided "$1" "$seed"
	done
}

# The library whose global-lock paths signals interrupt, and the one that admits them too early.
slow_broken() {
	slow_mode='ELIDE_MODE=profile'
	for broken in interruptible late; do
		for event in locks jumps async; do
			slow_run $event 1 "$O/tests/torture/slow-$broken.so" 5
			if [ "$why" ]; then
				echo "slow-$broken-is-caught-by-$event ok"
			else
				echo "slow-$broken-is-caught-by-$event it passed"
			fi >>results
		done
	done
}

# points_met: each point of lib/points.def was met, but for those that cannot be here.
points_met() {
	# Samples of loads come from the counters of a processor that has RTM, and only with ELIDE_PMU=abort.
	# Elision is switched off where transactions have stopped committing, which they do not here.
	# The library is loaded at the start of the process: tests/tools/attach.sh has the other case.
	never='loads_entered loads_publish loads_done off_entered off_publish off_done
late_entered late_publish late_done'
	# What only an elided section meets.
	elided='prepared begun subscribed held nested release compared commit committed aborted fallback
abort_entered abort_publish abort_done event_entered event_publish event_done'
	[ "$native$emulator" ] || never="$never $elided"
	missing=$(sed -n 's/^ELIDE_POINT(\([a-z_]*\),.*/\1/p' "$root/lib/points.def" |
		while read -r point; do
			case " $(echo $never) " in *" $point "*) continue ;; esac
			grep -qx "$point" met || echo "$point"
		done | tr '\n' ' ')
	if [ -z "$missing" ]; then
		echo 'points-met ok'
	else
		echo "points-met not: $missing"
	fi >>results
}

native='' emulator=''
ELIDE_OUTPUT=$tmp/data LD_PRELOAD=$lib "$torture" --rounds=10 exclusion mutex >/dev/null 2>&1
[ "$(sum mode)" = 2 ] && native=yes
[ "$native" ] || skip native 'RTM does not work here'
why=$(lacks emulator)
if [ -z "$why" ]; then emulator=yes; else skip emulated "$why"; fi

# The names of the points that are met, see points.c.
export TORTURE_MET="$tmp/met"
known_broken
interrupted
slow_broken
rm -f "$TORTURE_MET"
slow_seeds 1 $((10 * TORTURE_SEEDS))
slow_unloads
[ "$emulator" ] && slow_emulated
if [ "$LONG_MINUTES" -gt 0 ]; then
	for seed in ${*:-1 2 3}; do
		end=$(($(date +%s) + LONG_MINUTES * 20))
		while [ "$(date +%s)" -lt $end ]; do
			round $seed first
			seed=$((seed + 1000))
		done
	done
else
	first=yes
	for seed in ${*:-$(seq 1 "$TORTURE_SEEDS")}; do
		round "$seed" "$first"
		first=''
	done
fi

points_met

# A line for each kind of run, with the first failure.
awk '
{ name = $1 }
$2 == "skip" { skip[name] = substr($0, length(name) + 7); next }
{ runs[name]++ }
$2 != "ok" || NF > 2 {
	failed[name]++
	if (!(name in why))
		why[name] = substr($0, length(name) + 2)
}
!(name in seen) { seen[name] = 1; order[++n] = name }
END {
	for (i = 1; i <= n; i++) {
		name = order[i]
		if (failed[name])
			printf "not ok %s: %d of %d runs, %s\n", name, failed[name], runs[name], why[name]
		else
			printf "ok %s (%d runs)\n", name, runs[name]
	}
	for (name in skip)
		print "skip " name ": " skip[name]
}' results >lines
adopt lines torture $?
finish
