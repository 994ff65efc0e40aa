#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=60
#
# The transactions of tatp_bench are strictly serializable: every history of theirs, with and
# without inherited locks, under every choice of elided latches, on this processor and on
# simulated cores. Faults planted into copies of its files must be caught, each on one of
# SEEDS_MAX seeds. $CC the compiler, SERIAL_SEEDS how many seeds.

. "$(dirname "$0")/../script.sh"
CC=${CC:-gcc}
serial=$O/tests/demo/serial
seeds=${SERIAL_SEEDS:-10}
# Seeds that may pass before a planted fault is caught.
SEEDS_MAX=${PLANTED_SEEDS:-40}
# Longest run, seconds of real time: a hundred times what one takes.
LIMIT=60
cd "$tmp" || exit 1

# sound NAME SEEDS COMMAND...: serializable on each seed, which follows the command, and each run
# had deadlocks and forwardings.
sound() {
	name=$1 most=$2 at=0
	shift 2
	while [ $at -lt "$most" ]; do
		at=$((at + 1))
		timeout -k 5 $LIMIT "$@" $at 2000 >out 2>&1 &&
			grep -q 'deadlocks=[1-9][0-9]* .*forwardings=[1-9]' out && continue
		not_ok "$name" "seed $at: $(cat out)"
		return
	done
	ok "$name"
}

# simulated NAME RATE OPTION...: with elided latches of which RATE per cent abort; at 100 none is
# elided, otherwise some are.
simulated() {
	name=$1 rate=$2 at=0
	shift 2
	while [ $at -lt 2 ]; do
		at=$((at + 1))
		timeout -k 5 $LIMIT "$elide" run -q --emulate --cores=4 --seed=$at \
			--abort-rate="$rate" -o data -- "$serial" "$@" $at 400 >out 2>&1 &&
			case $rate/$(sed -n 's/.* elided=\([0-9]*\) .*/\1/p' out) in
			100/0) continue ;;
			100/* | */0) ;;
			*) continue ;;
			esac
		not_ok "$name" "seed $at: $(cat out)"
		return
	done
	ok "$name"
}

# caught NAME FILE EDIT SOURCE...: with FILE of demo/tatp edited by sed, and the SOURCEs that have
# it compiled again, a history is not serializable, the content is wrong, or it does not end.
caught() {
	name=$1 file=$2 edit=$3 objects=
	shift 3
	rm -rf demo
	cp -r "$root/demo" demo
	mkdir -p lib new
	cp "$root/lib/elide.h" lib/
	sed -i "$edit" "demo/tatp/$file"
	if cmp -s "$root/demo/tatp/$file" "demo/tatp/$file"; then
		not_ok "$name" "the edit does not change $file"
		return
	fi
	while read -r part; do
		case " $* " in
		*" ${part#tatp/} "*) ;;
		*) objects="$objects $O/obj/demo/$part.o" ;;
		esac
	done <"$O/tests/demo/serial-parts"
	for source in "$@"; do
		if ! $CC -std=gnu11 -D_GNU_SOURCE -O2 -g -w -c -o "new/${source##*/}.o" \
			"demo/tatp/$source.c" >out 2>&1; then
			not_ok "$name" "not built: $(head -n 3 out)"
			return
		fi
		objects="$objects new/${source##*/}.o"
	done
	# shellcheck disable=SC2046,SC2086 # several objects and options
	if ! $CC -o broken "$O"/obj/tests/demo/serial*.o $objects -pthread -lm -lz $(printf \
		' -Wl,--wrap=%s' btree_lookup btree_range btree_insert btree_delete heap_read \
		heap_update heap_insert heap_delete xct_commit xct_rollback) >out 2>&1; then
		not_ok "$name" "not linked: $(head -n 3 out)"
		return
	fi
	ulimit -c 0
	at=0
	while [ $at -lt "$SEEDS_MAX" ]; do
		at=$((at + 1))
		timeout -k 5 20 ./broken $at 2000 >out 2>&1 && continue
		rc=$?
		ok "$name"
		[ -z "${VERBOSE:-}" ] || echo "note $name: seed $at, exit $rc: $(head -c 300 out | head -n 1)"
		return
	done
	not_ok "$name" "nothing was found on $SEEDS_MAX seeds"
}

test_caught() {
	caught no-phantom-protection bench/tatp.c \
		'/^static int read_forwardings/,/^}/{s/int err = lock_key(.*/int err = 0;/;/LOCK_S);/d}' bench/tatp
	caught insert-without-key bench/tatp.c \
		'/^static int insert_call_forwarding/,/^}/{s/err = lock_key(.*/err = 0;/;/LOCK_X);/d}' bench/tatp
	caught delete-without-key bench/tatp.c \
		'/^static int delete_call_forwarding/,/^}/s/LOCK_X, &rid/LOCK_S, \&rid/' bench/tatp
	caught lock-released-early heap.c '/^int heap_read/,/^}/s/^\tbuffer_unfix(.*/&\
		if (mode == LOCK_S \&\& !x->xid) lock_end(x->locks);/' heap
	caught read-without-lock heap.c '/^int heap_read/,/^}/s/int err = lock_row(.*/int err = 0;/' heap
	caught write-under-read-lock heap.c '/^static int fix_row/,/^}/s/LOCK_X/LOCK_S/' heap
	caught slot-without-lock heap.c \
		's/err = lock_row(x->locks, heap->store, rid_of(page->id, \*slot), LOCK_X, false);/err = 0;/' \
		heap
	caught rollback-releases-first xct.c \
		'/^int xct_rollback/,/^}/s/^\tx->undoing = true;/&\n\tlock_end(x->locks);/' xct
	caught rollback-leaves-one xct.c \
		's/^\t\terr = undo(x, (const struct log_record/\t\tif (at)\n&/' xct
	caught release-before-commit xct.c \
		'/^int xct_commit/,/^}/s/^\tuint64_t lsn = leave/\tlock_end(x->locks);\n&/' xct
	caught inherited-beside-writer sli.c \
		's/if (!change(r, REQUEST_INACTIVE, REQUEST_INVALID))/if (0)/' sli
	caught converts-beside-others lock.c \
		's/if (first && lock_grantable/if (own || first \&\& lock_grantable/' lock
}

test_sound() {
	sound plain "$seeds" "$serial"
	sound no-inheritance "$seeds" "$serial" --sli=off
	sound tree "$seeds" "$serial" --locks=tree
	why=$(lacks emulator plain)
	[ -z "$why" ] || { skip serial-simulated "$why"; return; }
	for rate in 0 50 100; do
		simulated simulated-selected-$rate $rate --locks=selected
		simulated simulated-all-$rate $rate --locks=all --latch-stats=thread
	done
	simulated simulated-tree 0 --locks=tree
	simulated simulated-api 0 --locks=all --latch-stats=thread --means=api
}

test_sound
test_caught
finish
