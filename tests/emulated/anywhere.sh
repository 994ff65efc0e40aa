#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=40
#
# An emulated run gives the same digits anywhere: in another folder, with another user's
# environment, and with process ids of another number of digits. anywhere.sh [NAME...]; O is the
# build directory. The programs print nothing that differs from place to place by itself.
#
# Prints a line for each test - ok NAME, not ok NAME: why, skip NAME: reason - and a count.

. "${0%/*}/../part.sh"
O=$(realpath "${O:-build}") || exit 1
# Longest run of one program, seconds of real time.
LIMIT=120
if [ ! -x "$O/libexec/elide/rtmgrind-amd64-linux" ]; then
	echo 'skip anywhere: rtmgrind was not built (no supported valgrind)'
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nr_ok=0 nr_failed=0 nr_skipped=0

fail() {
	echo "$*" >"$work/why"
	return 1
}

# copy FOLDER: copies the products, and the programs that the tests run, into it
copy() {
	mkdir -p "$1/tests/emulated" && cp -R "$O/bin" "$O/lib" "$O/libexec" "$1" &&
		cp "$O"/tests/emulated/{pthread-counter,locked-counter,process,still} "$1/tests/emulated"
}

# The name has 150 characters more than that of the other folder.
here=$work/a
there=$work/$(printf 'b%.0s' {1..150})
copy "$here" && copy "$there" || exit 1

# in_place FOLDER WHERE COMMAND...: runs the command, whose names of files begin with @, for FOLDER,
# with the environment WHERE. Its results are files in the current directory.
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
	esac
	timeout -k 5 $LIMIT "$@" >out 2>err || fail "$where: exit $?: $(tail -n 2 out err | tr '\n' ' ')"
}

# digits_of FOLDER WHERE COMMAND...: runs the command, and collects its digits in the file digits:
# its output, the emulator's counters, and the report without names of files and ids of processes
digits_of() {
	rm -f counters data* digits
	in_place "$@" || return
	cat out err counters >digits
	[ -s counters ] || fail "$2: no counters" || return
	[ ! -e data ] || "$O/bin/elide" report --json data |
		sed -E "s|$1|@|g; /\"(pid|program|file|run|started|tid)\":/d" >>digits
}

# same_anywhere COMMAND...: the command has the same digits in all places
same_anywhere() {
	local folder where

	mkdir -p "$work/run"
	cd "$work/run" || return
	for folder in "$here" "$there"; do
		for where in user other_user small_pids; do
			[ $where != small_pids ] || [ "$pids" = yes ] || continue
			digits_of "$folder" $where "$@" || return
			[ -e "$work/first" ] || cp digits "$work/first"
			cmp -s digits "$work/first" || fail "${folder:${#work}:4} $where: $(
				diff "$work/first" digits | head -n 4 | tr '\n' ' ')" || return
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

test_plain_flat() { plain flat "${bench[@]}"; }
test_plain_caches() { plain haswell "${bench[@]}"; }
test_elided_flat() { elided flat "${bench[@]}"; }
test_elided_caches() { elided haswell "${bench[@]}"; }
test_elided_socket() { elided cascadelake "${bench[@]}"; }
