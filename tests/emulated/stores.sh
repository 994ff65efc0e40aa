#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=100 parts=4
#
# What the library stores inside its transactions, by the rule at the head of lib/state/thread.h: the
# emulator ends a program at the first store that is not allowed, and names the place. Programs with
# locks of each kind end as without that, under each policy and with and without samples of stacks;
# stores planted in a build of the library are found. tests/semantics/run.sh
# has all of its rows checked, too.

. "$(dirname "$0")/../script.sh"
# Seconds of real time for a program: forty times what the slowest takes.
LIMIT=240
cd "$tmp" || exit 1
unset ELIDE_POLICY ELIDE_STACKS ELIDE_ORDER
needs stores emulator
rule=$("$O/tests/emulated/own-stores")

# total NAME: summed over the data files of the run
total() {
	"$O/tests/preload/sums" data* | tr ' ' '\n' | awk -F= -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# clean POLICY STACKS PROGRAM ARG...: it ends as it does without the check, and transactions commit
clean() {
	local policy=$1 stacks=$2 name="$1, stacks $2: $(basename "$3") ${*:4}" rc

	shift 2
	rm -f data*
	VALGRIND_OPTS=$rule timeout -k 5 $LIMIT "$O/bin/elide" run -q --emulate --policy="$policy" \
		--stacks="$stacks" -o data -- "$@" >out 2>err
	rc=$?
	if [ $rc != 0 ] || [ -s err ]; then
		not_ok "$name" "exit $rc: $(head -n 8 err | tr '\n' ' ')"
	elif [ "$(total commits)" = 0 ]; then
		not_ok "$name" "no commit in $(total attempts) attempts"
	else
		ok "$name"
	fi
}

# Mutexes, trylocks, spinlocks, rwlocks and nested mutexes of threads that conflict; then single calls in
# each state of each kind of lock, also of those that are never elided, inside sections of others.
programs() {
	cat <<-END
		emulated/locked-counter 4 100
		preload/behave static,recursive,errorcheck,robust in-section all
		preload/behave rwlock,spin,mtx,adaptive in-section all
		preload/behave recursive,errorcheck own-in-section lock,trylock,timedlock
		preload/behave static,robust,inherit,shared free lock,trylock,timedlock,clocklock
		preload/behave sequences crosswise
		preload/behave sequences wait-in-section
		semantics/nested depth
		semantics/nested tries
		semantics/nested many
		semantics/nested list
		semantics/word
		semantics/cases waiting
		semantics/cases odd-in-section
		semantics/cases reuse
		semantics/waits in-section
	END
}

clean_programs() {
	local policy stacks program

	for policy in adaptive fixed glibc hpca; do
		for stacks in 0 1; do
			while read -r -a program; do
				# The first sections abort, as printf() allocates, and glibc's policy skips the others.
				[ "$policy ${program[1]-}" != 'glibc in-section' ] || continue
				! mine || clean $policy $stacks "$O/tests/${program[0]}" "${program[@]:1}"
			done < <(programs)
		done
	done
	! mine || ELIDE_ORDER=1 clean fixed 1 "$O/tests/emulated/locked-counter" 4 100
}

# planted POINT FAULT: runs a program with that store; sets rc
planted() {
	STORE="$1 $2" VALGRIND_LIB=$O/libexec/elide ELIDE_OUTPUT=data ELIDE_POLICY=fixed \
		timeout -k 5 $LIMIT env LD_PRELOAD="$O/tests/emulated/forbidden.so" \
		"$O/libexec/elide/launch" --tool=rtmgrind -q "${@:3}" "$O/tests/emulated/locked-counter" 3 20 \
		>out 2>err
	rc=$?
}

# found POINT FAULT ADDRESS [OPTION...]: it is reported with its line and with whose the address is
found() {
	local name="planted: $2 at $1${4:+ ($4)}" line

	line=$(grep -n "fault: $2 " "$here/forbidden.c" | cut -d : -f 1)
	planted "$1" "$2" "$rule" "${@:4}"
	if [ $rc != 4 ]; then
		not_ok "$name" "exit $rc: $(head -n 3 err | tr '\n' ' ')"
	elif ! grep -q 'Forbidden store: thread [0-9]* stores [48] bytes to 0x.* in a transaction$' err ||
	     ! grep -q " at 0x.*: store_$2 (forbidden.c:$line)\$" err || ! grep -Eq "Address 0x.* $3\$" err; then
		not_ok "$name" "$(tr '\n' ' ' <err)"
	else
		ok "$name"
	fi
}

shared='is 0 bytes inside data symbol "shared_counter"'
planted_stores() {
	local point

	# At each point inside, on the ways that are inlined in the wrappers and on the others.
	for point in $(sed -n 's/^ELIDE_POINT(\([a-z_]*\), 1).*/\1/p' "$here/../../lib/points.def"); do
		! mine || found "$point" shared "$shared"
		! mine || found "$point" block 'is byte [0-9]* of the block of thread [0-9]*'
	done
	! mine || found held wide 'is byte 20 of the block of thread [0-9]*'
	! mine || found held other 'is byte [0-9]* of the block of thread [0-9]*'
	! mine || found held local '.*'
	! mine || found held above '.*'
	# Where lines that were written before pass a filter.
	! mine || found commit shared "$shared" --model=skylake-client
	! mine || found commit block 'is byte [0-9]* of the block of thread [0-9]*' --model=skylake-client
}

# allowed POINT FAULT [OPTION...]: nothing is reported
allowed() {
	planted "$@"
	if [ "$rc $(cat err)" = '0 ' ]; then
		ok "not reported: $2 at $1${3:+ with the check}"
	else
		not_ok "not reported: $2 at $1" "exit $rc: $(head -n 3 err | tr '\n' ' ')"
	fi
}

clean_programs
planted_stores
! mine || allowed held allowed "$rule"
! mine || allowed committed shared "$rule"
# Nobody has asked.
! mine || allowed held shared
finish
