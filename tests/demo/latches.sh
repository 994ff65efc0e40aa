#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=75 parts=2
#
# The latches of tatp_bench under torture: every kind and means, on this processor and on
# simulated cores with 0, 50 and 100 % of the transactions aborted; and faults planted into copies
# of their files, each of which must be caught. $CC the compiler, LATCH_SEEDS how many seeds.

. "$(dirname "$0")/../script.sh"
CC=${CC:-gcc}
latches=$O/tests/demo/latches
seeds=${LATCH_SEEDS:-2}
# Seeds that may pass before a planted fault is caught.
SEEDS_MAX=${PLANTED_SEEDS:-20}
# Longest run, seconds of real time: a hundred times what one takes.
LIMIT=60
# Longest run with a planted fault, which may never end, seconds of processor time: ten times what one
# takes without.
PROCESSOR=4
cd "$tmp" || exit 1
no_settings

own='occ tatas mcs srw roles'
pthreads='occ-mutex occ-pthread pthread-mutex pthread-rwlock pthread-spin'

# emulated SEED RATE ARG...: on four simulated cores; fails as the program does.
emulated() {
	seed=$1 rate=$2
	shift 2
	timeout -k 5 $LIMIT "$elide" run -q --emulate --cores=4 --seed="$seed" --abort-rate="$rate" \
		--policy=fixed $mode -o data -- "$latches" --seed="$seed" "$@" >out 2>err
}

# count NAME: of the program's counts.
count() { tr ' ' '\n' <out | sed -n "s/^$1=//p"; }

# as_it_should MEANS RATE: nothing, or what is wrong with the counts of a run that passed.
as_it_should() {
	case $1 in
	inline)
		[ "$(count attempts)" -gt 0 ] || echo 'nothing was tried'
		grep -q '^inline: ' out || echo 'it does not say inline'
		;;
	api) grep -q '^api: elided: ' out || echo 'it does not say api' ;;
	preload)
		[ "$(sum attempts)" -gt 0 ] || echo 'the library tried nothing'
		[ "$(count elided)" -eq 0 ] || echo "$(count elided) elided by the program"
		return
		;;
	esac
	case $2 in
	100) [ "$(count elided)" -eq 0 ] || echo "$(count elided) elided" ;;
	*)
		[ "$(count elided)" -gt 0 ] || echo 'no section was elided'
		;;
	esac
	[ "$2" != 100 ] || [ "$1" != inline ] || [ "$(count other)" -gt 0 ] ||
		echo 'no abort was counted'
}

# test_means MEANS RATE OPTION...: the kinds in $kinds. Without aborts some section of some run is
# nested in another one.
test_means() {
	name=$1-$2
	means=$1 rate_of=$2 nested=0
	shift 2
	for kind in $kinds; do
		at=0
		while [ $at -lt "$seeds" ]; do
			at=$((at + 1))
			why=
			emulated $at "$rate_of" --rounds=100 "$@" "$kind" || why="exit $?"
			[ -n "$why" ] || why=$(as_it_should "$means" "$rate_of")
			[ -n "$why" ] || { nested=$((nested + $(count nested))); continue; }
			not_ok "$name" "$kind, seed $at: $why: $(cat out err)"
			return
		done
	done
	if [ "$rate_of" = 0 ] && [ "$means" != preload ] && [ $nested -eq 0 ]; then
		not_ok "$name" "no section was nested on $seeds seeds"
	else
		ok "$name"
	fi
}

# The plain latches on simulated cores, whose threads meet in other places than those of a processor.
test_plain() {
	mode=--mode=off
	for kind in $own $pthreads; do
		at=0
		while [ $at -lt $((2 * seeds)) ]; do
			at=$((at + 1))
			emulated $at 0 --rounds=100 --locks=plain --fences=full "$kind" &&
				[ "$(sed -n '$p' out)" = plain ] && continue
			not_ok plain "$kind, seed $at: $(cat out err)"
			return
		done
	done
	ok plain
}

# On this processor, with RTM if it has it.
test_native() {
	for kind in $own $pthreads; do
		at=0
		while [ $at -lt "$seeds" ]; do
			at=$((at + 1))
			for options in '--locks=plain' '--locks=all --fences=full' \
				'--locks=all --latch-stats=thread'; do
				# shellcheck disable=SC2086 # several options
				timeout -k 5 $LIMIT "$latches" --seed=$at $options "$kind" >out 2>err &&
					continue
				not_ok "native-$kind" "seed $at, $options: $(cat out err)"
				return
			done
		done
		ok "native-$kind"
	done
}

# What cannot elide says so, and locks.
test_says() {
	timeout -k 5 $LIMIT "$latches" --locks=all --means=api --rounds=100 roles >out 2>err
	if [ $? -eq 0 ] && grep -qx 'plain: no library with elide.h is preloaded' out &&
		[ "$(count elided)" -eq 0 ]; then
		ok says-api
	else
		not_ok says-api "$(cat out err)"
	fi
	if grep -qw rtm /proc/cpuinfo; then
		skip says-inline 'this processor has RTM'
	elif timeout -k 5 $LIMIT "$latches" --locks=all --rounds=100 roles >out 2>err &&
		grep -qx 'plain: CPUID shows no RTM that may commit' out && [ "$(count attempts)" -eq 0 ]; then
		ok says-inline
	else
		not_ok says-inline "$(cat out err)"
	fi
}

# The report names a latch after its role, and the function that acquires it.
test_names() {
	mode=
	emulated 1 0 --rounds=100 --locks=all --means=api roles
	"$elide" report --json -i data | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
wanted = {"page", "lock_heads", "buffer_buckets", "histogram"}
for row in rows:
    for role in list(wanted):
        if row["lock"].endswith(" in %s_latches" % role) and row["kind"] == "custom" and \
           "acquire" in (row["site"]["symbol"], row["site"].get("inlined_into")):
            wanted.discard(role)
sys.exit("no row of " + ", ".join(sorted(wanted)) if wanted else 0)' 2>err && ok names ||
		not_ok names "$(cat err)"
}

# Statistics in a page latch make its elided readers conflict; in the thread they do not.
test_statistics() {
	mode=
	for stats in shared thread; do
		emulated 1 0 --rounds=200 --locks=all --readers=100 --latch-stats=$stats srw || break
		count conflict >$stats
	done
	if awk -v a="$(cat shared)" -v b="$(cat thread)" 'BEGIN { exit !(a > 2 * b) }'; then
		ok statistics
	else
		not_ok statistics "$(cat shared) and $(cat thread) conflicts: $(cat out err)"
	fi
}

# caught NAME FILE EDIT ARG...: with FILE of demo/tatp/latch edited by sed, the torture fails with one of
# these seeds, or does not end.
caught() {
	name=$1 file=$2 edit=$3
	shift 3
	rm -rf demo tests lib
	mkdir tests tests/demo lib
	cp -r "$root/demo" demo
	cp "$root/tests/demo/latches.c" tests/demo/latches.c
	cp "$root/lib/elide.h" lib/elide.h
	sed -i "$edit" "demo/tatp/latch/$file"
	if cmp -s "$root/demo/tatp/latch/$file" "demo/tatp/latch/$file"; then
		not_ok "$name" "the edit does not change $file"
		return
	fi
	if ! $CC -std=gnu11 -D_GNU_SOURCE -O2 -g -w -o broken tests/demo/latches.c demo/tatp/latch/latch.c \
		-pthread >out 2>&1; then
		not_ok "$name" "not built: $(head -n 3 out)"
		return
	fi
	fails "$name" ./broken "$@"
}

# fails NAME PROGRAM ARG...: with one of SEEDS_MAX seeds the program fails, or does not end.
fails() {
	name=$1 latches=$2 at=0
	shift 2
	ulimit -c 0
	while [ $at -lt "$SEEDS_MAX" ]; do
		at=$((at + 1))
		(ulimit -t $PROCESSOR; emulated $at $rate_of --rounds=300 "$@") && continue
		ok "$name"
		latches=$O/tests/demo/latches
		return
	done
	latches=$O/tests/demo/latches
	not_ok "$name" "nothing was found on $SEEDS_MAX seeds"
}

test_caught() {
	mode='--mode=off' rate_of=0
	! mine || fails broken-none "$latches" none
	! mine || caught inline-ignores-holder section.h 's/^\t\trtm_abort();/\t\t;/' --locks=all occ
	! mine || caught inline-counts-nested-twice latch.h 's/me->nested\[role\]++;/me->nested[role] += 2;/' \
		--locks=all roles
	! mine || caught tatas-without-exchange latch-tatas.h \
		's/__atomic_compare_exchange_n(&l->holder, &free,/__atomic_exchange_n(\&l->holder, (free,/
		s/(uintptr_t)latch_thread, false,/(uintptr_t)latch_thread), __ATOMIC_ACQUIRE) | 1;/
		/^\t\t\t\t\t   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);/d' tatas
	! mine || caught mcs-does-not-wait latch-mcs.h '/while (__atomic_load_n(&h->node.waiting/,+1d' mcs
	! mine || caught mcs-loses-who-comes latch-mcs.h '/while (!(next = /,+1d; s/^\t__atomic_store_n(&next->waiting/\tif (next) &/' mcs
	! mine || caught srw-writer-beside-readers latch-srw.h '/if (mode == LATCH_WRITE)$/{n;s/waited += latch_srw_await/if (0) &/}' srw
	! mine || caught srw-upgrade-beside-readers latch-srw.h \
		's/return latch_srw_try_write(l, LATCH_READER, h);/l->holders |= LATCH_WRITER; return true;/' srw
	! mine || caught srw-downgrade-leaves-a-reader latch-srw.h \
		's/&l->holders, LATCH_READER, __ATOMIC_RELEASE/\&l->holders, 2 * LATCH_READER, __ATOMIC_RELEASE/' srw
	! mine || caught occ-reader-beside-writer latch-occ.h 's/^\twhile (unlikely(latch_occ_add(l, LATCH_READER) & LATCH_WRITER))/\twhile (!latch_occ_add(l, LATCH_READER))/' occ
	! mine || caught occ-writer-added latch-occ.h 's/while (__atomic_fetch_or(&l->count, LATCH_WRITER, __ATOMIC_ACQUIRE) & LATCH_WRITER)/while ((sched_yield(), !latch_occ_add(l, LATCH_WRITER)))/' occ
	! mine || caught occ-writer-wakes-nobody latch-occ.h '/pthread_cond_broadcast/d' occ
	! mine || caught occ-mutex-without-mutex latch-occ.h '/^static inline bool latch_occ_mutex_change/,/^}/s/^\tpthread_mutex_.*//' occ-mutex
	# With aborts, as these need readers that are not elided beside writers that are.
	mode=--mode=profile rate_of=30
	! mine || caught inline-subscribes-as-reader latch.h \
		's/return mode == LATCH_READ && latch_shared/return latch_shared/' --locks=all srw
	! mine || caught inline-upgrades-beside-readers latch.h \
		's/return !READ_ONCE(l->word);/return true;/' --locks=all srw
	mode=
	! mine || caught api-reads-as-writer latch-api.h 's/return mask == 1 ?/return mask ?/' --locks=all --means=api srw
}

no_emulator=$(lacks emulator plain python3)
[ -z "$no_emulator" ] || skip latches-emulated "$no_emulator"
! mine || test_native
! mine || test_says
if [ -z "$no_emulator" ]; then
	! mine || test_plain
	mode=
	for rate in 0 50 100; do
		kinds=$own
		! mine || test_means inline $rate --locks=all --means=inline
		! mine || test_means api $rate --locks=all --means=api
		kinds=$pthreads
		! mine || test_means preload $rate --locks=plain
	done
	! mine || test_names
	! mine || test_statistics
	test_caught
fi
finish
