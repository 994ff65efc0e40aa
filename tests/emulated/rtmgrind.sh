#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=50 parts=2
#
# The emulator's tests: rtmgrind.sh [NAME...];
#
# Only unfriendly_measured runs an RTM instruction outside of the emulator, on the processor whose
# answers are in unfriendly.measured.

. "$(dirname "$0")/tests.sh"
BIN=$O/tests/emulated
MEASURED=$here/unfriendly.measured
export VALGRIND_LIB=$O/libexec/elide
WORK=$tmp
# Longest run of one program, seconds of real time: forty times the time of the slowest.
LIMIT=240

# emu OPTION... -- PROGRAM ARG...: runs it under the emulator, whose log is $WORK/log
emu() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout -k 5 "$LIMIT" valgrind --tool=rtmgrind --log-file="$WORK/log" "${options[@]}" "$@"
}

# want PATTERN FILE: the file has a line that matches
want() {
	grep -Eq -- "$1" "$2" || fail "no '$1' in: $(tail -n 3 "$2" | tr '\n' ' ')"
}

# total NAME: prints a number of the last totals line in the log
total() {
	sed -n "s/.* starts .*/&/;s/.*[ (]$1 \([0-9]*\).*/\1/p" "$WORK/log" | tail -n 1
}

# checks OPTION... -- PROGRAM ARG...: runs a program that prints only what is wrong
checks() {
	emu "$@" >"$WORK/out" 2>&1 || fail "status $?: $(head -n 3 "$WORK/out" | tr '\n' ' ')"
}

test_semantics() { checks -- "$BIN/semantics"; }
test_detail() { checks -- "$BIN/detail"; }
test_evidence() { checks --stacks=yes -- "$BIN/evidence"; }
test_evidence_caches() { checks --stacks=yes --model=skylake-client -- "$BIN/evidence" caches; }

test_vtime() {
	local mhz seed

	for mhz in 1000 700 3400; do
		for seed in 1 2; do
			checks --model=flat:mhz=$mhz --seed=$seed -- "$BIN/vtime" $mhz || return
		done
	done
}

# With clocks of which a cycle is no whole number of nanoseconds; two runs print the same times.
test_timers() {
	local mhz seed

	for mhz in 700 3400; do
		for seed in 1 2; do
			checks --model=flat:mhz=$mhz --seed=$seed -- "$BIN/timers" || return
			mv "$WORK/out" "$WORK/first"
			checks --model=flat:mhz=$mhz --seed=$seed -- "$BIN/timers" || return
			cmp -s "$WORK/first" "$WORK/out" || fail "other times at $mhz MHz: $(
				diff "$WORK/first" "$WORK/out" | head -n 3 | tr '\n' ' ')" || return
		done
	done
}

# same_times PROGRAM: two runs print the same times, with each of two seeds
same_times() {
	local seed

	for seed in 1 2; do
		checks --seed=$seed -- "$BIN/$1" || return
		mv "$WORK/out" "$WORK/first"
		checks --seed=$seed -- "$BIN/$1" || return
		cmp -s "$WORK/first" "$WORK/out" || fail "other times with seed $seed: $(
			diff "$WORK/first" "$WORK/out" | head -n 3 | tr '\n' ' ')" || return
	done
}

test_deadlines() { same_times deadlines; }
test_ended() { same_times ended; }
# The program that a child begins runs on the host, and then in the emulator.
test_family() {
	checks --trace-children=no -- "$BIN/family" && checks --trace-children=yes -- "$BIN/family"
}

test_futexes() { checks -- "$BIN/futexes"; }
test_answers() { checks -- "$BIN/answers"; }
test_own_name() { checks -- "$BIN/own-name"; }
test_outside() { checks -- "$BIN/outside"; }

# On a core each, and on few.
test_fatal() {
	local cores

	for cores in 1 2 8; do
		checks --cores=$cores -- "$BIN/fatal" || fail "$cores cores: $(cat "$WORK/why")" || return
	done
}

# The other process runs on the host, and then in the emulator.
test_peers() {
	local follow

	for follow in no yes; do
		checks --trace-children=$follow -- "$BIN/peers" ||
			fail "--trace-children=$follow: $(cat "$WORK/why")" || return
	done
}

test_limits() { checks -- "$BIN/limits"; }

# With the C library's elision and without.
test_races() {
	local seed kind

	for seed in 1 2 3 4 5; do
		for kind in cond sem mutex; do
			checks --seed=$seed -- "$BIN/races" $kind || return
			GLIBC_TUNABLES=glibc.elision.enable=1 checks --seed=$seed \
				--abort-rate=30 --abort-from-start=yes -- "$BIN/races" $kind ||
				fail "$kind, seed $seed: $(cat "$WORK/why")" || return
		done
	done
}

# A program that exec replaces passes its alarm on to the new one.
test_alarm_exec() {
	emu -q --trace-children=yes -- perl -e 'alarm(2); exec("/bin/sleep", "100")' 2>"$WORK/err"
	[ $? = 142 ] || fail "not ended by SIGALRM"
}

# deadlocks CASE PATTERN...: the program is ended, and the log has a line for each pattern
deadlocks() {
	local case=$1 status

	shift
	emu -q -- "$BIN/deadlock" "$case" 2>"$WORK/err"
	status=$?
	[ $status = 3 ] || fail "status $status instead of 3: $(head -n 1 "$WORK/log")" || return
	for pattern in 'Deadlock: ' "$@"; do
		want "$pattern" "$WORK/log" || return
	done
}

test_deadlock_abba() {
	deadlocks abba 'Thread 1 waits for the mutex at .*second_mutex.*, which thread 2 has' \
		'Thread 2 waits for the mutex at .*first_mutex.*, which thread 1 has' \
		'by 0x.*: lock_forwards ' 'by 0x.*: lock_backwards '
}

test_deadlock_missed_signal() {
	deadlocks missed 'Thread 1 waits for a wake-up of the word at .*event' \
		'by 0x.*: pthread_cond_wait' 'by 0x.*: wait_for_event '
}

test_deadlock_joins() {
	deadlocks joins 'Thread 1 waits for the end of thread 2' \
		'Thread 2 waits for the end of thread 1'
}

test_deadlock_inherits() {
	deadlocks inherits 'Thread 1 waits for a wake-up of the word at .*event' \
		'Thread 2 waits for the mutex at .*inheriting_mutex.*, which thread 1 has'
}

# goes_on SIGNAL STATUS OPTION... -- CASE: the program waits without a report, and ends with that
# status. SIGNAL is sent a second after it has begun to wait, none if it is empty.
goes_on() {
	local signal=$1 expected=$2 status

	shift 2
	# The subshell takes bash's messages about signals.
	(
		timeout --preserve-status -k 5 "$LIMIT" valgrind -q --tool=rtmgrind \
			--log-file="$WORK/log" "${@:1:$#-2}" "$BIN/deadlock" "${@: -1}" &
		if [ "$signal" != none ]; then
			until grep -q waits "$WORK/err" || ! kill -0 $!; do sleep 0.1; done
			sleep 1
			kill -s "$signal" $!
		fi
		wait $!
		exit $?
	) 2>"$WORK/err"
	status=$?
	! grep -q Deadlock "$WORK/log" || fail "$* is called a deadlock" || return
	[ $status = "$expected" ] || fail "${*: -1}: status $status instead of $expected"
}

# Status 7: the program's handler of SIGTERM; 143: SIGTERM without a handler; 142: SIGALRM.
test_deadlock_not() {
	goes_on none 142 -- with-alarm && goes_on TERM 7 -- with-handler &&
		goes_on TERM 7 -- with-sigwait && goes_on TERM 143 -- with-shared &&
		goes_on TERM 143 --deadlock=wait -- abba
}

test_threads() { checks -- "$BIN/threads"; }
test_process() { checks --trace-children=yes -- "$BIN/process"; }
# Without elide's library the first region begins them.
test_region_interrupts() {
	checks --model=flat:tick=10000 -- "$BIN/region" interrupts
}

# The counters of the region are those of its hundred transactions, of which none commits.
test_region() {
	checks --abort-rate=100 --abort-from-start=yes --counters="$WORK/counters" -- "$BIN/region" spurious &&
		want '^region.starts 100$' "$WORK/counters" &&
		want '^region.commits 0$' "$WORK/counters" &&
		want '^region.spurious 100$' "$WORK/counters" &&
		want '^region.lost_cycles [1-9][0-9]*$' "$WORK/counters" &&
		want '^RTM_RETIRED.START 400$' "$WORK/counters"
}

# Time begins with main(), or with a library's constructor that looks at it.
test_startup() {
	local how

	for how in startup startup-static; do
		checks -- "$BIN/$how" begins || return
		checks --model=haswell -- "$BIN/$how" begins || return
	done
	for how in clock counter sleep thread process; do
		EARLY=$how LD_PRELOAD=$BIN/startup-early.so checks -- "$BIN/startup" began ||
			fail "$how: $(cat "$WORK/why")" || return
	done
}

test_time_stops() {
	checks -- "$BIN/startup" stops && checks --model=flat:cpi=70 --smt=2 -- "$BIN/startup" stops &&
		checks --model=haswell -- "$BIN/startup" stops && checks -- "$BIN/startup" waits
}

test_hle() { checks --hle=yes -- "$BIN/hle" elides; }
test_hle_ignored() { checks -- "$BIN/hle" ignored; }
test_hle_two_locks() { checks --model=flat:hle=1,hle_locks=2 -- "$BIN/hle" elides; }
test_hle_without_rtm() { bare_exits 0 --hle=no && bare_exits 1 --hle=yes --rtm=no; }

# The lock counts exactly, and most of its sections are elided.
test_hle_seeds() {
	local seed model

	for model in flat:hle=1 haswell; do
		for seed in 1 2 3 4 5; do
			checks --seed=$seed --quantum=30 --model=$model \
				--counters="$WORK/counters" -- "$BIN/hle" elides || return
			[ "$(counter HLE_RETIRED.COMMIT)" -gt 1000 ] ||
				fail "$(counter HLE_RETIRED.COMMIT) elided" || return
			retired_adds_up HLE hle || return
		done
	done
}

# bare_exits STATUS OPTION...: the program without a C library exits with that status
bare_exits() {
	local status=$1

	shift
	emu -q "$@" -- "$BIN/bare"
	[ $? = "$status" ] || fail "not status $status with $*"
}

# counter NAME: prints a counter of the file that --counters wrote
counter() {
	sed -n "s/^$1 //p" "$WORK/counters"
}

# retired_adds_up RTM|HLE PREFIX: starts = commits + aborts = commits + each class, or cause
retired_adds_up() {
	awk -v unit="$1" -v prefix="$2" '
		{ n[$1] = $2 }
		$1 ~ "^" prefix "[.]" { causes += $2 }
		END {
			r = unit "_RETIRED."
			classes = n[r "ABORTED_MEM"] + n[r "ABORTED_UNFRIENDLY"]
			classes += n[r "ABORTED_EVENTS"]
			exit !(n[r "START"] > 0 && n[r "START"] == n[r "COMMIT"] + n[r "ABORTED"] &&
			       n[r "ABORTED"] == causes && causes == classes)
		}' "$WORK/counters" || fail "the counters of $1 do not add up: $(cat "$WORK/counters")"
}

# An abort has one cause and raises several events; the program has aborts of each cause.
test_counters() {
	checks --counters="$WORK/counters" -- "$BIN/semantics" || return
	retired_adds_up RTM rtm || return
	[ "$(counter RTM_RETIRED.START)" = "$(total starts)" ] &&
		[ "$(counter RTM_RETIRED.COMMIT)" = "$(total commits)" ] &&
		[ "$(counter rtm.capacity)" = "$(counter TX_MEM.ABORT_CAPACITY)" ] &&
		[ "$(counter rtm.capacity)" = 3 ] &&
		[ "$(counter rtm.nest)" = "$(counter TX_EXEC.MISC3)" ] &&
		[ "$(counter RTM_RETIRED.ABORTED_MEM)" = 3 ] &&
		[ "$(counter RTM_RETIRED.ABORTED_UNFRIENDLY)" = \
		  $(($(counter rtm.instruction) + $(counter rtm.syscall))) ] &&
		[ "$(counter HLE_RETIRED.START)" = 0 ] ||
		fail "not what the program did: $(cat "$WORK/counters")"
}

test_counters_of_hle() {
	checks --hle=yes --counters="$WORK/counters" -- "$BIN/hle" elides || return
	[ "$(counter TX_MEM.ABORT_HLE_STORE_TO_ELIDED_LOCK)" = 2 ] &&
		[ "$(counter TX_MEM.ABORT_HLE_ELISION_BUFFER_NOT_EMPTY)" = 1 ] &&
		[ "$(counter TX_MEM.ABORT_HLE_ELISION_BUFFER_MISMATCH)" = 2 ] &&
		[ "$(counter TX_MEM.HLE_ELISION_BUFFER_FULL)" = 5 ] &&
		[ "$(counter TX_EXEC.MISC4)" = 2 ] && [ "$(counter TX_EXEC.MISC5)" = 1 ] ||
		fail "not what the program did: $(cat "$WORK/counters")"
}

test_counters_in_log() {
	checks --counters=yes -- "$BIN/semantics" || return
	want '==[0-9]+== RTM_RETIRED.COMMIT [1-9]' "$WORK/log" || return
	checks -- "$BIN/semantics" && ! want RTM_RETIRED "$WORK/log" && rm "$WORK/why"
}

# Each process has a file of its own, and a child counts from 0.
test_counters_of_processes() {
	checks --trace-children=yes --counters="$WORK/counters.%p" -- "$BIN/process" || return
	[ "$(ls "$WORK"/counters.* | wc -l)" -gt 1 ] || fail "one file only"
}

# answers SWITCHES: writes what each instruction does in the emulator to $WORK/out
answers() {
	emu --model="$1" -- "$BIN/unfriendly" >"$WORK/out" || fail "status $?"
}

# As measured on a processor, except for instructions that Valgrind does not support.
test_unfriendly() {
	answers graniterapids || return
	grep -v '^#' "$MEASURED" | diff - "$WORK/out" | grep '^>' | grep -v ' absent$' >"$WORK/diff"
	[ ! -s "$WORK/diff" ] || fail "$(tr '\n' ' ' <"$WORK/diff")" || return
	[ "$(grep -c ' aborts$' "$WORK/out")" -ge 50 ] &&
		[ "$(grep -c ' commits$' "$WORK/out")" -ge 15 ] || fail "few were tried"
}

test_unfriendly_measured() {
	grep -q '^model[[:space:]]*: 167$' /proc/cpuinfo ||
		cannot "this is not family 6 model 167" || return
	"$BIN/unfriendly" >"$WORK/out"
	[ $? != 77 ] || cannot "no RTM here" || return
	grep -v '^#' "$MEASURED" | diff - "$WORK/out" >"$WORK/diff" ||
		fail "$(tr '\n' ' ' <"$WORK/diff")"
}

# Each switch makes its instructions abort, and no others.
test_unfriendly_switches() {
	local switch name

	answers flat && want '^CPUID aborts' "$WORK/out" && want '^PAUSE aborts' "$WORK/out" || return
	for name in VZEROUPPER FLD EMMS XSAVE FXRSTOR CLFLUSH MOVNTDQ POPF; do
		want "^$name commits" "$WORK/out" || return
	done
	for switch in vzeroupper:VZEROUPPER:FLD x87:PADDB_MMX:XSAVE x87:FWAIT:FNSTCW \
		      xsave:XRSTOR:CLFLUSH unfriendly:MOVNTPS:FLD unfriendly:STD:CLD; do
		name=${switch#*:}
		answers "flat:${switch%%:*}=1" && want "^${name%:*} aborts" "$WORK/out" &&
			want "^${name#*:} commits" "$WORK/out" || return
	done
}

test_page_faults() {
	checks --model=flat:faults=1 -- "$BIN/pages" faults &&
		checks --model=haswell -- "$BIN/pages" faults &&
		checks -- "$BIN/pages" given
}

# Caches of no cost leave the walks alone. The second time with sets that are not a power of two.
test_tlb_cost() {
	local free=l2=0,llc=0,memory=0

	checks --model=haswell:$free,walk=1000 -- "$BIN/tlb" cost 1024 1000 &&
		checks --model=haswell:$free,walk=300,tlb_pages=8,tlb2_pages=96 -- "$BIN/tlb" cost 96 300 &&
		checks --model=haswell:$free -- "$BIN/tlb" cost 1024 0
}

# The same seed gives the same aborts, and another one others.
test_tlb_loss() {
	local run losses

	for losses in 0:0 500000:50 1000000:100; do
		checks --model=haswell:walk_loss=${losses%:*} -- "$BIN/tlb" loss 1024 ${losses#*:} || return
	done
	for run in 1:first 1:again 2:other; do
		checks --seed="${run%:*}" --model=haswell:walk_loss=300000 -- "$BIN/tlb" loss 1024 30 || return
		mv "$WORK/out" "$WORK/${run#*:}"
	done
	cmp -s "$WORK/first" "$WORK/again" || fail "a seed gives two results" || return
	! cmp -s "$WORK/first" "$WORK/other" || fail "two seeds give one result"
}

# Machines whose latencies are all different and far apart; caches.c measures them.
test_cache_latencies() {
	local machine

	for machine in haswell epyc7702; do
		checks --model=$machine:l2=100,llc=400,memory=1600,l2_kib=64,llc_kib=512 -- \
			"$BIN/caches" latency 100 400 1600 || return
		checks --model=$machine:l2=70,llc=250,memory=9000,l2_kib=64,llc_kib=512 -- \
			"$BIN/caches" latency 70 250 9000 || return
	done
}

# Compilers that unroll loops make more of such loads than others do.
test_unused_loads() {
	checks --model=haswell:memory=1600,l2_kib=64,llc_kib=512 -- "$BIN/caches" unused 1600
}

# Two cores in each of the possible distances.
test_cache_transfers() {
	local costs machine place

	costs=clean_domain=110,dirty_domain=220,clean_die=330,dirty_die=440,clean_quadrant=550
	costs=$costs,dirty_quadrant=660,clean_socket=770,dirty_socket=880,clean_remote=990
	costs=$costs,dirty_remote=1100,memory=3000
	for machine in haswell epyc7702; do
		for place in domain=2,die=2,quadrant=2:110:220 domain=1,die=2,quadrant=2:330:440 \
				domain=1,die=1,quadrant=2:550:660 domain=1,die=1,quadrant=1:770:880 \
				domain=1,die=1,quadrant=1,sockets=2:990:1100; do
			# shellcheck disable=SC2046 # two arguments
			checks --model=$machine:cores=2,$costs,${place%%:*} -- \
				"$BIN/caches" transfer $(echo "${place#*:}" | tr : ' ') ||
				fail "$machine ${place%%:*}: $(cat "$WORK/why")" || return
		done
	done
}

test_cache_line_moves_once_at_a_time() {
	checks --model=haswell:dirty_domain=2000 -- "$BIN/caches" contended 2000
}

# The transaction that aborts drops its line from the first level that both threads share.
test_siblings_conflict() {
	checks --model=haswell:faults=0 --cores=2 --smt=2 --quantum=20 -- "$BIN/counter" 8 500 4 ||
		return
	[ "$(total conflict)" -gt 100 ] || fail "$(total conflict) conflicts" || return
	[ "$(total fault)" = 0 ] || fail "$(total fault) faults"
}

# Misses of a round with eight ways: computed by hand for exact LRU; trees have more.
test_cache_replacement() {
	checks --model=haswell:l2=1000,l1_trees=0 -- \
		"$BIN/caches" replacement 64 8 1000 16 16 || return
	checks --model=haswell:l2=1000,l1_trees=1 -- "$BIN/caches" replacement 64 8 1000 20 32 &&
		checks --model=haswell:l2=1000,l1_trees=2 -- \
			"$BIN/caches" replacement 64 8 1000 20 32
}

# A transaction can write as many lines as the first level has, and no more.
test_cache_bounds_writes() {
	local geometry

	for geometry in haswell:caches=1:64:8 epyc7702:caches=1:64:8 haswell:l1_ways=4:128:4 \
			icelake-server:cores=4:64:12; do
		# shellcheck disable=SC2046 # two arguments
		checks --model="$(echo "$geometry" | sed 's/:[0-9]*:[0-9]*$//')",l1_trees=0 -- \
			"$BIN/caches" writes $(echo "$geometry" | sed 's/.*:\([0-9]*\):\([0-9]*\)$/\1 \2/') ||
			fail "$geometry: $(cat "$WORK/why")" || return
	done
}

# Lines that it reads may leave the first level, as many as the secondary structure holds.
test_cache_bounds_reads() {
	local never=read_loss=0,read_loss_far=0 always=read_loss=1000000,read_loss_far=1000000

	checks --model=haswell:l1_trees=0,$never,read_lines=3 -- "$BIN/caches" reads 64 8 3 &&
		checks --model=haswell:l1_trees=0,$never,read_lines=200 -- \
			"$BIN/caches" reads 64 8 200 &&
		checks --model=haswell:l1_trees=0,$always -- "$BIN/caches" lost 64 8
}

test_cache_shared_by_siblings() {
	checks --model=haswell:cores=1,smt=2 -- "$BIN/caches" siblings 64 8 capacity &&
		checks --model=haswell:cores=2,smt=1 -- "$BIN/caches" siblings 64 8 commits
}

test_isolation() {
	local seed

	for seed in 1 2 3 4; do
		checks --seed=$seed -- "$BIN/isolation" || return
	done
	checks --block-accesses=1 --quantum=20 -- "$BIN/isolation"
}

# A program with RTM instructions refuses to run outside of the emulator.
test_native_refused() {
	"$BIN/semantics" >"$WORK/out" 2>&1
	[ $? = 77 ] || fail "a program with RTM instructions ran outside the emulator"
}

test_counter_exact() {
	local seed rate

	for seed in 1 2 3 4 5; do
		for rate in 0 10 100; do
			checks --seed=$seed --quantum=30 --abort-rate=$rate -- \
				"$BIN/counter" 4 300 4 || return
		done
	done
}

test_counter_64_threads_more() {
	checks --seed=3 -- "$BIN/counter" 130 20 16
}

test_abort_rate() {
	local rate starts spurious

	for rate in 0 25 100; do
		checks --abort-rate=$rate -- "$BIN/counter" 2 1000 512 || return
		starts=$(total starts) spurious=$(total spurious)
		[ $((spurious * 100)) -ge $((starts * (rate - 4))) ] &&
			[ $((spurious * 100)) -le $((starts * (rate + 4))) ] ||
			fail "$spurious of $starts aborted at $rate %" || return
	done
	[ "$(total commits)" = 0 ] || fail "$(total commits) committed at 100 %"
}

test_abort_rate_waits_for_probe() {
	# This program never sends RTMGRIND_PROBE_DONE.
	checks --abort-rate=100 -- "$BIN/semantics"
}

test_rtm_hidden() {
	emu --rtm=no -- "$BIN/counter" 2 50 4 >"$WORK/out" || fail "status $?" || return
	want '^commits 0 .* fallbacks 100 ' "$WORK/out" &&
		{ [ "$(total starts)" = 0 ] || fail "transactions began"; }
}

test_cores() {
	local cores factor

	for cores in 1:4.0 2:2.0 4:1.0 8:1.0; do
		factor=${cores#*:} cores=${cores%:*}
		emu --cores="$cores" -- "$BIN/cores" 4 >"$WORK/out" || fail "status $?" || return
		# Changes between threads take some time, too.
		awk -v cores="$cores" -v factor="$factor" \
			'$2 == cores && $3 == cores && $4 == cores && $6 >= factor &&
			 $6 <= factor * 1.05 { found = 1 } END { exit !found }' "$WORK/out" ||
			fail "with $cores cores: $(cat "$WORK/out")" || return
	done
}

# factor_is FACTOR OPTION... -- THREADS: cores.c prints that factor, within 2 %
factor_is() {
	local factor=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	emu "${options[@]}" -- "$BIN/cores" "$2" >"$WORK/out" || fail "status $?" || return
	awk -v factor="$factor" '$6 >= factor * 0.98 && $6 <= factor * 1.02 { found = 1 }
		END { exit !found }' "$WORK/out" || fail "${options[*]}, $2 threads: $(cat "$WORK/out")"
}

# Two threads on one core slow each other down; two threads on two cores do not.
test_smt() {
	factor_is 1.0 --cores=2 --smt=2 -- 2 &&
		factor_is 2.0 --model=flat:smt_speed=50 --cores=2 --smt=2 -- 4 &&
		factor_is 2.5 --model=flat:smt_speed=40 --cores=1 --smt=2 -- 2 &&
		factor_is 4.0 --model=flat:smt_speed=50,cpi=33 --cores=1 --smt=2 -- 4
}

# More threads than processors share them, whatever the speed of a hardware thread.
test_time_slices() {
	factor_is 4.0 --model=flat:cpi=50 --cores=2 -- 8 &&
		factor_is 2.5 --cores=2 -- 5
}

test_placement() {
	local options='--cores=8 --sockets=2'

	emu $options --smt=2 -- "$BIN/places" 4 >"$WORK/out"
	want '^cpus 0 1 2 3 nodes 0 0 0 0$' "$WORK/out" || return
	emu $options --smt=2 -- "$BIN/places" 10 >"$WORK/out"
	want '^cpus 0 1 2 3 4 5 6 7 8 9 nodes 0 0 0 0 1 1 1 1 0 0$' "$WORK/out" || return
	emu $options --placement=spread -- "$BIN/places" 4 >"$WORK/out"
	want '^cpus 0 4 1 5 nodes 0 1 0 1$' "$WORK/out" || return
	emu $options --model=flat:domain=2 --placement=spread -- "$BIN/places" 4 >"$WORK/out"
	want '^cpus 0 4 2 6 nodes 0 1 0 1$' "$WORK/out"
}

test_affinity() { checks --cores=4 --sockets=2 -- "$BIN/affinity"; }

test_topology() {
	emu --model=sandybridge-ep --smt=2 -- "$BIN/topology" >"$WORK/out" ||
		fail "status $?: $(head -n 3 "$WORK/out")" || return
	want '^cpus 32 ids 16 htt 1 threads 2 in socket 16 L1 32/8 shared 2 L2 256/8 shared 2 L3 20480/20 shared 16 sysconf 32 256 20480$' \
		"$WORK/out" || return
	# Numbers of cores that are no powers of two.
	emu --model=icelake-server --cores=12 --sockets=2 -- "$BIN/topology" >"$WORK/out" ||
		fail "status $?: $(head -n 3 "$WORK/out")" || return
	want '^cpus 12 ids 8 htt 1 threads 1 in socket 6 L1 48/12 shared 1 L2 1280/20 shared 1 L3 61440/12 shared 8 sysconf 48 1280 61440$' \
		"$WORK/out"
}

# takes MODEL WHAT NUMBER: prints the cycles that charges.c takes
takes() {
	emu --model="$1" -- "$BIN/charges" "$2" "$3"
}

# near NAME VALUE WANTED SLACK: the two values differ by at most SLACK
near() {
	[ $(($2 - $3)) -ge -"$4" ] && [ $(($2 - $3)) -le "$4" ] || fail "$1: $2 instead of $3"
}

test_charges() {
	local cpi insns txns pauses

	# The run has about thirty slices, and no fraction of a cycle is lost between two.
	insns=$(takes flat insns 500000)
	for cpi in 1 33 50 101 250; do
		near "cpi $cpi" "$(takes flat:cpi=$cpi insns 500000)" $((insns * cpi / 100)) 1 || return
		txns=$(takes flat:cpi=$cpi,xbegin=20 txns 1000)
		near "XBEGIN, cpi $cpi" "$(takes flat:cpi=$cpi,xbegin=1020 txns 1000)" \
			$((txns + 1000000)) 1 || return
		# Generated code counts instructions, so each latency is rounded to half of one.
		pauses=$(takes flat:cpi=$cpi,pause=0 pauses 1000)
		near "PAUSE, cpi $cpi" "$(takes flat:cpi=$cpi,pause=140 pauses 1000)" \
			$((pauses + 140000)) $((1000 * cpi / 200 + 1)) || return
	done
}

# repeats OPTION... -- PROGRAM ARG...: twelve runs at the same time, with the host's own
# randomisation on, have the same result.
repeats() {
	local i options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		(
			timeout -k 5 "$LIMIT" valgrind --tool=rtmgrind "${options[@]}" \
				--log-file="$WORK/log.$i" "$@" >"$WORK/run.$i"
			sed 's/^==[0-9]*==//' "$WORK/log.$i" | grep starts >>"$WORK/run.$i"
		) &
	done
	wait
	for i in 2 3 4 5 6 7 8 9 10 11 12; do
		cmp -s "$WORK/run.1" "$WORK/run.$i" ||
			fail "$(cat "$WORK/run.1") but $(cat "$WORK/run.$i")" || return
	done
	want '^commits' "$WORK/run.1" && want 'starts' "$WORK/run.1"
}

test_same_seed_same_run() { repeats --seed=7 --quantum=20 -- "$BIN/counter" 4 500 4; }

test_same_seed_same_run_smt() {
	repeats --seed=7 --quantum=20 --model=haswell --cores=2 --smt=2 -- "$BIN/counter" 6 300 4
}

test_other_seed_other_run() {
	emu --seed=1 --quantum=20 -- "$BIN/counter" 4 500 4 >"$WORK/one"
	emu --seed=2 --quantum=20 -- "$BIN/counter" 4 500 4 >"$WORK/two"
	! cmp -s "$WORK/one" "$WORK/two" || fail "the seed has no effect"
}

test_quantum() {
	emu --seed=1 --quantum=5 -- "$BIN/counter" 4 500 4 >"$WORK/one"
	emu --seed=1 --quantum=5000 -- "$BIN/counter" 4 500 4 >"$WORK/two"
	! cmp -s "$WORK/one" "$WORK/two" || fail "the quantum has no effect"
}

# Cycles by which a thread may run ahead of another on the machine flat: two quanta of 200
# instructions, a block, a system call and a locked instruction.
SLACK=1000
slices() {
	local law seed

	for law; do
		for seed in 1 2 3; do
			checks --seed=$seed -- "$BIN/slices" "$law" $SLACK || return
			checks --seed=$seed --model=haswell -- "$BIN/slices" "$law" $SLACK || return
		done
	done
}

test_sections_do_not_overlap() { slices spin ticket mcs optimistic mutex; }
test_broken_lock_overlaps() { slices broken; }
test_polled_flag() { slices flag; }
test_transactions_meet() { slices meet; }
test_threads_apart() { slices alone; }
test_signal_of_a_thread() { slices signals; }
test_crash_of_a_thread() {
	local seed

	for seed in 1 2 3; do
		(ulimit -c 0; emu --seed=$seed -- "$BIN/slices" crash >/dev/null 2>&1)
		[ $? = 139 ] || fail "seed $seed: status $?" || return
	done
}

test_quiet() {
	timeout -k 5 "$LIMIT" valgrind -q --tool=rtmgrind "$BIN/counter" 2 10 4 2>"$WORK/err" >/dev/null
	[ ! -s "$WORK/err" ] || fail "-q says: $(head -n 1 "$WORK/err")"
}

test_bad_option() {
	local option

	for option in --cores=0 --cores=x --abort-rate=101 --quantum= --no-such-option --deadlock=maybe \
			--placement=wide --hle=model --model=flat: --model=flat:smt=2, --model=flat:smt; do
		! emu $option -- "$BIN/cores" 1 >"$WORK/out" 2>&1 ||
			fail "$option was accepted" || return
	done
}

# same_as_native PROGRAM ARG...: output and exit status are those outside of the emulator
same_as_native() {
	local native emulated

	"$@" >"$WORK/native" 2>"$WORK/native.err"
	native=$?
	emu -q --trace-children=yes -- "$@" >"$WORK/out" 2>"$WORK/err"
	emulated=$?
	[ $native = $emulated ] || fail "status $emulated instead of $native" || return
	cmp -s "$WORK/native" "$WORK/out" || fail "other output" || return
	cmp -s "$WORK/native.err" "$WORK/err" || fail "stderr: $(head -n 1 "$WORK/err")"
}

test_cxx_exceptions() { same_as_native "$BIN/exceptions"; }

test_python() {
	local python=/usr/bin/python3

	[ -x $python ] || cannot "no $python" || return
	same_as_native $python -c '
import queue, subprocess, sys, threading, time
lock, box, total = threading.Lock(), queue.Queue(), [0]
def work(n):
    for i in range(200):
        with lock:
            total[0] += 1
        box.put(n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; time.sleep(0.01); [t.join() for t in threads]
print(total[0], box.qsize())
print(subprocess.run(["sh", "-c", "sleep 0.2; echo child; exit 3"], capture_output=True, timeout=30))
sys.exit(5)'
}

test_xz_threads() {
	head -c 300000 /bin/bash >"$WORK/plain"
	emu -q -- xz -T4 -1 --block-size=60000 -c "$WORK/plain" >"$WORK/plain.xz" ||
		fail "status $?" || return
	xz -dc "$WORK/plain.xz" | cmp -s - "$WORK/plain" || fail "the archive is damaged"
}

test_shell_pipeline() {
	same_as_native sh -c 'printf "%s\n" b c a | sort | tr a-c x-z | (read x; echo "$x"; cat); false || echo no; exit 7'
}

test_killed_by_signal() {
	emu -q -- sh -c 'kill -TERM $$' 2>/dev/null
	[ $? = 143 ] || fail "not killed by the signal" || return
	# The outer shell's stderr takes bash's own message.
	(valgrind -q --tool=rtmgrind sh -c 'kill -SEGV $$' 2>"$WORK/err"; :) 2>/dev/null
	[ ! -s "$WORK/err" ] || fail "stderr: $(head -n 1 "$WORK/err")"
}

test_kccachetest() {
	[ -n "$(command -v kccachetest)" ] || cannot "no kccachetest" || return
	emu -- kccachetest wicked -th 4 2000 >"$WORK/out" || fail "status $?" || return
	want '^ok$' "$WORK/out"
}

# The C library's own elision, which does not know the emulator.
test_glibc_elision() {
	GLIBC_TUNABLES=glibc.elision.enable=1 emu -- "$BIN/pthread-counter" >"$WORK/out" ||
		fail "status $?" || return
	want '^sum 2000$' "$WORK/out" &&
		{ [ "$(total commits)" -gt 1000 ] || fail "$(total commits) commits"; }
}

test_glibc_without_elision() {
	emu -- "$BIN/pthread-counter" >"$WORK/out" || fail "status $?" || return
	[ "$(total starts)" = 0 ] || fail "$(total starts) transactions began"
}

test_kccachetest_elided_repeats() {
	local i

	[ -n "$(command -v kccachetest)" ] || cannot "no kccachetest" || return
	for i in 1 2; do
			GLIBC_TUNABLES=glibc.elision.enable=1 emu -- kccachetest wicked -th 4 2000 \
			>"$WORK/run.$i" || fail "status $?" || return
		grep -o 'starts.*' "$WORK/log" >>"$WORK/run.$i"
	done
	[ "$(total commits)" -gt 1000 ] || fail "$(total commits) commits" || return
	cmp -s "$WORK/run.1" "$WORK/run.2" || fail "$(diff "$WORK/run.1" "$WORK/run.2" | head -n 4)"
}

test_tbb() {
	[ -x "$BIN/tbb" ] || cannot "oneTBB is not installed" || return
	emu -- "$BIN/tbb" >"$WORK/out" || fail "status $?" || return
	want '^sum 2000$' "$WORK/out" &&
		{ [ "$(total commits)" -gt 500 ] || fail "$(total commits) commits"; }
}

needs rtmgrind emulator
run_tests "$@"
