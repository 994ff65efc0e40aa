#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=60 parts=8
#
# All parts together on an emulated machine, from the launcher to the report: e2e.sh [NAME...];
# EXACT_SEEDS is the number of seeds that the programs that count run with, JOBS the number of
# them that run at a time.
#
# No test depends on the speed of this machine.

. "$(dirname "$0")/tests.sh"
index_bench=$O/bin/index_bench
counter=$O/tests/emulated/locked-counter
seeds=${EXACT_SEEDS:-8}
# Longest run of one program, seconds of real time: forty times the time of the slowest.
LIMIT=240
cd "$tmp" || exit 1
no_settings

# emulate NAME OPTION... -- PROGRAM ARG...: runs it; the data file is NAME.data, the output
# NAME.out and NAME.err, the report NAME.json. Fails if the program does. The directory is in the
# same state before each run.
emulate() {
	local name=$1

	shift
	rm -f "$name".data*
	timeout -k 5 $LIMIT "$elide" run -q --emulate -o "$name.data" "$@" >"$name.out" 2>"$name.err" ||
		fail "exit $?: $(tail -n 2 "$name.out" "$name.err" | tr '\n' ' ')" || return
	[ ! -e "$name.data" ] ||
		timeout $LIMIT "$elide" report --json --no-children "$name.data" >"$name.json"
}

# preloaded LIBRARY OPTION... PROGRAM ARG...: runs it with a library that elide run cannot preload
preloaded() {
	local library=$1

	shift
	# The programs that start it do not load the library.
	VALGRIND_LIB=$O/libexec/elide timeout -k 5 $LIMIT env LD_PRELOAD="$library" \
		"$O/libexec/elide/launch" --tool=rtmgrind "$@"
}

# holds NAME CONDITION...: the condition holds for the report NAME.json
holds() {
	local name=$1

	shift
	timeout $LIMIT python3 "$here/report.py" "$name.json" "$@" >why 2>&1
}

# want PATTERN FILE: the file has a line that matches
want() {
	grep -Eq -- "$1" "$2" || fail "no '$1' in: $(tail -n 3 "$2" | tr '\n' ' ')"
}

has_kccachetest() {
	command -v kccachetest >/dev/null || cannot 'kccachetest (kyotocabinet-utils) is not installed'
}

kccachetest=(kccachetest wicked -th 4 5000)
bench=("$index_bench" --threads=4 --preload=5000 --ops=20000 --updates=5 --json)

# A program that is not part of this project
test_kccachetest_elided() {
	has_kccachetest && emulate kc --policy=fixed -- "${kccachetest[@]}" && want '^ok$' kc.out &&
		holds kc 'd["mode"] == "elide"' 'd["machine"]["rtm"] == "emulated"' \
			'percent_elided(d) >= 30' 'every_lock_has(d, "kyotocabinet::")' \
			'{row["kind"] for row in d["rows"]} >= {"mutex", "rwlock-read", "rwlock-write"}' \
			'd["totals"]["causes"]["conflict"] > 0' 'd["totals"]["fallback"] > 0'
}

test_kccachetest_adaptive() {
	has_kccachetest && emulate kc -- "${kccachetest[@]}" && want '^ok$' kc.out &&
		holds kc 'd["policy"] == "adaptive"' 'percent_elided(d) > 0' \
			'd["totals"]["aborts"] > 0'
}

test_index_bench_elided() {
	emulate bench --policy=fixed --set=WRAPPERS=no -- "${bench[@]}" && want '"check":"ok"' bench.out &&
		holds bench 'percent_elided(d) >= 80' 'every_lock_has(d, "btree_mutex_create")' \
			'{row["site"]["inlined_into"] or row["site"]["symbol"] for row in d["rows"]} >=
			 {"btree_mutex_search", "btree_mutex_insert"}' \
			'd["totals"]["acquired"] == 20000' 'd["totals"]["causes"]["conflict"] > 0'
}

# The emulator's counters and the library's agree.
test_counters_agree() {
	local rate

	for rate in 0 10; do
		VALGRIND_OPTS="--counters=$tmp/counters" emulate agree --policy=fixed --seed=5 \
			--abort-rate=$rate -- "$counter" 4 300 || return
		holds agree 'agrees(d, "counters")' 'd["totals"]["causes"]["conflict"] > 0' \
			"(d['totals']['causes']['spurious'] > 0) == ($rate > 0)" || return
	done
}

# The same seed and arguments give the same report, byte for byte, except for the process id. Dates and times are those of the simulated machine.
masked() {
	sed 's/^  "pid": [0-9]*,$/  "pid": PID,/' "$1.json"
}

repeats() {
	local run

	for run in 1 2; do
		emulate same --policy=fixed --seed=7 -- "$@" || return
		masked same >"repeat.$run"
	done
	[ "$(grep -c '"pid": PID' repeat.1)" = 1 ] || fail 'no pid to mask' || return
	cmp -s repeat.1 repeat.2 ||
		fail "differs: $(diff repeat.1 repeat.2 | head -n 6 | tr '\n' ' ')" || return
	emulate same --policy=fixed --seed=8 -- "$@" || return
	masked same >repeat.3
	! cmp -s repeat.1 repeat.3 || fail 'another seed made no difference'
}

test_index_bench_repeats() { repeats "${bench[@]}"; }
test_counter_repeats() { repeats "$counter" 4 300; }
test_kccachetest_repeats() { has_kccachetest && repeats "${kccachetest[@]}"; }

# The output without the parts that depend on the seed.
unvarying() {
	sed 's/,"seconds".*"check"/,"check"/
	     s/"\(hits\|done\|seed\)":[0-9]*/"\1":/g'
}

# exact_run SEED RATE NAME PROGRAM ARG...: the program's output is NAME.want, except for the parts
# that depend on the seed; transactions commit, or with RATE 100 all abort. Prints what is wrong.
exact_run() {
	local seed=$1 rate=$2 name=$3 policy=fixed attempts commits
	local run=$name.$seed.$rate

	shift 3
	[ $((seed % 2)) = 0 ] || policy=adaptive
	# Without further attempts, so that many sections are elided while others hold the lock.
	timeout -k 5 $LIMIT "$elide" run -q --emulate --seed="$seed" --abort-rate="$rate" \
		--policy=$policy:conflict=0,other=0 \
		--quantum=50 -o "$run.data" -- "$@" \
		>"$run.out" 2>"$run.err"
	if [ $? -ne 0 ] || [ -s "$run.err" ] ||
	   ! unvarying <"$run.out" | cmp -s - "$name.want"; then
		echo "$name, seed $seed, aborts $rate %, $policy: $(cat "$run.out" "$run.err")"
	fi
	timeout $LIMIT "$elide" report --json "$run.data" >"$run.json"
	read -r attempts commits < <(awk '/"attempts"/ && !a { a = $2 + 0 }
		/"commits"/ && !c { print a, $2 + 0; c = 1; exit }' "$run.json")
	if [ "${attempts:-0}" -eq 0 ] || { [ "$rate" = 100 ] && [ "$commits" -ne 0 ]; } ||
	   { [ "$rate" != 100 ] && [ "$commits" -eq 0 ]; }; then
		echo "$name, seed $seed, aborts $rate %, $policy: $attempts attempts, $commits commits"
	fi
	rm -f "$run".*
}
export -f exact_run unvarying
export elide LIMIT

# exact NAME PROGRAM ARG...: exact_run with each seed and rate; NAME.want is the program's output.
# SEED in the arguments is replaced by the seed.
exact() {
	local name=$1 seed rate

	shift
	for ((seed = 1; seed <= seeds; seed++)); do
		for rate in 0 10 100; do
			printf '%s\0' "$seed $rate $name ${*//SEED/$seed}"
		done
	done | xargs -0 -P "${JOBS:-2}" -I{} bash -c 'exact_run {}' >wrong
	[ ! -s wrong ] || fail "$(grep -c ', seed ' wrong) runs, first: $(head -n 1 wrong)"
}

test_counter_exact() {
	"$counter" 4 100 >counter.want || fail "natively: exit $?" || return
	exact counter "$counter" 4 100
}

test_counter_checks() {
	local seed

	# The test itself: without working locks the program must fail with one of these seeds.
	printf '%s\n' '#include <pthread.h>' \
		'int pthread_mutex_lock(pthread_mutex_t *m) { return m == 0; }' \
		'int pthread_mutex_trylock(pthread_mutex_t *m) { return m == 0; }' \
		'int pthread_mutex_unlock(pthread_mutex_t *m) { return m == 0; }' >broken.c
	${CC:-cc} -shared -fPIC -o broken.so broken.c || fail 'cannot compile' || return
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		preloaded "$tmp/broken.so" -q --seed=$seed "$counter" 4 200 >out 2>err
		[ $? = 1 ] && want '^(mutex|nested|trylock): ' err && return
	done
	fail 'it was exact without locks'
}

exact_index() {
	local scheme=$1

	"$index_bench" --scheme="$scheme" --threads=4 --preload=200 --ops=1000 --updates=40 \
		--deletes=20 --json | unvarying >"$scheme.want"
	want '"check":"ok"' "$scheme.want" || return
	exact "$scheme" "$index_bench" --scheme="$scheme" --threads=4 --preload=200 --ops=1000 \
		--updates=40 --deletes=20 --seed=SEED --json
}

test_btree_mutex_exact() { exact_index mutex; }
test_btree_rwlock_exact() { exact_index rwlock; }
test_btree_spin_exact() { exact_index spin; }

test_schemes_are_all_tested() {
	local scheme

	# The global locks that call pthreads; the others have nothing to elide. The latches of nodes are
	# tried by tests/demo/trees.sh.
	for scheme in $("$index_bench" --list | awk '$1 == "scheme" && / pthread / && $2 !~ /^latch/ { print $2 }'); do
		declare -F "test_btree_${scheme//-/_}_exact" >/dev/null || fail "$scheme is not" || return
	done
}

# RTM that never commits is switched off, with one message, and the report tells it.
test_watch() {
	emulate watch --policy=fixed:other=1000 --abort-rate=100 -- "$counter" 4 400 || return
	[ "$(grep -c 'elision switched off: transactions have stopped committing' watch.err)" = 1 ] &&
		[ "$(wc -l <watch.err)" = 1 ] || fail "said: $(cat watch.err)" || return
	holds watch 'd["machine"]["rtm_off"]' 'd["totals"]["commits"] == 0' \
		'd["totals"]["attempts"] >= 10000' 'd["totals"]["not_attempted"] > 0'
}

# The C library elides, too: the library of this project leaves the lock to it.
test_glibc_elision() {
	GLIBC_TUNABLES=glibc.elision.enable=1 emulate glibc -- "$counter" 4 100 || return
	[ "$(grep -c "elision switched off: glibc's own elision is on" glibc.err)" = 1 ] &&
		[ "$(grep -c '^elide: ' glibc.err)" = 1 ] || fail "said: $(cat glibc.err)" || return
	holds glibc 'd["machine"]["rtm_off"]' 'd["totals"]["attempts"] == 0' \
		'd["totals"]["acquired"] == d["totals"]["not_attempted"] > 0'
}

# figure NAME KEY: prints a number of index_bench's output
figure() {
	sed -n "s/.*\"$2\":\([0-9.]*\).*/\1/p" "$1.out"
}

# between LOW A/B HIGH: the ratio of two numbers is in that range
between() {
	awk -v low="$1" -v a="${2%/*}" -v b="${2#*/}" -v high="$3" \
		'BEGIN { exit !(b > 0 && a / b >= low && a / b <= high) }' || fail "$2 is not from $1 to $3"
}

# --mode=off: the same machine, without elision and without counts
test_off_is_not_counted() {
	emulate off --mode=off --cores=4 -- "${bench[@]}" && want '"check":"ok"' off.out || return
	[ ! -e off.data ] || fail 'a data file was written'
}

# Simulated time depends on the work and on the simulated cores, not on this machine.
test_virtual_time() {
	local search=("$index_bench" --threads=4 --preload=2000 --updates=0 --scheme=rwlock --json)

	emulate once --mode=off --cores=4 -- "${search[@]}" --ops=10000 &&
		emulate twice --mode=off --cores=4 -- "${search[@]}" --ops=20000 || return
	between 1.8 "$(figure twice seconds)/$(figure once seconds)" 2.2 || return
	emulate four --cores=4 -- "${search[@]}" --ops=10000 &&
		emulate one --cores=1 -- "${search[@]}" --ops=10000 || return
	between 3.0 "$(figure one seconds)/$(figure four seconds)" 6.0
}

# With one processor elision cannot gain: locks are only counted, unless an option insists.
test_one_processor() {
	local options mode

	while read -r mode options; do
		# shellcheck disable=SC2086 # options
		emulate lone $options -- "${bench[@]}" || return
		[ "$("$elide" report --json lone.data | python3 -c \
			'import json, sys; print(json.load(sys.stdin)["mode"])')" = "$mode" ] ||
			fail "$options: $("$elide" report lone.data | grep '^mode')" || return
	done <<-END
		profile --cores=1
		elide --cores=1 --mode=elide
		elide --cores=1 --policy=fixed
		elide --cores=2
	END
	emulate lone --cores=1 -- "${bench[@]}" || return
	"$elide" report lone.data | grep -q 'there is one processor' || fail 'it does not say why'
}

# The purpose of elision: a tree under one mutex.
test_elided_is_faster() {
	local plain elided

	emulate off --mode=off --cores=4 -- "${bench[@]}" || return
	plain=$(figure off throughput_ops_s)
	for policy in fixed adaptive; do
		emulate on --policy=$policy --cores=4 -- "${bench[@]}" || return
		elided=$(figure on throughput_ops_s)
		# The gain must be larger than the rounding.
		between 1.1 "$elided/$plain" 100 || return
		awk -v p=$policy -v a="$elided" -v b="$plain" \
			'BEGIN { printf "index_bench, %s: %.2f times the throughput of --mode=off\n", p, a / b }'
	done
}

# A processor without RTM: contention is measured, and the report does not mention elision.
test_profile_without_rtm() {
	rm -f none.data*
	ELIDE_OUTPUT=none.data preloaded "$O/lib/libelide-preload.so" -q --rtm=no --cores=4 \
		"${bench[@]}" >none.out 2>none.err || fail "exit $?: $(cat none.err)" || return
	want '"check":"ok"' none.out || return
	"$elide" report --json none.data >none.json
	holds none 'd["mode"] == "profile"' 'd["machine"]["rtm"] == "none"' \
		'"CPUID shows no RTM" in d["machine"]["why"]' 'd["totals"]["contended"] > 0' \
		'd["totals"]["wait_ns"]["count"] == d["totals"]["contended"]' \
		'0 < d["totals"]["wait_ns"]["min"] <= d["totals"]["wait_ns"]["max"]' \
		'd["totals"]["hold_ns"]["count"] > 0' \
		'all(row[key] is None for row in d["rows"] + [d["totals"]] for key in
		     ("elided", "nested", "fallback", "attempts", "commits", "aborts", "wasted_cycles"))' \
		'all(n is None for row in d["rows"] + [d["totals"]] for n in row["causes"].values())' \
		'all(row["state"] == "profiled" for row in d["rows"])'
}

# A program that deadlocks is ended, unless an option tells to let it wait.
test_deadlock() {
	timeout -k 5 $LIMIT "$elide" run -q --emulate -- "$O/tests/emulated/deadlock" abba 2>err
	[ $? = 3 ] || fail "exit $? instead of 3" || return
	want 'Deadlock: ' err && want 'lock_forwards' err && want 'lock_backwards' err || return
	timeout -k 5 2 "$elide" run -q --emulate --set DEADLOCK=wait -- \
		"$O/tests/emulated/deadlock" abba 2>err
	[ $? = 124 ] && ! grep -q Deadlock err || fail "DEADLOCK=wait has no effect"
}

# same_as_native PROGRAM ARG...: elided on the emulated machine, output and exit status are the same
same_as_native() {
	local native emulated

	timeout $LIMIT "$@" >native.out 2>native.err </dev/null
	native=$?
	rm -f citizen.data*
	timeout -k 5 $LIMIT "$elide" run -q --emulate -o citizen.data -- "$@" >out 2>err </dev/null
	emulated=$?
	[ $native = $emulated ] || fail "exit $emulated, not $native: $(head -n 2 err)" || return
	cmp -s native.out out || fail "other output: $(head -n 2 out)" || return
	cmp -s native.err err || fail "stderr: $(head -n 2 err)"
}

test_cxx_exceptions() { same_as_native "$O/tests/emulated/exceptions"; }
test_cxx_locks() { same_as_native "$O/tests/emulated/locks"; }

test_python() {
	local python=/usr/bin/python3

	[ -x $python ] || cannot "no $python" || return
	same_as_native $python -c '
import queue, subprocess, sys, threading
lock, condition, box, total = threading.Lock(), threading.Condition(), queue.Queue(), [0]
def work(n):
    for i in range(100):
        with lock:
            total[0] += 1
        box.put(n)
    with condition:
        condition.notify_all()
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(total[0], box.qsize())
print(subprocess.run(["sh", "-c", "echo child; exit 3"], capture_output=True).returncode)
sys.exit(5)'
}

test_xz() {
	command -v xz >/dev/null || cannot 'xz is not installed' || return
	head -c 300000 /bin/bash >plain
	timeout -k 5 $LIMIT "$elide" run -q --emulate -o xz.data -- \
		xz -T4 -1 --block-size=60000 -c plain >plain.xz || fail "exit $?" || return
	timeout -k 5 $LIMIT "$elide" run -q --emulate -o xz.data -- xz -T4 -dc plain.xz |
		cmp -s - plain || fail 'the archive is damaged'
}

test_shell_pipeline() {
	same_as_native sh -c 'printf "%s\n" b c a | sort | tr a-c x-z | (read x; echo "$x"; cat)
		false || echo no >&2; exit 7'
}

# named FILE: prints the number of details that name a heap block by the function that allocated it
named() {
	python3 - "$1" <<'END'
import json, sys
details = [d for r in json.load(open(sys.argv[1]))["rows"] for d in r["details"] if d["data"]]
print(sum(d["data"]["type"] == "heap" and "chunk_alloc" in [f["symbol"] for f in d["alloc_stack"]]
          for d in details))
END
}

# The nodes of an index are in blocks from malloc(): with --heap the caller of that is their name.
test_heap_is_named() {
	local index=("$index_bench" --threads=8 --preload=200 --ops=20000 --updates=100)

	emulate heap --heap=1 --set=STACKS=1 -- "${index[@]}" &&
		emulate no-heap --set=STACKS=1 -- "${index[@]}" || return
	[ "$(named heap.json)" -gt 0 ] || fail "no block is named" || return
	[ "$(named no-heap.json)" = 0 ] || fail "blocks are named without --heap"
}

# The launcher has the emulator unwind stacks unless the library needs none. The program prints
# what is missing; timer interrupts, which the library lets begin, may disturb its other checks.
test_stacks_are_asked_for() {
	local evidence=$O/tests/emulated/evidence

	emulate stacks -- "$evidence"
	ELIDE_STACKS=0 emulate no-stacks -- "$evidence"
	! grep '^own frames' stacks.out >why || return
	grep -q '^own frames' no-stacks.out || fail 'stacks that nobody asked for'
}

# The words of the report for an uncontended lock, elided or only counted, and with or without a
# contended one beside it.
test_uncontended_in_each_mode() {
	local program=$O/tests/emulated/idle
	local others='for r in d["rows"] if r["lock"] != "common_lock")'
	local common='[r for r in d["rows"] if r["lock"] == "common_lock"]'
	local quiet="all(r['verdict'] == 'neutral' and
			 'uncontended' in [f['advice'] for f in r['findings']] $others"
	local idle="all(r['verdict'] in ('idle', 'busy, uncontended') and not r['findings'] $others"

	emulate idle --policy=fixed -- "$program" quiet || return
	holds idle 'len(d["rows"]) == 3' 'd["totals"]["verdict"] == "neutral"' "$quiet" || return
	emulate idle --policy=fixed -- "$program" || return
	holds idle 'len(d["rows"]) == 4' "$quiet" \
		"[(r['verdict'], r['findings']) for r in $common] == [('pays', [])]" || return
	emulate idle --mode=profile -- "$program" quiet || return
	holds idle 'len(d["rows"]) == 3' 'd["totals"]["contended"] == 0' "$idle" || return
	emulate idle --mode=profile -- "$program" || return
	holds idle 'len(d["rows"]) == 4' "$idle" \
		"all(r['verdict'] in ('contended', 'bottleneck') and
		     not r['findings'] for r in $common)" \
		'[f["row"]["lock"] for f in d["findings"]] == ["common_lock"]' || return
}

needs e2e emulator python3
run_tests "$@"
