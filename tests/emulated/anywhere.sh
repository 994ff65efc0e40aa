#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=40
#
# An emulated run gives the same digits anywhere: in another folder, with another user's
# environment, and with process ids of another number of digits. anywhere.sh [NAME...]; The
# programs print nothing that differs from place to place by itself.

. "$(dirname "$0")/tests.sh"
# Longest run of one program, seconds of real time.
LIMIT=120
needs anywhere emulator python3

# copy FOLDER: copies the products, and the programs that the tests run, into it
copy() {
	mkdir -p "$1/tests/emulated" && cp -R "$O/bin" "$O/lib" "$O/libexec" "$1" &&
		cp "$O"/tests/emulated/{locked-counter,startup-static,startup-early.so} "$1/tests/emulated"
}

# The name has 149 characters more than that of the other folder.
here=$tmp/a
there=$tmp/$(printf 'b%.0s' {1..150})
copy "$here" && copy "$there" || exit 1
mkdir "$tmp/run" && cd "$tmp/run" || exit 1
places=(user other_user)
# Ids of processes that the test has usually have 4 to 7 digits, in a namespace of their own 1 or 2.
if unshare --pid --fork --mount-proc true 2>err; then
	places+=(small_pids)
else
	echo "no process ids of other lengths: $(head -n 1 err)"
fi

# in_place FOLDER WHERE COMMAND...: runs the command, in which @ stands for FOLDER, with the
# environment or process ids WHERE. Its results are files in the current directory.
in_place() {
	local folder=$1 where=$2 filler

	shift 2
	case $where in
	user)
		# Fewer variables than a user has, and no PATH but this.
		set -- env -i HOME=/ PATH=/usr/bin:/bin "${@//@/$folder}"
		;;
	other_user)
		filler=$(printf 'x%.0s' {1..5000})
		set -- env -i HOME=/home/somebody/else USER=somebody LOGNAME=somebody \
			LANG=C.UTF-8 LS_COLORS="$filler" MANPATH=/opt/man:/usr/man \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin \
			SHELL=/bin/zsh TERM=xterm-256color XDG_DATA_DIRS=/usr/share:/usr/local/share \
			"${@//@/$folder}"
		;;
	small_pids)
		set -- env -i HOME=/ PATH=/usr/bin:/bin unshare --pid --fork --mount-proc \
			"${@//@/$folder}"
		;;
	queued_signals)
		# 120 of the user's signals wait to be handled.
		set -- env -i HOME=/ PATH=/usr/bin:/bin PYTHONCOERCECLOCALE=0 /usr/bin/python3 -c '
import os, signal, subprocess, sys
def unblock():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGRTMIN})
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
for i in range(120):
    os.kill(os.getpid(), signal.SIGRTMIN)
sys.exit(subprocess.run(sys.argv[1:], preexec_fn=unblock).returncode)' "${@//@/$folder}"
		;;
	esac
	timeout -k 5 $LIMIT "$@" >out 2>err || fail "$where: exit $?: $(tail -n 2 out err | tr '\n' ' ')"
}

# report: prints the report of the run, without what names the process and its files
report() {
	"$O/bin/elide" report --json data | python3 -c '
import json, sys
report = json.load(sys.stdin)
del report["program"]["exe"], report["program"]["argv"], report["program"]["pid"]
json.dump(report, sys.stdout, indent=0)'
}

# digits_of FOLDER WHERE COMMAND...: runs the command, and collects its digits in the file digits:
# its output, the emulator's counters, and the report if the program is elided
digits_of() {
	rm -f counters data* digits
	in_place "$@" || return
	cat out err counters >digits
	[ -s counters ] || fail "$2: no counters" || return
	[ ! -e data ] || report >>digits || fail "$2: no report"
}

# same_anywhere COMMAND...: the command has the same digits in all places
same_anywhere() {
	local folder where

	rm -f first
	for folder in "$here" "$there"; do
		for where in "${places[@]}"; do
			digits_of "$folder" "$where" "$@" || return
			[ -e first ] || cp digits first
			cmp -s digits first || fail "$(basename "$folder" | head -c 1), $where: $(
				diff first digits | head -n 4 | tr '\n' ' ')" || return
		done
	done
}

# plain MODEL PROGRAM ARG...: the program in the emulator, without elide's library
plain() {
	local model=$1

	shift
	same_anywhere env VALGRIND_LIB=@/libexec/elide valgrind -q --tool=rtmgrind \
		--trace-children=yes --model="$model" --counters=counters "$@"
}

# elided MODEL PROGRAM ARG...
elided() {
	local model=$1

	shift
	same_anywhere @/bin/elide run -q --emulate="$model" --counters=counters -o data -- "$@"
}

bench=(@/bin/index_bench --threads=4 --preload=2000 --ops=5000 --updates=20 --json)
counter=(@/tests/emulated/locked-counter 4 200)

test_plain_flat() { plain flat "${bench[@]}"; }
test_plain_caches() { plain haswell "${bench[@]}"; }
test_plain_mutexes() { plain haswell "${counter[@]}"; }
# The library of the constructor has a name that depends on the folder; time begins in it.
test_plain_early() {
	plain haswell env EARLY=thread LD_PRELOAD=@/tests/emulated/startup-early.so "${counter[@]}"
}
test_plain_static() { plain haswell @/tests/emulated/startup-static stops; }
test_elided_flat() { elided flat "${bench[@]}"; }
test_elided_caches() { elided haswell "${bench[@]}"; }
test_elided_sockets() { elided sandybridge-ep "${counter[@]}"; }
test_elided_heap() {
	same_anywhere @/bin/elide run -q --emulate=haswell --heap=1 --stacks=1 --counters=counters \
		-o data -- "${bench[@]}"
}
# The program that exec starts has a start of its own.
test_elided_exec() { elided haswell nice -n 1 "${counter[@]}"; }

# A program that copies its whole environment: what elide adds there has the same length everywhere.
test_elided_environment() {
	local -a places=(user)

	elided haswell /usr/bin/python3 -I -S -c 'import os; print(len(os.environ["LD_PRELOAD"]) % 512)'
}

# What /proc/self/status says of the user's other processes.
test_plain_status() {
	local -a places=(user queued_signals)

	plain haswell wc -w /proc/self/status
}

# Another seed has other digits: the test does not compare what never changes.
test_seeds_differ() {
	digits_of "$here" user @/bin/elide run -q --emulate=haswell --counters=counters -o data \
		--seed=1 -- "${bench[@]}" || return
	cp digits first
	digits_of "$here" user @/bin/elide run -q --emulate=haswell --counters=counters -o data \
		--seed=2 -- "${bench[@]}" || return
	! cmp -s digits first || fail 'another seed has the same digits'
}

run_tests "$@"
