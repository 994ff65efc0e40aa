#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=35 parts=4
#
# The delta storage on an emulated machine with RTM, as it is and made friendly to elision: exact
# with many seeds and rates of spurious aborts, and what the transformations are for. DELTA_SEEDS
# how many seeds, which have the rates in turn. Nothing here depends on how fast this machine is.

. "$(dirname "$0")/../script.sh"
bench=$O/bin/index_bench
linear=$O/tests/demo/linear
seeds=${DELTA_SEEDS:-15}
# Longest run, seconds of real time: a hundred times what one takes.
LIMIT=60
cd "$tmp" || exit 1
no_settings

plain=
friendly='--search=binary --dictionary=per-core --allocator=per-core'

# emulated SEED RATE CORES ARG...: the delta storage under a spin lock that is elided, into
# out and d.data; fails if it is not exact.
emulated() {
	seed=$1 rate=$2 cores=$3
	shift 3
	rm -f d.data*
	timeout -k 5 $LIMIT "$elide" run -q --emulate --cores="$cores" --seed="$seed" \
		--abort-rate="$rate" --policy=fixed -o d.data -- \
		"$bench" --index=delta --scheme=spin --seed="$seed" --json "$@" >out 2>err || return 1
	grep -q '"check":"ok"' out
}

# as_it_should RATE: elided without spurious aborts, and never where all abort.
as_it_should() {
	case $1 in
	100) [ "$(sum elided d.data)" -eq 0 ] && [ "$(sum fallback d.data)" -gt 0 ] ;;
	*) [ "$(sum elided d.data)" -gt "$(sum fallback d.data)" ] ;;
	esac
}

# rate_of SEED
rate_of() { echo 0 10 100 | cut -d ' ' -f $(($1 % 3 + 1)); }

# test_seeds NAME FORM: threads that search, insert, delete and scan few keys.
test_seeds() {
	name=$1 form=$2 at=0
	while [ $at -lt "$seeds" ]; do
		at=$((at + 1))
		rate=$(rate_of $at)
		# shellcheck disable=SC2086 # several arguments
		if ! emulated $at "$rate" 4 --threads=4 --preload=300 --ops=2000 \
			--updates=40 --deletes=20 --scans=5 $form; then
			not_ok "$name" "seed $at, rate $rate: $(cat out err)"
			return
		fi
		if ! as_it_should "$rate"; then
			not_ok "$name" "seed $at, rate $rate: $(sum elided d.data) elided"
			return
		fi
	done
	ok "$name"
}

# The latch with the prefixes, elided by the machine itself; the library takes no part.
test_hle() {
	for index in btree delta; do
		at=0
		while [ $at -lt $(((seeds + 2) / 3)) ]; do
			at=$((at + 1))
			timeout -k 5 $LIMIT "$elide" run -q --emulate=haswell --hle=yes --cores=4 \
				--seed=$at --mode=off -o d.data -- "$bench" --index=$index \
				--scheme=hle --seed=$at --threads=4 --preload=300 --ops=2000 \
				--updates=40 --deletes=20 --scans=5 --json >out 2>err
			grep -q '"check":"ok"' out && continue
			not_ok "hle-$index" "seed $at: $(cat out err)"
			return
		done
		ok "hle-$index"
	done
}

# test_linear INDEX: whether an order explains every answer of elided operations.
test_linear() {
	at=0
	while [ $at -lt "$seeds" ]; do
		at=$((at + 1))
		rate=$(rate_of $at)
		if ! timeout -k 5 $LIMIT "$elide" run -q --emulate --cores=4 --seed=$at \
			--abort-rate="$rate" --policy=fixed -o d.data -- \
			"$linear" "$1" spin $at 4 >out 2>err ||
		   ! as_it_should "$rate"; then
			not_ok "linear-$1" "seed $at, rate $rate: $(cat out err)"
			return
		fi
	done
	ok "linear-$1"
}

# And without a lock none does, on one of these seeds; the index may also break first.
test_linear_no_lock() {
	at=0
	while [ $at -lt 10 ]; do
		at=$((at + 1))
		timeout -k 5 $LIMIT "$elide" run -q --emulate --cores=4 --seed=$at --mode=off \
			-o d.data -- "$linear" delta none $at 10 >out 2>err
		if [ $? -eq 1 ] && grep -q 'no order explains' out; then
			ok linear-no-lock-is-caught
			return
		fi
	done
	not_ok linear-no-lock-is-caught "every answer on 10 seeds was in order: $(cat out err)"
}

# One number for one seed, however often.
test_repeats() {
	for run in 1 2; do
		# shellcheck disable=SC2086
		emulated 7 10 4 --threads=4 --preload=300 --ops=2000 --updates=40 $friendly
		cp out "run$run"
	done
	if [ -s run1 ] && cmp -s run1 run2; then
		ok repeats
	else
		not_ok repeats "$(cat run1 run2)"
	fi
}

# All threads insert: with one dictionary they conflict at its size, with one for each core
# they hardly do, and that is what they gain.
test_transformations() {
	for form in plain friendly; do
		eval "switches=\$$form"
		# shellcheck disable=SC2086
		emulated 1 0 8 --threads=8 --preload=20000 --warmup=1600 --ops=16000 \
			--updates=100 $switches || break
		echo $(($(sum attempts d.data) - $(sum commits d.data))) >"$form.aborts"
		sed 's/.*"throughput_ops_s":\([0-9]*\).*/\1/' out >"$form.rate"
	done
	if awk -v a="$(cat plain.aborts)" -v b="$(cat friendly.aborts)" \
		-v r="$(cat plain.rate)" -v s="$(cat friendly.rate)" \
		'BEGIN { exit !(a > 4 * b && s > 1.5 * r) }'; then
		ok transformations
	else
		not_ok transformations "$(paste -sd' ' ./*.aborts ./*.rate; cat err)"
	fi
}

# Without a lock threads that insert destroy the index, and the check must see it on one of
# these seeds: the same interleavings that elision is exact under.
test_no_lock_is_caught() {
	at=0
	while [ $at -lt 10 ]; do
		at=$((at + 1))
		timeout -k 5 $LIMIT "$elide" run -q --emulate --cores=4 --seed=$at --mode=off \
			-o d.data -- "$bench" --index=delta --scheme=none --unsafe --seed=$at \
			--threads=4 --preload=300 --ops=4000 --updates=100 --json >out 2>err
		if [ $? -eq 1 ] && grep -q '"check":"[^o]' out; then
			ok no-lock-is-caught
			return
		fi
	done
	not_ok no-lock-is-caught "no fault was found on 10 seeds: $(cat out err)"
}

# HPCA'14's policy notes each acquisition in the open transaction. On a machine whose transactions
# abort at a page's first touch it must elide all the same.
test_first_touch() {
	rm -f d.data*
	timeout -k 5 $LIMIT "$elide" run -q --emulate=haswell --seed=1 --policy=hpca -o d.data -- \
		"$bench" --index=btree --scheme=spin --threads=2 --preload=2000 --ops=4000 --updates=0 >out 2>err
	if [ "$(sum elided d.data)" -gt 3000 ]; then
		ok first-touch
	else
		not_ok first-touch "$(sum elided d.data) of 4000 elided; $(cat err)"
	fi
}

needs delta-emulated emulator plain
! mine || test_seeds seeds-plain "$plain"
! mine || test_seeds seeds-friendly "$friendly"
! mine || test_seeds seeds-friendly-strings "$friendly --values=string"
! mine || test_hle
! mine || test_linear btree
! mine || test_linear delta
! mine || test_linear_no_lock
! mine || test_repeats
! mine || test_transformations
! mine || test_first_touch
! mine || test_no_lock_is_caught
finish
