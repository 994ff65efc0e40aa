#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
#
# page_bench: its command line and manual page; every workload under every kind of latch; a file
# that is larger than its pool, opened again, examined, interrupted and killed; the space that B*
# and XMerge save; and, on simulated cores, what the report says of page latches before and after
# Contention Split. KILLS sets how often a run is killed, PAGES_SEED the seed of the moments.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/page_bench
no_settings

# A frame has one page after another, so the order of their latches is none of the frames.
export TSAN_OPTIONS="detect_deadlocks=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

kills=${KILLS:-4}
seed=${PAGES_SEED:-1}

# runs NAME ARG...: exit 0, and the program finds its trees and their content right.
runs() {
	name=$1
	shift
	bench_run --json "$@"
	if [ $rc -eq 0 ] && [ "$(jq -r .check "$tmp/out")" = ok ]; then
		ok "$name"
	else
		not_ok "$name" "exit $rc: $(head -n 1 "$tmp/err")"
	fi
}

test_options() {
	documented demo/pages/bench/options.def demo/pages/bench/workloads.def demo/pages/latches.def
	refused unknown-latch "--latch=x: must be one of $(in_words latch)" --latch=x
	refused json-csv '--json, --csv: one of them' --json --csv
	refused io-without-file '--io: needs --file=FILE' --io=direct
	refused file-without-io '--io=none: not with --file' --io=none --file="$tmp/none"
	refused check-without-file '--open, --check: need --file=FILE' --check
	refused period '--period: less than --sample' --period=1
	refused read-only '--read-only: with --open and --workload=lookups alone' --read-only \
		--file="$tmp/none"
	refused until '--until: needs --xmerge=after' --until=50
	refused small-pool 'memory: needs up to --pool-mib=228' --pool-mib=8
	refused no-file "$tmp/none: No such file or directory" --open --file="$tmp/none"
	echo 'not a file of pages' >"$tmp/foreign"
	cp "$tmp/foreign" "$tmp/foreign.was"
	bench_run --open --file="$tmp/foreign"
	if [ $rc -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && cmp -s "$tmp/foreign" "$tmp/foreign.was"
	then ok foreign-file; else not_ok foreign-file "exit $rc: $(cat "$tmp/err")"; fi
}

test_workloads() {
	for latch in $(names latch); do
		for workload in inserts lookups updates; do
			runs "$workload-$latch" --workload=$workload --latch="$latch" --threads=4 \
				--entries=20000 --operations=40000 --pool-mib=64 --latency
		done
		for news in $(names news); do
			runs "news-$news-$latch" --workload=news --latch="$latch" --threads=4 --news="$news" \
				--entries=20000 --window=5000 --shift-ms=20 --operations=60000 --pool-mib=64
		done
		rm -f "$tmp/tpcc"
		runs "tpcc-$latch" --workload=tpcc --latch="$latch" --threads=4 --warehouses=2 --scale=100 \
			--operations=8000 --file="$tmp/tpcc" --io=buffered --pool-mib=1
	done
	runs tpcc-opened --workload=tpcc --threads=2 --warehouses=2 --scale=100 --operations=2000 \
		--file="$tmp/tpcc" --io=buffered --pool-mib=1 --open
	runs warm-up --workload=inserts --threads=3 --warmup=30000 --operations=20000 --pool-mib=64 \
		--latency --timeline="$tmp/timeline" --interval=1
	if jq -e '.operations == 20000 and .entries == 50000 and .grown_mib > 0 and
		.mib - .loaded_mib > 1.5 * .grown_mib' "$tmp/out" >"$tmp/jq" &&
	   [ "$(awk -F, 'NR > 1 { n += $2 } END { print n }' "$tmp/timeline")" -eq 20000 ]; then
		ok warm-up-is-not-measured
	else
		not_ok warm-up-is-not-measured "$(jq -c '[.operations, .entries, .mib, .loaded_mib,
			.grown_mib]' "$tmp/out")"
	fi
	for data in $(names data); do
		for order in $(names order); do
			runs "inserts-$data-$order" --data="$data" --order="$order" --operations=20000 \
				--pool-mib=64
		done
	done
}

# A file that is 10 times as large as the pool.
test_file() {
	f=$tmp/file
	runs file-load --file="$f" --io=buffered --pool-mib=1 --operations=60000 --threads=3
	runs file-more --file="$f" --io=buffered --pool-mib=1 --operations=5000 --open
	runs file-updates --file="$f" --io=buffered --pool-mib=1 --workload=updates --operations=5000 --open
	cp "$f" "$f.was"
	runs file-lookups --file="$f" --io=buffered --pool-mib=1 --workload=lookups --operations=20000 \
		--open --read-only --threads=2
	if cmp -s "$f" "$f.was" && [ "$(jq .io.writes "$tmp/out")" -eq 0 ] &&
	   [ "$(jq .io.reads "$tmp/out")" -gt 1000 ]; then
		ok reads-write-nothing
	else
		not_ok reads-write-nothing "$(jq -c .io "$tmp/out")"
	fi
	bench_run --check --file="$f"
	if [ $rc -eq 0 ]; then ok file-check; else not_ok file-check "$(cat "$tmp/out" "$tmp/err")"; fi
}

# A run that is interrupted closes its file.
test_interrupt() {
	f=$tmp/interrupted
	"$bench" --file="$f" --io=buffered --pool-mib=1 --seconds=50 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	rc=$?
	"$bench" --check --file="$f" >"$tmp/check" 2>&1
	if [ $rc -eq 130 ] && grep -q ', clean$' "$tmp/check" && grep -q 'check  *ok' "$tmp/out"; then
		ok interrupt
	else
		not_ok interrupt "exit $rc: $(cat "$tmp/err" "$tmp/check")"
	fi
}

# One that is killed leaves a file that is whole, or that is refused.
test_kill() {
	whole=0 refused=0
	for i in $(seq "$kills"); do
		f=$tmp/killed
		cp "$tmp/file" "$f"
		"$bench" --file="$f" --io=buffered --pool-mib=1 --open --seconds=50 --threads=2 \
			>/dev/null 2>&1 &
		pid=$!
		# 5 ms to 0.6 s
		sleep "$(awk -v seed="$seed" -v i="$i" 'BEGIN { srand(seed * 1000 + i); print 0.005 + rand() ^ 3 * 0.6 }')"
		kill -KILL $pid
		wait $pid 2>/dev/null
		bench_run --json --file="$f" --io=buffered --pool-mib=1 --open --workload=lookups \
			--operations=100
		if [ $rc -eq 0 ] && [ "$(jq -r .check "$tmp/out")" = ok ]; then
			whole=$((whole + 1))
		elif [ $rc -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ]; then
			refused=$((refused + 1))
			"$bench" --check --file="$f" >"$tmp/check" 2>&1
			[ $? -eq 1 ] && tail -n 1 "$tmp/check" | grep -q ', not clean$' && continue
			not_ok kill "PAGES_SEED=$seed, run $i: --check says $(tail -n 1 "$tmp/check")"
			return
		else
			not_ok kill "PAGES_SEED=$seed, run $i: exit $rc: $(cat "$tmp/err")"
			return
		fi
	done
	ok kill
	echo "note of $kills killed runs, $whole left the file whole, and of $refused it was refused"
}

# pages NAME ARG...: pages of a tree of 200000 random entries
pages() {
	bench_run --json --operations=200000 --pool-mib=64 "$@"
	jq .pages "$tmp/out"
}

# ratio NAME A B FROM TO: A / B lies between the two. One thread makes the same pages each time.
ratio() {
	if awk -v a="$2" -v b="$3" -v from="$4" -v to="$5" 'BEGIN { exit !(b > 0 && a / b >= from && a / b <= to) }'
	then ok "$1"; else not_ok "$1" "$2 / $3"; fi
}

# The published ratios, CIDR 2021, section 5.2: 0.850 and 0.802.
test_space() {
	b=$(pages)
	ratio fill "$(jq .fill_percent "$tmp/out")" 100 0.66 0.72
	ratio bstar "$(pages --bstar=on)" "$b" 0.82 0.88
	ratio xmerge "$(pages --xmerge=after)" "$b" 0.74 0.84
	ratio xmerge-3 "$(pages --xmerge=after --k=3)" "$(pages --xmerge=after)" 1.03 1.2
}

# profiled NAME ARG...: the report of a run of 4 simulated threads is $tmp/NAME.json
profiled() {
	name=$1
	shift
	timeout 120 "$elide" run -q --emulate=epyc7702 --mode=profile --seed=1 -o "$tmp/data" -- "$bench" \
		--json --file="$tmp/hot" --io=buffered --pool-mib=16 --workload=updates --latch=rwlock \
		--threads=4 --xmerge=off "$@" >"$tmp/$name" 2>"$tmp/err" &&
		"$elide" report --json -i "$tmp/data" >"$tmp/$name.json" 2>>"$tmp/err"
}

# worst NAME: the verdict of page latches in updates, and its line says where they are acquired
worst() {
	python3 - "$tmp/$1.json" <<'END'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"]
        if "frames_init" in r["lock"] and r["site"].get("inlined_into") == "page_tree_update"]
worst = max(rows, key=lambda r: r["wait_ns"]["total"] or 0)
print(worst["verdict"], worst["site"]["file"], worst["kind"])
END
}

# 400 entries in one leaf, all of them hot; then Contention Split; then the leaves that it made.
test_report() {
	why=$(lacks emulator plain python3)
	[ -z "$why" ] || { skip report "$why"; return; }
	profiled before --entries=400 --value=16 --split=off --operations=20000 &&
		profiled splitting --open --sample=0 --period=3 --pct=3 --operations=60000 &&
		profiled after --open --split=off --operations=20000 || { not_ok report "$(cat "$tmp/err")"; return; }
	before=$(worst before) after=$(worst after)
	case $before in
	bottleneck\ demo/pages/latch.h\ rwlock-write) ok report-before ;;
	*) not_ok report-before "$before" ;;
	esac
	case $after in
	bottleneck*) not_ok report-after "$after" ;;
	*) ok report-after ;;
	esac
	if [ "$(jq .tree.contention_splits "$tmp/splitting")" -gt 100 ]; then
		ok report-split
	else
		not_ok report-split "$(jq -c .tree "$tmp/splitting")"
	fi
}

# elided LATCH: the line at which most aborts are, as FUNCTION LOCK; or nothing
elided() {
	timeout 120 "$elide" run -q --emulate=icelake-server --policy=fixed --seed=1 -o "$tmp/data" -- \
		"$bench" --json --workload=updates --entries=2000 --value=16 --pool-mib=16 --split=off \
		--xmerge=off --latch="$1" --threads=4 --operations=20000 >"$tmp/out" 2>"$tmp/err" &&
		"$elide" report --by line --csv -i "$tmp/data" 2>>"$tmp/err" | python3 -c '
import collections, csv, sys
lines = collections.defaultdict(set)
aborts = {}
for row in csv.DictReader(sys.stdin):
    aborts[row["number"]] = int(row["aborts"])
    # A latch begins with its version, of eight bytes, and its lock is behind that.
    version = row["type"] == "lock" and row["access"] == "write" and int(row["first_byte"]) < 8
    lines[row["number"]].add((version, row["lock"]))
all = sum(aborts.values())
version = [n for n in lines if any(v for v, _ in lines[n])]
pool = [n for n in lines if any("frames_init" in lock for _, lock in lines[n])]
print("most" if 2 * sum(aborts[n] for n in version if n in pool) > all else "few")'
}

# Elided writers of a hybrid latch conflict at its version, which those of a pthread lock do not have.
test_elided() {
	why=$(lacks emulator plain python3)
	[ -z "$why" ] || { skip elided "$why"; return; }
	for pair in hybrid:most rwlock:few; do
		got=$(elided ${pair%:*})
		[ "$got" = ${pair#*:} ] && ok "elided-${pair%:*}" ||
			not_ok "elided-${pair%:*}" "aborts at the version: $got; $(cat "$tmp/err")"
	done
}

if ! command -v jq >/dev/null; then
	skip pages 'jq is not installed'
else
	test_options
	test_workloads
	test_file
	test_interrupt
	test_kill
	test_space
	test_report
	test_elided
fi
finish
