#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh PLAN PAGE: runs each point of demo/figures/PLAN once, then writes the results, a
# picture of each figure and demo/PAGE, which is made of demo/figures/PAGE.in. The plan
# "plan" describes the format of plans.
#
# O is the build directory. FULL=1 loads the published number of keys. JOBS is the number
# of simulated machines that run at the same time; points of the machine "native" run
# alone. Each point is appended to O/NAME.points (FULL=1: O/NAME-full.points) when it is
# measured. POINTS=FILE has points, which are not run again; RUN=no runs none at all. ONLY=FIGURE
# runs and prints the points of one figure only. A processor with RTM also runs the simulated points natively
# (NATIVE=no: it does not; NATIVE=yes: one without RTM does, too). Must never print a number
# that no run gave.

[ $# -eq 2 ] || { echo 'usage: run.sh PLAN PAGE' >&2; exit 2; }
O=$(cd "${O:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
results=$here/../results
plan=$here/$1
page=$here/../$2
template=$here/$2.in
PATH=$O/bin:$PATH
# Without concurrency control a run can damage the index, or crash: the seeds that are tried in turn, the first two for
# a whole index, the others until a run ends.
SEEDS='1 2 3 4 5 6'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # several jobs; each ends its simulated machine
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM

die() {
	echo "figures: $*" >&2
	exit 1
}

# field KEYWORD NAME NUMBER: of the line of the plan
field() { awk -F'|' -v k="$1" -v n="$2" -v i="$3" '$1 == k && $2 == n { print $i; exit }' "$plan"; }

# use_size NAME: the sizes of a run
use_size() {
	KEYS=$(field size "$1" 3)
	OPS=$(field size "$1" 4)
	WARMUP=$(field size "$1" 5)
	LIMIT=$(field size "$1" 6)
	NR_SEEDS=$(field size "$1" 7)
	OPTIONS=$(field size "$1" 8)
	[ -n "$LIMIT" ] || die "$plan: no size $1"
}

# Each point, INDEX.SCHEME.MACHINE.THREADS.RATE, once, in the order of the plan; INDEX may end in
# @ and a value.
points() {
	awk -f "$here/points.awk" "$plan" | awk -F'|' -v only="${ONLY:-}" '
		(only == "" || $1 "" == only) && !seen[$4]++ { print $4 }'
}

# varied INDEX: the options of its values, which follow @ and a letter each
varied() {
	local value
	for value in $(tr '@' '\n' <<<"$1" | tail -n +2); do
		echo "$(field vary "${value:0:1}" 3)${value:1}"
	done
}

# expand TEXT THREADS RATE SEED: TEXT with the numbers of a run
expand() {
	local smt=1
	[ "$2" -le 4 ] || smt=2
	sed "s|@threads|$2|g; s|@rate|$3|g; s|@seed|$4|g; s|@keys|$KEYS|g; s|@ops|$OPS|g
		s|@warmup|$WARMUP|g; s|@smt|$smt|g; s|@files|$work/files|g
		s|@options|$OPTIONS|g" <<<"$1"
}

# program_of INDEX: the name of its program line
program_of() {
	local name
	name=$(field index "${1%%@*}" 4)
	echo "${name:-index_bench}"
}

# make_files TEXT: the operation files that the command TEXT reads, if it reads any
make_files() {
	local name
	name=$(sed -n 's|.*@files/\([a-z]*\).*|\1|p' <<<"$1")
	[ -n "$name" ] && [ ! -e "$work/files/$name" ] || return 0
	mkdir -p "$work/files"
	# shellcheck disable=SC2046 # options of the plan
	index_bench --generate="$work/files/$name" $(expand "$(field files "$name" 3)" 1 0 1)
}

# command_of POINT SEED: the command of a point, in the current pass
command_of() {
	local index scheme machine threads rate options wrap=
	IFS=. read -r index scheme machine threads rate <<<"$1"
	options="$(field program "$(program_of "$index")" 3) $(field index "${index%%@*}" 3)"
	options+=" $(field scheme "$scheme" 4) $(varied "$index")"
	make_files "$options" || return 1
	if [ "$machine" != native ]; then
		wrap="elide run -q -o $work/$1.data --seed=@seed"
		if [ $pass = simulated ]; then
			wrap+=" $(field machine "$machine" 3) $(field scheme "$scheme" 3)"
			[ -z "$counters" ] || wrap+=" --counters=$work/$1.counters"
			wrap+=" --"
		else
			wrap+=" $(field scheme "$scheme" 3 | sed 's/--hle=[a-z]*//') --"
		fi
	fi
	expand "$wrap $options" "$threads" "$rate" "$2" | sed "s|@point|$work/$1|g" | tr '\n' ' '
}

# counted DATA: REAL% ABORTS% of the sections that elide has elided
counted() {
	elide report --csv "$1" 2>/dev/null | awk -F, '
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
		}'
}

# waited POINT: " waited=PERCENT" of the time of its threads, which elide counted
waited() {
	local threads seconds
	[ -e "$work/$1.data" ] || return 0
	IFS=. read -r _ _ _ threads _ <<<"$1"
	seconds=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } END { print $at["seconds"] }' \
		"$work/$1.out")
	elide report --csv "$work/$1.data" 2>/dev/null | awk -F, -v time="$seconds $threads" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ ns += $at["wait_ns_total"] }
		END {
			split(time, t, " ")
			if (NR && t[1] > 0)
				printf " waited=%.2f", ns / 1e7 / t[1] / t[2]
		}'
}

# evidence POINT: " NAME=PERCENT" for each evidence line of the plan: of the aborts at cache lines
# that sections of LOCK used, those at lines that FUNCTION used, too
evidence() {
	local name lock function
	[ -e "$work/$1.data" ] || return 0
	while IFS='|' read -r _ name lock function; do
		elide report --by line --csv "$work/$1.data" 2>/dev/null |
			awk -F, -v name="$name" -v lock="$lock" -v function_name="\"$function\"" '
			NR > 1 {
				aborts[$3] = $6
				if (index($0, " in " lock "\""))
					of_lock[$3] = 1
				if (index($0, function_name))
					of_function[$3] = 1
			}
			END {
				for (line in of_lock) {
					all += aborts[line]
					if (line in of_function)
						part += aborts[line]
				}
				if (all)
					printf " %s=%.1f", name, 100 * part / all
			}'
	done < <(grep '^evidence|' "$plan")
}

# elided POINT: " NAME=PERCENT" for each elided line of the plan: of the acquisitions of the locks
# that LOCK initialises, or of COLUMN of the program's CSV if that is more, those that were elided
elided() {
	local name lock column least
	[ -e "$work/$1.data" ] || return 0
	while IFS='|' read -r _ name lock column; do
		least=$(awk -F, -v column="$column" '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
			END { print $at[column] }' "$work/$1.out")
		elide report --csv "$work/$1.data" 2>/dev/null |
			awk -F, -v name="$name" -v lock="$lock" -v least="$least" '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			index($3, " in " lock "\"") {
				acquired += $at["acquired"]
				elided += $at["elided"]
			}
			END {
				if (acquired < least + 0)
					acquired = least
				if (acquired)
					printf " %s=%.1f", name, 100 * elided / acquired
			}'
	done < <(grep '^elided|' "$plan")
}

# recovered POINT: " recovered=PERIODS" of a point with a timeline, see recovery.awk
recovered() {
	local line periods
	line=$(grep "^recovery|${1%%[.@]*}|" "$plan") || return 0
	[ -s "$work/$1.timeline" ] || return 0
	periods=$(awk -v shift_ms="$(cut -d'|' -f3 <<<"$line")" -v window="$(cut -d'|' -f4 <<<"$line")" \
		-v entries="$(cut -d'|' -f5 <<<"$line")" -f "$here/recovery.awk" "$work/$1.timeline")
	[ -z "$periods" ] || echo -n " recovered=$periods"
}

# metrics POINT: NAME=VALUE of the plan's columns and of the counters of the region, in one line.
# aborts, capacity, conflict and neither are per cent of the transactions begun, explicit those
# that the program aborted itself, lost is cycles an abort.
metrics() {
	awk -F, -v names="$(field program "$(program_of "${1%%.*}")" 5)" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			nr = split(names, name, " ")
			for (i = 1; i <= nr; i++) {
				n = split(name[i], part, /[=\/]/)
				if (n == 1 && name[i] in at)
					printf " %s=%s", name[i], $at[name[i]]
				else if (n == 3 && part[2] in at && $at[part[3]] > 0)
					printf " %s=%.4g", part[1], $at[part[2]] / $at[part[3]]
			}
		}' "$work/$1.out"
	waited "$1"
	evidence "$1"
	elided "$1"
	recovered "$1"
	[ -s "$work/$1.counters" ] || return 0
	awk '
		$1 ~ /^region\./ { n[substr($1, 8)] = $2; if ($1 !~ /starts|commits|lost/) aborts += $2 }
		function part(nr) { return sprintf("%.4g", 100 * nr / n["starts"]) }
		END {
			if (!n["starts"])
				exit
			printf " aborts=%s capacity=%s conflict=%s explicit=%s neither=%s starts=%d", part(aborts),
				part(n["capacity"]), part(n["conflict"]), part(n["explicit"]),
				part(aborts - n["capacity"] - n["conflict"]), n["starts"]
			if (aborts)
				printf " lost=%.0f", n["lost_cycles"] / aborts
		}' "$work/$1.counters"
}

# attempt POINT SEED: run the point; writes POINT.attempt: POINT OPS_S REAL% ABORTS% CHECK and
# metrics; CHECK is whole, broken, or unchecked where the program was to check nothing
attempt() {
	local point=$1 command counted value
	command=$(command_of "$point" "$2") || return 1
	# shellcheck disable=SC2086 # several arguments
	timeout -k 5 "$LIMIT" $command >"$work/$point.out" 2>"$work/$point.err" &
	# timeout puts the run into a process group of its own, which gets no signal of ours.
	trap "kill $!; exit 1" TERM
	wait $!
	[ $? -ne 124 ] || echo "ended after $LIMIT seconds" >>"$work/$point.err"
	trap - TERM
	[ -s "$work/$point.out" ] || return 1
	counted=$(counted "$work/$point.data")
	value=$(field program "$(program_of "${point%%.*}")" 4)
	awk -F, -v point="$point" -v counted="${counted:-- -}" -v value="$value" \
		-v metrics="$(metrics "$point")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{
			check = $at["check"]
			gsub(/"/, "", check)
			split(value, part, "/")
			ops = $at[part[1]]
			if (part[2] != "")
				ops = sprintf("%.0f", ops / $at[part[2]])
			print point, ops, counted (check == "ok" ? " whole" : check == "off" ? " unchecked" : " broken") \
				metrics
		}' "$work/$point.out" >"$work/$point.attempt"
	[ $pass != simulated ] || keep_report "$point"
	rm -f "$work/$point.data" "$work/$point.store"
}

# keep_report POINT: what elide reports of it, if the plan asks for that
keep_report() {
	local label
	for label in $(awk -F'|' -v p="$1" '$1 == "report" && $3 == p { print $2 }' "$plan"); do
		# The name of the build directory is of no interest.
		elide report --width=130 --top=4 "$work/$1.data" 2>/dev/null |
			sed '/^Next:/d' >"$work/$label.report"
		elide report --csv "$work/$1.data" >"$work/$label.csv" 2>/dev/null
	done
}

# seeds_of POINT: how many seeds it has: those of its scheme, or of the size
seeds_of() {
	local scheme pattern nr most=${NR_SEEDS:-1}
	scheme=$(cut -d . -f 2 <<<"$1")
	while IFS='|' read -r _ pattern nr; do
		# shellcheck disable=SC2053 # a pattern
		[[ $scheme != $pattern ]] || [ "$nr" -le "$most" ] || most=$nr
	done < <(grep '^seeds|' "$plan")
	echo "$most"
}

# measure POINT: run the point and append its line to $left
measure() {
	local runs seeds
	seeds=$(seeds_of "$1")
	if [ "$seeds" -gt 1 ]; then
		measure_seeds "$1" "$seeds"
		return
	fi
	runs=$(field machine "$(cut -d . -f 3 <<<"$1")" 4)
	for _ in $(seq "${runs:-1}"); do
		try "$1"
		[ -e "$work/$1.$pass" ] || return
	done
	cat "$work/$1.$pass" >>"$left"
}

# measure_seeds POINT SEEDS: run the point with each seed, and append the means of its numbers; spread
# is the difference of the greatest and the least throughput, in per cent of the mean. A seed that
# gives no result makes the point one that could not be run.
measure_seeds() {
	local seed
	: >"$work/$1.seeds"
	for seed in $(seq "$2"); do
		if ! attempt "$1" "$seed"; then
			echo "$pass $1 seed $seed: $(tail -n 1 "$work/$1.err")" >>"$work/failed"
			return
		fi
		cat "$work/$1.attempt" >>"$work/$1.seeds"
	done
	awk '
		function mean(i, v) { return v == "-" ? v : sprintf("%.7g", sum[i] / NR) }
		{
			point = $1
			least = NR == 1 || $2 < least ? $2 : least
			most = NR == 1 || $2 > most ? $2 : most
			state = state == "broken" ? state : $5
			for (i = 2; i <= NF; i++) {
				nr = split($i, part, "=")
				sum[i] += part[nr]
				name[i] = nr > 1 ? part[1] "=" : ""
				last[i] = part[nr]
			}
			nf = NF
		}
		END {
			printf "%s %s %s %s %s", point, mean(2, last[2]), mean(3, last[3]), mean(4, last[4]), state
			for (i = 6; i <= nf; i++)
				printf " %s%s", name[i], mean(i, last[i])
			printf " spread=%.2f\n", 100 * (most - least) * NR / sum[2]
		}' "$work/$1.seeds" >"$work/$1.$pass"
	cat "$work/$1.$pass" >>"$left"
}

# try POINT: the first attempt that keeps the index whole, else the first one that ended; of
# several runs the fastest
try() {
	local point=$1 seed
	for seed in $SEEDS; do
		[ "$seed" -le 2 ] || [ ! -e "$work/$point.$pass" ] || break
		attempt "$point" "$seed" || continue
		if [ ! -e "$work/$point.$pass" ] || better "$point"; then
			cp "$work/$point.attempt" "$work/$point.$pass"
		fi
		grep -q broken "$work/$point.attempt" || return
		[[ $point = *.none.* ]] || return
	done
	[ -e "$work/$point.$pass" ] ||
		echo "$pass $point $(tail -n 1 "$work/$point.err")" >>"$work/failed"
}

# better POINT: its last attempt is whole, and faster than what is kept or the first whole one
better() {
	cat "$work/$1.$pass" "$work/$1.attempt" | awk '
		NR == 1 { ops = $2; whole = $5 != "broken"; next }
		{ exit !($5 != "broken" && (!whole || $2 > ops)) }'
}

# points_of KIND: those of the machine "native", or the simulated ones
points_of() { points | awk -F. -v kind="$1" '($3 == "native" ? "native" : "simulated") == kind'; }

# run_all KIND JOBS: the points of this kind that are not measured yet
run_all() {
	local point nr=0 all running=0
	[ "${RUN:-}" != no ] || return 0
	all=$(points_of "$1" | wc -l)
	for point in $(points_of "$1"); do
		nr=$((nr + 1))
		[ ! -e "$work/$point.$pass" ] || continue
		[ ! -t 2 ] || printf '\r%s: point %d of %d\e[K' $pass $nr "$all" >&2
		measure "$point" &
		running=$((running + 1))
		if [ $running -ge "$2" ]; then
			wait -n
			running=$((running - 1))
		fi
	done
	wait
	[ ! -t 2 ] || printf '\r\e[K' >&2
}

# run_pass NAME: simulated, with the points of the machine "native"; or native, the others
run_pass() {
	pass=$1
	left=$O/$name${FULL:+-full}$([ "$pass" = simulated ] || echo "-$pass").points
	cat /dev/null "$work"/*."$pass" 2>/dev/null >"$left"
	if [ "$pass" = simulated ]; then
		run_all simulated "${JOBS:-2}"
		run_all native 1
	else
		run_all simulated 1
	fi
	cat "$work"/*."$pass" >"$work/points-$pass" 2>/dev/null
	cp "$work/points-$pass" "$left"
}

has_rtm() { grep -qw rtm /proc/cpuinfo; }

# Each point under each figure that has it: figure,curve,x,ops_s,relative,real,aborts,index
figures_csv() {
	echo 'figure,curve,x,ops_s,relative,real_percent,aborts_percent,index'
	awk -f "$here/points.awk" "$plan" | awk -F'|' -v OFS=, -v plan="$plan" \
		-v points="$work/points-simulated" '
	BEGIN {
		while ((getline <plan) > 0)
			if ($1 == "figure")
				base[$2] = $4
		while ((getline line <points) > 0) {
			split(line, part, " ")
			ops[part[1]] = part[2]
			rest[part[1]] = part[3] "," part[4] "," part[5]
		}
	}
	$4 in ops {
		to = base[$1]
		print $1, "\"" $2 "\"", $3, ops[$4],
			ops[to] ? sprintf("%.3f", ops[$4] / ops[to]) : "-", rest[$4]
	}'
}

command -v gnuplot >/dev/null || die 'gnuplot is missing: tools/deps.sh installs it'
[ -x "$O/libexec/elide/rtmgrind-amd64-linux" ] || die 'rtmgrind is not built'
[ -e "$template" ] || die "$template is missing"
name=$(awk -F'|' '$1 == "results" { print $2 }' "$plan")
[ -n "$name" ] || die "$plan: no results line"
counters=$(awk -F'|' '$1 == "counters" { print $2 }' "$plan")
if [ -n "${FULL:-}" ]; then use_size full; else use_size quick; fi
if [ -n "${POINTS:-}" ]; then
	while read -r point rest; do
		echo "$point $rest" >"$work/$point.simulated"
	done <"$POINTS" || die "no points in $POINTS"
fi
[ -n "$(points)" ] || die "ONLY=${ONLY:-}: no such figure"
run_pass simulated
[ -s "$work/points-simulated" ] || die 'no point was measured'
if [ -n "${ONLY:-}" ]; then
	echo "$KEYS keys, $OPS operations: POINT OPERATIONS/S REAL% ABORTS% INDEX"
	cat "$work/points-simulated"
	[ ! -e "$work/failed" ] || sed 's/^/figures: no result: /' "$work/failed" >&2
	[ ! -e "$work/failed" ]
	exit
fi
figures_csv >"$results/$name.csv" || die 'cannot write the results'
cp "$work/points-simulated" "$results/$name${FULL:+-full}.points"
for label in $(awk -F'|' '$1 == "report" { print $2 }' "$plan"); do
	[ ! -e "$work/$label.report" ] || cp "$work/$label.report" "$results/$name-$label.txt"
	[ ! -e "$work/$label.csv" ] || cp "$work/$label.csv" "$results/$name-$label.csv"
done
bash "$here/plot.sh" "$plan" "$results" || die 'a picture failed'
quick_keys=$KEYS quick_ops=$OPS quick_warmup=$WARMUP
: >"$work/points-native"
if [ "${NATIVE:-}" = yes ] || { [ "${NATIVE:-}" != no ] && has_rtm; }; then
	[ -z "$(field size native 3)" ] || { use_size native && run_pass native; }
fi
touch "$work/failed"
KEYS=$quick_keys OPS=$quick_ops WARMUP=$quick_warmup bash "$here/page.sh" "$plan" "$template" \
	"$results" "$work/points-simulated" "$work/points-native" "$work/failed" >"$work/page" ||
	die 'no page'
cp "$work/page" "$page"
grep '^|' "$page"
if [ -s "$work/failed" ]; then
	sed 's/^/figures: no result: /' "$work/failed" >&2
	exit 1
fi
