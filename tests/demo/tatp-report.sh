#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=35
#
# What the library's report says of tatp_bench on simulated cores: with srw latches elided through
# elide.h, that the latch's own statistics make them abort, and that a counter of each thread
# removes that and is faster; with latches of pthread, the role of each latch and who acquires it.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/tatp_bench
no_settings

# simulated NAME OPTION... -- ARG...: the report is $tmp/NAME.json, the output $tmp/NAME.
simulated() {
	name=$1
	shift
	timeout 120 "$elide" run -q --emulate=haswell --cores=4 --seed=1 -o "$tmp/data" "$@" --json \
		>"$tmp/$name" 2>"$tmp/err" &&
		"$elide" report --json -i "$tmp/data" >"$tmp/$name.json" 2>>"$tmp/err"
}

# says NAME FILE PYTHON: an expression of the report's rows is true.
says() {
	if python3 - "$tmp/$2.json" 2>"$tmp/why" <<END
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
def functions(row):
    return {row["site"].get("symbol"), row["site"].get("inlined_into")}
def of(role, function):
    return [r for r in rows if r["lock"].endswith(" in %s_latches" % role) and function in functions(r)]
def advice(row):
    return [f["advice"] for f in row["findings"]]
sys.exit(0 if ($3) else "not $1")
END
	then ok "$1"; else not_ok "$1" "$(cat "$tmp/why")"; fi
}

# The policy is the paper's, which does not pause where elision loses.
test_statistics() {
	for stats in shared thread; do
		simulated $stats --policy=damon -- "$bench" --subscribers=1000 --threads=4 \
			--operations=4000 --mix=getsub --locks=all --means=api --helpers=off \
			--latch-stats=$stats || { not_ok statistics "$(cat "$tmp/err")"; return; }
	done
	# Of the rows, the one that wastes most is that of the pages.
	says statistics-lose shared 'max(rows, key=lambda r: r["wasted_cycles"]) in of("page", "buffer_fix")'
	says statistics-reason shared 'all(advice(r)[0] == "section_counter" and
		"latch_total (latch.h:" in r["findings"][0]["text"] and
		"one of each thread" in r["findings"][0]["text"]
		for r in of("page", "buffer_fix")) and of("page", "buffer_fix")'
	says statistics-per-thread thread 'of("page", "buffer_fix") and
		not any("section_counter" in advice(r) for r in of("page", "buffer_fix"))'
	if jq -es '.[0].seconds > 1.1 * .[1].seconds' "$tmp/shared" "$tmp/thread" >/dev/null; then
		ok statistics-gain
	else
		not_ok statistics-gain "$(jq -c .seconds "$tmp/shared" "$tmp/thread" | xargs) s"
	fi
}

# Latches of pthread that the preloaded library elides: the report names all roles.
test_roles() {
	for kind in pthread-rwlock pthread-mutex pthread-spin; do
		set --
		for role in $(names role | grep -v '^tree$'); do set -- "$@" "--latch=$role=$kind"; done
		simulated $kind -- "$bench" --subscribers=100 --threads=4 --operations=1000 "$@" ||
			{ not_ok roles-$kind "$(cat "$tmp/err")"; continue; }
		says roles-$kind $kind 'of("lock_buckets", "lock_head_get") and
			of("page", "buffer_fix") and of("log_insert", "log_insert") and
			of("lock_heads", "lock_head_latch") and of("xct_locks", "find") and
			of("buffer_buckets", "bucket_pin") and of("log_flush", "make_durable") and
			of("checkpoint_gate", "leave") and of("histogram", "room_set")'
	done
}

needs tatp-report emulator plain python3
test_statistics
test_roles
finish
