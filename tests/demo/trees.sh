#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=35 parts=2
#
# The trees of the thesis on simulated cores: under each scheme exact, and every answer
# linearizable, with TREE_SEEDS seeds and 0, 10 and 100 per cent of the transactions aborted.
# Other options than the default ones have half as many. By default there are two seeds, and the
# two tests of a scheme have the three rates together; make check-long has 30 seeds. Nodes are
# small, so that they split all the time.

. "$(dirname "$0")/../script.sh"
bench=$O/bin/index_bench
linear=$O/tests/demo/linear
seeds=${TREE_SEEDS:-2}
# Longest run, seconds of real time: fifty times what one takes.
LIMIT=300
cd "$tmp" || exit 1
no_settings

# variants: INDEX SCHEME of each tree whose schemes are not one global latch
variants() {
	"$bench" --list | awk '$1 == "variant" && $2 != "btree" && $2 != "delta" {
		gsub(",", ""); for (i = 3; i <= NF; i++) if ($i != "none") print $2, $i }'
}

# seeds_of [OPTION=VALUE]: how many
seeds_of() {
	case ${1:-} in
	'') echo "$seeds" ;;
	*) echo $(((seeds + 1) / 2)) ;;
	esac
}

# rate_of NUMBER: the rate of a run, by a number that counts up
rate_of() { echo 0 10 100 | cut -d ' ' -f $(($1 % 3 + 1)); }

# emulated SCHEME SEED RATE COMMAND...: with the library for the locks that it can elide. The
# library also begins the spurious aborts, so it is loaded for transactions of the program, too.
emulated() {
	case $1 in
	latch-pthread) mode=--policy=fixed model= ;;
	latch-hle)
		# The machines that have HLE, in turn.
		mode='--mode=profile --hle=yes'
		case $(($2 % 2)) in 0) model==haswell ;; 1) model==skylake-client ;; esac
		;;
	*) mode=--mode=profile model= ;;
	esac
	seed=$2 rate=$3
	shift 3
	# shellcheck disable=SC2086 # several arguments
	timeout -k 5 $LIMIT "$elide" run -q --emulate$model --cores=4 --seed="$seed" \
		--abort-rate="$rate" $mode -o d.data -- "$@" >out 2>err
}

# Small nodes, if the tree has the option; the smallest that all schemes have.
node_of() {
	case $1 in bplus | blink | olfit | bx | csb | bw) echo 128 ;; esac
}

# test_exact INDEX SCHEME [OPTION=VALUE]
test_exact() {
	name=$1-$2${3:+-$3} node=$(node_of "$1") at=0
	while [ $at -lt "$(seeds_of ${3:+"$3"})" ]; do
		at=$((at + 1))
		rate=$(rate_of $((at + 2)))
		if ! emulated "$2" $at "$rate" "$bench" --index="$1" --scheme="$2" \
			${node:+--node="$node"} ${3:+"--$3"} --seed=$at --threads=4 \
			--preload=300 --ops=2000 --updates=40 --deletes=20 --scans=5 --json ||
		   ! grep -q '"check":"ok"' out; then
			not_ok "exact-$name" "seed $at, rate $rate: $(cat out err)"
			return
		fi
	done
	ok "exact-$name"
}

test_linear() {
	name=$1-$2${3:+-$3} node=$(node_of "$1") at=0
	while [ $at -lt "$(seeds_of ${3:+"$3"})" ]; do
		at=$((at + 1))
		rate=$(rate_of $at)
		if ! emulated "$2" $at "$rate" "$linear" "$1" "$2" $at 4 \
			${node:+node="$node"} ${3:+"$3"}; then
			not_ok "linear-$name" "seed $at, rate $rate: $(cat out err)"
			return
		fi
	done
	ok "linear-$name"
}

# test_pages LATCH: the tree in pages with elided latches and fewer frames than pages, so that pages
# are read, written, evicted and merged meanwhile, and the histories of a few keys.
test_pages() {
	at=0
	while [ $at -lt "$(seeds_of "$1")" ]; do
		at=$((at + 1))
		rate=$(rate_of $((at + ${#1})))
		if ! emulated latch-pthread $at "$rate" "$bench" --index=pages --scheme=olc \
			--page-latch="$1" --frames=16 --seed=$at --threads=4 --preload=12000 \
			--ops=1000 --updates=40 --deletes=20 --scans=5 --json ||
		   ! grep -q '"check":"ok"' out ||
		   ! emulated latch-pthread $at "$rate" "$linear" pages olc $at 4 \
			page-latch="$1"; then
			not_ok "pages-$1" "seed $at, rate $rate: $(cat out err)"
			return
		fi
	done
	ok "pages-$1"
}

# Elided without spurious aborts, and never where all abort.
test_elided() {
	for rate in 0 100; do
		emulated latch-pthread 1 $rate "$bench" --index="$1" --scheme=latch-pthread \
			--threads=4 --preload=3000 --ops=4000 --json &&
			timeout $LIMIT "$elide" report --json d.data >"report$rate" 2>>err || break
	done
	if [ -s report100 ] && python3 - <<'PYTHON'
import json
total = [json.load(open(f"report{rate}"))["totals"] for rate in (0, 100)]
assert total[0]["elided"] > 10 * total[0]["fallback"], total[0]
assert total[1]["elided"] == 0 and total[1]["fallback"] > 0, total[1]
PYTHON
	then
		ok "elided-$1"
	else
		not_ok "elided-$1" "$(cat out err)"
	fi
	rm -f report0 report100
}

# test_counts INDEX SCHEME: each transaction commits or aborts for one cause; most commit without
# spurious aborts, and none where all abort.
test_counts() {
	for rate in 0 10 100; do
		emulated "$2" 1 $rate "$bench" --index="$1" --scheme="$2" --node=128 --threads=4 \
			--preload=3000 --ops=4000 --updates=20 --deletes=20 --json || break
		cp out "counts$rate"
	done
	if [ -s counts100 ] && python3 - 2>>err <<'PYTHON'
import json
for rate in (0, 10, 100):
    c = json.load(open(f"counts{rate}"))["transactions"]
    aborts = c["conflict"] + c["capacity"] + c["held"] + c["other"]
    assert c["begun"] == c["committed"] + aborts, c
    assert c["fallbacks"] <= aborts, c
    assert (c["committed"] == 0) == (rate == 100), c
    assert rate or c["committed"] > 50 * c["fallbacks"], c
    assert c["other"] * 200 >= rate * c["begun"], c
PYTHON
	then
		ok "counts-$1-$2"
	else
		not_ok "counts-$1-$2" "$(cat counts* err)"
	fi
	rm -f counts0 counts10 counts100
}

# Under cas no transaction is begun, and a compare-and-swap that fails is counted.
test_restarts() {
	if emulated cas 1 0 "$bench" --index=bw --scheme=cas --threads=4 --preload=100 \
		--ops=20000 --updates=50 --deletes=50 --json && python3 - out 2>>err <<'PYTHON'
import json, sys
c = json.load(open(sys.argv[1]))["transactions"]
assert c["restarts"] > 0 and sum(c.values()) == c["restarts"], c
PYTHON
	then
		ok restarts-bw-cas
	else
		not_ok restarts-bw-cas "$(cat out err)"
	fi
}

# What the library counts for a class of locks must not abort its sections: with many locks that
# become known to a second thread all the time, a twentieth of the attempts aborts at most
# (0.8 % here; it was 34 % when the counts shared a line with what a section reads). Without timer interrupts: each
# makes a thread lock the root, which aborts the others, 5 % in all.
test_own_lines() {
	timeout -k 5 $LIMIT "$elide" run -q --emulate=flat:tick=0 --cores=4 --seed=1 --policy=fixed -o d.data -- \
		"$bench" --index=bplus --scheme=latch-pthread --threads=4 --update-rate=25 \
		--preload=200000 --fill=69 --ops=8000 --node=128 --csv >out 2>err
	timeout $LIMIT "$elide" report --json d.data >report 2>>err
	if ! grep -q '"ok"$' out; then
		not_ok own-lines "$(cat out err)"
	elif grep -q '"elide_class' report; then
		not_ok own-lines 'the report names functions of the library'
	elif ! python3 -c '
import json
total = json.load(open("report"))["totals"]
assert total["attempts"] > 7000, total
assert total["aborts"] < total["attempts"] / 20, total' 2>>err; then
		not_ok own-lines "$(tail -n 1 err)"
	else
		ok own-lines
	fi
}

needs trees emulator plain python3
variants >variants
while read -r index scheme; do
	! mine || test_exact "$index" "$scheme" </dev/null
	! mine || test_linear "$index" "$scheme" </dev/null
	[ "$scheme" != latch-pthread ] || ! mine || test_elided "$index" </dev/null
done <variants
for split in path upgrade proactive; do
	! mine || test_exact bplus latch split=$split
	! mine || test_linear bplus latch split=$split
done
! mine || test_linear bplus latch-pthread split=proactive
for option in fallback=version attempts=1; do
	! mine || test_exact bx rtm $option
	! mine || test_linear bx rtm $option
done
for option in chain=0 chain=1; do
	! mine || test_exact bw cas $option
	! mine || test_linear bw cas $option
done
for option in attempts=0 attempts=1; do
	! mine || test_exact bw mwcas $option
	! mine || test_linear bw mwcas $option
done
for latch in hybrid rwlock mutex; do
	! mine || test_pages $latch
done
! mine || test_counts bx rtm
! mine || test_counts bw mwcas
! mine || test_restarts
! mine || test_own_lines
finish
