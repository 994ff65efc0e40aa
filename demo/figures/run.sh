#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The figures of HPCA 2014 on simulated machines: runs each point of the plan
# once, then writes demo/results/figures.csv, a picture of each figure and
# demo/RESULTS.md. O is the build directory. FULL=1 loads the paper's number of keys.
# JOBS is the number of simulated machines that run at the same time. Each point is
# appended to O/figures.points (FULL=1: O/figures-full.points) when it is measured.
# POINTS=FILE takes the points of such a file instead of running them. ONLY=FIGURE runs
# and prints the points of one figure only. Must never print a number that no run gave.

O=$(cd "${O:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
results=$here/../results
page=$here/../RESULTS.md
plan=$here/plan
PATH=$O/bin:$PATH
# Keys loaded and operations measured. A B+Tree of 200,000 keys fits into the last-level cache.
KEYS=200000
OPS=20000
# Limit of a run in seconds: many times the duration of the slowest.
LIMIT=120
if [ -n "${FULL:-}" ]; then
	KEYS=20000000
	OPS=200000
	LIMIT=3600
fi
left=$O/figures${FULL:+-full}.points
# Without concurrency control a run can damage the index: the seeds that are tried in turn.
SEEDS='1 2'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # several jobs; each ends its simulated machine
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM

die() {
	echo "figures: $*" >&2
	exit 1
}

# field KEYWORD NAME NUMBER: of the line of the plan
field() { awk -F'|' -v k="$1" -v n="$2" -v i="$3" '$1 == k && $2 == n { print $i }' "$plan"; }

# Each point, INDEX.SCHEME.MACHINE.THREADS.INSERTS, once.
points() {
	awk -F'|' -v only="${ONLY:-}" '
	$1 == "figure" { wanted = only == "" || $2 == only }
	$1 == "curve" && wanted {
		nr_threads = split($6, threads, " ")
		nr_inserts = split($7, inserts, " ")
		for (t = 1; t <= nr_threads; t++)
			for (i = 1; i <= nr_inserts; i++)
				print $3 "." $4 "." $5 "." threads[t] "." inserts[i]
	}' "$plan" | sort -u
}

# attempt POINT SEED: run the point; writes POINT.attempt: POINT OPS_S REAL% ABORTS% CHECK
attempt() {
	local point=$1 seed=$2 index scheme machine threads inserts counted
	IFS=. read -r index scheme machine threads inserts <<<"$point"
	# shellcheck disable=SC2046 # options of the plan
	timeout -k 5 $LIMIT elide run -q -o "$work/$point.data" --seed="$seed" \
		$(field machine "$machine" 3) $(field scheme "$scheme" 3) -- \
		index_bench --pin --threads="$threads" --updates="$inserts" --preload=$KEYS \
		--ops=$OPS --seed="$seed" --csv $(field index "$index" 3) \
		$(field scheme "$scheme" 4) >"$work/$point.out" 2>"$work/$point.err" &
	# timeout puts the run into a process group of its own, which gets no signal of ours.
	trap "kill $!; exit 1" TERM
	wait $!
	trap - TERM
	[ -s "$work/$point.out" ] || return 1
	counted=$(elide report --csv "$work/$point.data" 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			acquired += $at["acquired"]
			real += $at["fallback"] + $at["not_attempted"]
			aborts += $at["aborts"]
			attempts += $at["attempts"]
		}
		END {
			if (attempts)
				printf "%.3f %.3f", 100 * real / acquired, 100 * aborts / attempts
			else
				printf "- -"
		}')
	awk -F, -v point="$point" -v counted="${counted:-- -}" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			check = $at["check"]
			gsub(/"/, "", check)
			print point, $at["throughput_ops_s"], counted, check == "ok" ? "whole" : "broken"
		}' "$work/$point.out" >"$work/$point.attempt"
	rm -f "$work/$point.data"
}

# measure POINT: run the point and append its line to $left
measure() {
	try "$1"
	[ ! -e "$work/$1.point" ] || cat "$work/$1.point" >>"$left"
}

# try POINT: the first attempt that keeps the index whole, else the first one that ended
try() {
	local point=$1 seed
	for seed in $SEEDS; do
		attempt "$point" "$seed" || continue
		[ -e "$work/$point.point" ] || cp "$work/$point.attempt" "$work/$point.point"
		if grep -q whole "$work/$point.attempt"; then
			cp "$work/$point.attempt" "$work/$point.point"
			return
		fi
		[[ $point = *.none.* ]] || return
	done
	[ -e "$work/$point.point" ] ||
		echo "$point: $(tail -n 1 "$work/$point.err")" >>"$work/failed"
}

run_all() {
	local point nr=0 all running=0
	all=$(points | wc -l)
	for point in $(points); do
		nr=$((nr + 1))
		[ ! -e "$work/$point.point" ] || continue
		[ ! -t 2 ] || printf '\rpoint %d of %d\e[K' $nr "$all" >&2
		measure "$point" &
		running=$((running + 1))
		if [ $running -ge "${JOBS:-2}" ]; then
			wait -n
			running=$((running - 1))
		fi
	done
	wait
	[ ! -t 2 ] || printf '\r\e[K' >&2
	cat "$work"/*.point >"$work/points" 2>/dev/null
}

# Each point under each figure that has it: figure,curve,x,ops_s,relative,real,aborts,index
figures_csv() {
	echo 'figure,curve,x,ops_s,relative,real_percent,aborts_percent,index'
	awk -F'|' -v OFS=, -v points="$work/points" '
	BEGIN {
		while ((getline line < points) > 0) {
			split(line, part, " ")
			ops[part[1]] = part[2]
			real[part[1]] = part[3]
			aborts[part[1]] = part[4]
			kept[part[1]] = part[5]
		}
	}
	$1 == "figure" { figure = $2; x = $3; base = $4 }
	$1 == "curve" {
		nr_threads = split($6, threads, " ")
		nr_inserts = split($7, inserts, " ")
		for (t = 1; t <= nr_threads; t++)
			for (i = 1; i <= nr_inserts; i++) {
				p = $3 "." $4 "." $5 "." threads[t] "." inserts[i]
				if (p in ops)
					print figure, "\"" $2 "\"", x == "threads" ? threads[t] : inserts[i],
						ops[p], ops[base] ? sprintf("%.3f", ops[p] / ops[base]) : "-",
						real[p], aborts[p], kept[p]
			}
	}' "$plan"
}

command -v gnuplot >/dev/null || die 'gnuplot is missing: tools/deps.sh installs it'
[ -x "$O/libexec/elide/rtmgrind-amd64-linux" ] || die 'rtmgrind is not built'
if [ -n "${POINTS:-}" ]; then
	while read -r point rest; do
		echo "$point $rest" >"$work/$point.point"
	done <"$POINTS" || die "no points in $POINTS"
fi
[ -n "$(points)" ] || die "ONLY=${ONLY:-}: no such figure"
cat /dev/null "$work"/*.point 2>/dev/null >"$left"
run_all
[ -s "$work/points" ] || die 'no point was measured'
cp "$work/points" "$left"
if [ -n "${ONLY:-}" ]; then
	echo "$KEYS keys, $OPS operations: POINT OPERATIONS/S REAL% ABORTS% INDEX"
	cat "$left"
	[ ! -e "$work/failed" ] || sed 's/^/figures: no result: /' "$work/failed" >&2
	[ ! -e "$work/failed" ]
	exit
fi
figures_csv >"$results/figures.csv" || die 'cannot write the results'
O=$O bash "$here/plot.sh" "$plan" "$results" || die 'a picture failed'
KEYS=$KEYS OPS=$OPS bash "$here/page.sh" "$plan" "$work/points" >"$page" || die 'no page'
grep '^|' "$page"
if [ -e "$work/failed" ]; then
	sed 's/^/figures: no result: /' "$work/failed" >&2
	exit 1
fi
