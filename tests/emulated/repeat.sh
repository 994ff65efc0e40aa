#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30
#
# Multi-threaded programs on a machine with caches: the same seed gives the same output and the
# same counters, another seed others. repeat.sh [NAME...]; REPEATS how often each program runs
# with a seed.

. "$(dirname "$0")/../script.sh"
REPEATS=${REPEATS:-3}
# Longest run of one program, seconds of real time.
LIMIT=120
export VALGRIND_LIB=$O/libexec/elide
needs repeat emulator
cd "$tmp" || exit 1
# glibc's elision makes transactions of each program's mutexes, so their conflicts repeat, too.
GLIBC_TUNABLES=glibc.elision.enable=1
export GLIBC_TUNABLES

# run SEED FILE PROGRAM ARG...: writes output and counters to a file of kept/. All runs use the same
# names of files, as Python reads the names of the files in its script's directory.
run() {
	local seed=$1 file=$2

	shift 2
	rm -f counters out log
	timeout -k 5 $LIMIT valgrind --log-file="$tmp/log" --tool=rtmgrind --model=haswell --seed="$seed" \
		--counters="$tmp/counters" "$@" >out 2>err || {
		echo "exit $?: $(tail -n 2 out err | tr '\n' ' ')" >why
		return 1
	}
	# The last line of the log has the cycles.
	cat out counters >"kept/$file"
	grep -o 'starts .*' log >>"kept/$file" || { echo 'no totals' >why; return 1; }
	[ -s counters ] || { echo 'no counters' >why; return 1; }
}

# repeats NAME PROGRAM ARG...: a test
repeats() {
	local name=$1

	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "$1 is not installed"
	elif repeated "$@"; then
		ok "$name"
	else
		not_ok "$name" "$(cat why)"
	fi
}

# repeated PROGRAM ARG...: do all runs with a seed give the same, and another seed not?
repeated() {
	local i

	for ((i = 1; i <= REPEATS; i++)); do
		run 7 "same.$i" "$@" || return
		cmp -s kept/same.1 "kept/same.$i" && continue
		echo "run $i differs: $(diff kept/same.1 "kept/same.$i" | head -n 12 | tr '\n' ' ')" >why
		return 1
	done
	run 8 other "$@" || return
	! cmp -s kept/same.1 kept/other || { echo 'another seed gives the same' >why; return 1; }
}

mkdir kept
head -c 300000 /bin/bash >plain
cat >threads.py <<'END'
import queue, threading, time
lock, box, order = threading.Lock(), queue.Queue(), []
def work(n):
    for i in range(100):
        with lock:
            order.append(n)
        box.put(n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(box.qsize(), "".join(map(str, order)), time.monotonic_ns())
END

test_kccachetest() { repeats "$1" kccachetest wicked -th 4 2000; }
test_xz() { repeats "$1" xz -T4 -1 --block-size=60000 -c plain; }
test_server_and_clients() { repeats "$1" "$O/tests/emulated/served" 100; }
# The interpreter's hash seed is from getrandom(2).
test_python_threads() { repeats "$1" /usr/bin/python3 threads.py; }
test_index_bench() {
	repeats "$1" "$O/bin/index_bench" --threads=4 --preload=5000 --ops=10000 --updates=20 --json
}

[ $# -gt 0 ] || set -- kccachetest xz server_and_clients python_threads index_bench
for name; do
	! mine || "test_$name" "$name"
done
finish
