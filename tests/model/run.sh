#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30
#
# The protocol's models, searched exhaustively with spin: they must be free of
# errors, and each seeded fault must be found. A SEEDS of 50 and more, as of
# make check-long, adds larger ones. Prints a line a test, with what spin says
# of it, and a count.

. "$(dirname "$0")/../script.sh"
cd "$tmp" || exit 1
# Most memory of one search, MiB, and its longest time, seconds. The largest takes half of the
# memory, and a tenth of the time on a machine that does nothing else.
MEMORY=1500
LIMIT=1000
# The generated C takes longer to optimise than the small searches take.
OPTIMISE=-O0

# explore MODEL DEFINE...: every state of it; what came of it in $found, and in out as spin said it.
explore() {
	model=$1
	shift
	rm -f pan* ./*.trail out
	# COLLAPSE: half the memory. SAFETY: assertions and invalid end states, no cycles.
	if ! spin "$@" -a "$here/$model.pml" >out 2>&1 ||
	   ! gcc $OPTIMISE -w -DSAFETY -DCOLLAPSE -DMEMLIM=$MEMORY -o pan pan.c >out 2>&1; then
		found="does not compile: $(head -n 1 out)"
		return 1
	fi
	timeout "$LIMIT" ./pan -m100000 >out 2>&1
	found=$(sed -n 's/.*\(depth reached [0-9]*\), \(errors: [0-9]*\).*/\1, \2/p
		s/^ *\([0-9]*\) states, stored.*/\1 states/p' out | paste -sd, | sed 's/, */, /g')
	[ -n "$found" ]
}

# sound NAME MODEL DEFINE...: no errors, in a search that was not cut short.
sound() {
	name=$1
	shift
	if ! explore "$@"; then
		not_ok "$name" "${found:-no answer: $(tail -n 1 out)}"
	elif grep -q 'errors: 0$' out && ! grep -qi 'not completed\|too small\|MEMLIM bound' out; then
		ok "$name ($found)"
	else
		not_ok "$name" "$found: $(grep -m 1 '^pan\|^error\|^Warning' out)"
	fi
}

# broken FAULT MODEL HOW: the fault is found, as HOW says it.
broken() {
	if explore "$2" "-DFAULT_$1" && grep -q 'errors: 1$' out && grep -q "^pan:1: $3" out; then
		ok "FAULT_$1 is found in $2 ($found: $(sed -n 's/^pan:1: //p' out))"
	else
		not_ok "FAULT_$1" "not found in $2: $found"
	fi
}

if ! command -v spin >/dev/null; then
	skip model 'spin is not installed'
	finish
fi

sound mutex mutex
sound cond cond -DROUNDS=2
sound rwlock rwlock
sound crowd crowd
sound sleep sleep -DROUNDS=2 -DTHREADS=3
sound pi pi
sound pi-at-any-time pi -DANY_TIME=true
sound table table -DOPERATIONS=2 -DMEET=0
sound table-claimed table -DLOOK=0
sound table-met table -DOPERATIONS=0 -DLOOK=0 -DMEET=2
sound table-twice table -DTWICE -DMEET=0
sound table-larger table -DLARGER -DMEET=0 -DQUICK
if [ "${SEEDS:-3}" -ge 50 ]; then
	OPTIMISE=-O2
	sound mutex-twice mutex -DROUNDS=2
	sound cond-of-three cond -DTHREADS=3
	sound rwlock-of-three rwlock -DTHREADS=3 -DROUNDS=1
	sound crowd-of-five crowd -DTHREADS=5
	sound sleep-of-four sleep -DROUNDS=2
	sound pi-of-four pi -DTHREADS=4 -DROUNDS=1
	sound table-of-four table
	sound table-claimed-twice table -DTWICE -DLOOK=0
	sound table-met-meanwhile table -DLOOK=0 -DMEET=2
	OPTIMISE=-O0
fi
broken LAZY mutex 'assertion violated (x==y)'
broken LAZY rwlock 'assertion violated (x==y)'
broken FREE mutex 'assertion violated'
broken VALUE mutex 'assertion violated'
broken COND cond 'assertion violated  !(failed)'
broken WAKE cond 'invalid end state'
for fault in UNWOKEN EARLY COMPARE KEEPS; do
	broken $fault crowd 'invalid end state'
done
for fault in ONE UNMARKED; do
	broken $fault sleep 'invalid end state'
done
broken UNBOUNDED pi 'invalid end state'
broken EARLY pi 'assertion violated'
for fault in BARRIER LOOK FENCE MARK CLAIM FIRST LATE; do
	broken $fault table 'assertion violated'
done
finish
