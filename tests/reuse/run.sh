#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# A lock that is destroyed or forgotten, and whose address another lock has, of another class,
# kind or process-shared mark, is never counted or elided as the old one. The report of each run
# is held against what the program has counted itself: reuse.c, objects.c. REUSE_SEEDS the number
# of seeds. Knows nothing of how the library looks locks up, except for the faults that build.mk
# plants.
#
# A failure prints the command that does the same again.

. "$(dirname "$0")/../script.sh"
# What the library is expected to do, and does not do yet: yes runs the tests of it.
# Locks beyond ELIDE_MAX_LOCKS are counted with their site.
LIMIT_IS_EXACT=${LIMIT_IS_EXACT:-yes}
# Another thread may load an object at the addresses of one that is gone before dlclose() has returned.
RACING_UNLOAD=${RACING_UNLOAD:-no}

REUSE_SEEDS=${REUSE_SEEDS:-1}
# Seconds; a run takes less than one, a hang would take for ever.
LIMIT=${LIMIT:-120}
bin=$O/tests/reuse
points=$O/tests/torture/points.so
cd "$tmp" || exit 1
no_settings
# More than any case has.
most_locks=400000

preloads reuse

# What is compared of a row: all, without the number of locks, or the acquisitions of a site alone.
compare=all compare_as='' always=
part() {
	case $compare in
	all) cat ;;
	counts) cut -d '|' -f 1-5 ;;
	sites) awk -F '|' 'NF > 1 { n[$2 "|" $3] += $5 } END { for (site in n) print site "|" n[site] }' ;;
	esac | sort
}

# differences TRUTH FOUND: how many rows differ, and the first of them.
differences() {
	awk -F '|' '
	{
		n = NF
		while (n > 1 && $n ~ /^[0-9]+$/)
			n--
		key = $1
		for (i = 2; i <= n; i++)
			key = key "|" $i
		says = NF > n ? substr($0, length(key) + 2) : "so"
	}
	FNR == NR { true[key] = says; next }
	{ found[key] = says }
	END {
		for (key in found)
			if (!(key in true))
				true[key] = "none"
		for (key in true)
			if (true[key] != (key in found ? found[key] : "none") && nr++ < 3)
				text = text ", " key ": " true[key] ", reported: " (key in found ? found[key] : "none")
		if (nr)
			print nr " rows differ" text
	}' "$1" "$2"
}

# wrong_in TRUTH DATA: nothing, or what is wrong in the data file of a process.
wrong_in() {
	"$O/bin/elide" report --csv --no-children --top 0 "$2" >report 2>&1 || cat report
	awk -v always="$always" -f "$here/rows.awk" report | part >found
	part <"$1" >wanted
	differences wanted found
	[ "$(sum bad "$2")" = 0 ] || echo "$(sum bad "$2") rows contradict themselves, or it is no data file"
	[ $compare = sites ] || [ -z "$(sum dropped "$2" | tr -d 0,)" ] || echo "dropped: $(sum dropped "$2")"
	"$O/tests/preload/sums" "$2" | tr ' ' '\n' | grep '^misuse.*=[^0]'
}

# what_failed RC: nothing, or why the run is a failure.
what_failed() {
	local file children=0

	if [ "$1" -eq 124 ]; then
		echo hangs
	elif [ "$1" -ne 0 ] || [ -s err ]; then
		echo "exit $1: $(head -n 3 err)"
	else
		for file in truth truth.*; do
			[ -e "$file" ] || continue
			[ "$file" = truth ] || children=$((children + 1))
			wrong_in "$file" "data${file#truth}"
		done
		[ "$children" = "$(find . -name 'data.*' | wc -l)" ] || echo "$children children, files: $(echo data.*)"
	fi
}

# attempt [NAME=VALUE]... COMMAND...: why it failed in $why, the command in $replay.
attempt() {
	rm -f truth truth.* data data.* .data*
	set -- env "ELIDE_MAX_LOCKS=$most_locks" "$@"
	replay=$(printf "'%s' " "$@")
	timeout -k 5 "$LIMIT" "$@" >out 2>err
	why=$(what_failed $? | tr '\n' ' ')
}

# program CASE SEED ARG...: the command in $program.
program() {
	local case=$1 seed=$2

	shift 2
	case $case in
	objects) program=("$bin/objects" --truth=truth "--seed=$seed" "$@" "$bin") ;;
	*) program=("$bin/reuse" --truth=truth "--seed=$seed" "$@" "$case") ;;
	esac
	compare=${compare_as:-all}
	# What a lock is called is counted by the parent, too; an object's lock is known from its first call.
	case $compare-$case in all-fork | all-objects) compare=counts ;; esac
}

# run HOW CASE SEED ARG...: one run. HOW: a mode, restrict, points-MODE, points-restrict, emulated-POLICY,
# broken-FAULT:N, emulated-broken-FAULT:N, fault-NAME, late-MODE.
run() {
	local how=$1

	shift
	program "$@"
	always=
	case $how in
	restrict)
		attempt ELIDE_MODE=elide ELIDE_POLICY=restrict ELIDE_OUTPUT=data LD_PRELOAD="$first$lib" \
			"${program[@]}"
		;;
	points-restrict)
		attempt ELIDE_MODE=elide ELIDE_POLICY=restrict ELIDE_OUTPUT=data "TORTURE_POINTS=$2" \
			LD_PRELOAD="$first$points" "${program[@]}"
		;;
	points-*)
		attempt "ELIDE_MODE=${how#*-}" ELIDE_OUTPUT=data "TORTURE_POINTS=$2" \
			LD_PRELOAD="$first$points" "${program[@]}"
		;;
	emulated-broken-*)
		attempt ELIDE_POLICY=fixed ELIDE_OUTPUT=data "REUSE_BROKEN=${how#*-*-}" "VALGRIND_LIB=$O/libexec/elide" \
			LD_PRELOAD="$bin/broken.so" "$O/libexec/elide/launch" --tool=rtmgrind -q \
			"${program[@]}"
		;;
	emulated-*)
		[ "$how-$compare" != emulated-fixed-all ] || always=1
		attempt "$O/bin/elide" run --quiet --emulate --cores=4 "--seed=$2" "--policy=${how#*-}" \
			-o data -- "${program[@]}"
		;;
	broken-*)
		attempt ELIDE_MODE=profile ELIDE_OUTPUT=data "REUSE_BROKEN=${how#*-}" \
			LD_PRELOAD="$first$bin/broken.so" "${program[@]}"
		;;
	fault-*)
		attempt ELIDE_MODE=profile ELIDE_OUTPUT=data LD_PRELOAD="$first$bin/broken-${how#*-}.so" \
			"${program[@]}"
		;;
	late-*)
		attempt "ELIDE_MODE=${how#*-}" ELIDE_OUTPUT=data \
			LD_PRELOAD="$first$lib:$bin/lib-late.so" "${program[@]}"
		;;
	*) attempt "ELIDE_MODE=$how" ELIDE_OUTPUT=data LD_PRELOAD="$first$lib" "${program[@]}" ;;
	esac
}

# is_right HOW CASE ARG...: it is right with each seed.
is_right() {
	local how=$1 case=$2 seed

	shift 2
	for ((seed = 1; seed <= REUSE_SEEDS; seed++)); do
		run "$how" "$case" "$seed" "$@"
		[ -z "$why" ] || { not_ok "$how-$case" "seed $seed: $why; replay: $replay"; return; }
	done
	ok "$how-$case"
}

# is_caught WHY HOW CASE ARG...: the planted fault is seen, for that reason.
is_caught() {
	local wanted=$1 how=$2 case=$3

	shift 3
	run "$how" "$case" 1 "$@"
	if [ -z "$why" ]; then
		not_ok "$how-is-caught-by-$case" "it passed: $replay"
	elif [[ $why == *"$wanted"* ]]; then
		ok "$how-is-caught-by-$case"
	else
		not_ok "$how-is-caught-by-$case" "$why"
	fi
}

natively() {
	local how case

	for how in profile elide; do
		for case in own hand hot inside fork grow; do
			is_right $how $case
		done
		[ -n "$first" ] || is_right $how objects
	done
	is_right restrict hand
	# Threads of which each is delayed at the places where others could get in between.
	for case in own hand fork; do
		is_right points-profile $case
		is_right points-elide $case
	done
	is_right points-profile grow --rounds=40000
	is_right points-restrict own --threads=8 --rounds=20000
	[ -z "$first" ] || { skip objects 'AddressSanitizer keeps what was loaded at those addresses'; return; }
	is_right points-profile objects
}

emulated() {
	is_right emulated-fixed own --rounds=4000
	is_right emulated-fixed hand --rounds=60
	is_right emulated-fixed inside --rounds=2000
	is_right emulated-fixed same-section --rounds=1000
	is_right emulated-fixed fork --rounds=4000
	is_right emulated-fixed objects --rounds=20
	# With states of their own, which a new lock at the address does not have.
	is_right emulated-adaptive hot --rounds=12
}

planted() {
	# The library of the faults, without one.
	is_right broken-none:1 hand
	for case in own hand; do
		for fault in gone:100 late:10 new:100 unmarked:100; do
			is_caught 'rows differ' broken-$fault $case
		done
		is_caught 'rows differ' fault-trusting $case
	done
	is_caught 'rows differ' broken-gone:100 grow
	[ -n "$first" ] || is_caught 'rows differ' fault-unforgetting objects
	[ -n "$no_emulator" ] || is_caught 'of a process-shared spinlock were elided' emulated-broken-unmarked:1 hand --rounds=8
}

# Most locks are beyond the limit: which of them, and so what they are called, is not compared.
limited() {
	local most=$most_locks case

	compare_as=sites most_locks=64
	for case in own hand grow fork; do
		is_right profile $case
		is_right elide $case
	done
	# Of a lock that it does not know, the library does not know whether it is process-shared.
	[ -n "$no_emulator" ] || is_right emulated-fixed own --rounds=4000
	compare_as='' most_locks=$most
}

no_emulator=$(lacks emulator)
[ -z "$no_emulator" ] || skip emulated "$no_emulator"

natively
[ -n "$no_emulator" ] || emulated
planted

if [ "$LIMIT_IS_EXACT" = yes ]; then
	limited
else
	skip limit 'locks beyond ELIDE_MAX_LOCKS are dropped'
fi
if [ "$RACING_UNLOAD" = yes ]; then
	REUSE_SEEDS=20 is_right late-profile objects --racing --rounds=200
else
	skip racing-unload 'a thread may load an object before another one has returned from dlclose()'
fi
finish
