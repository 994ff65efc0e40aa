#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, make bench-policy; check.sh has its short form
#
# The regret suite: runs each workload of the suite under each policy on simulated
# machines, then writes the table, the page and the picture.
#
# run.sh            what the environment selects, see below
# run.sh --check    the short form of make check: ok NAME, not ok NAME: why
#
# O is the build directory. CORES, SEEDS, POLICIES and ONLY (patterns of workloads) select
# what is run; FULL=1: everything, in hours. MS is the length of a run in virtual
# milliseconds, JOBS the machines at a time. RECORD=1 writes demo/results, tests/policy/POLICY.md and
# the numbers in the README. TUNING=1 leaves
# the held-out workloads alone.
# The worst row of each measure (worst.awk) is run with five seeds, until it is the median of five;
# if ours spread by more than 2 % over them, it is run for 500 ms, too, and both are shown. WORST=0
# leaves that out; where ONLY or FULL select, WORST=1 does it.
# A result is kept in O/policy.runs and not measured again as long as the library, the
# emulator and the program are the same; REUSE=1: the library counts for the adaptive
# policy alone, which is enough while nothing else in it changes.
# Must never print a figure of no run.

O=$(cd "${O:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
suite=${SUITE:-$here/suite}
bin=$O/tests/policy
runs=${RUNS:-$O/policy.runs}
slices=${SLICES:-$O/policy.slices}
results=${RESULTS:-$O}
page=$results/policy.md
if [ -n "${RECORD:-}" ]; then
	results=$here/../../demo/results
	page=$here/POLICY.md
fi
VALGRIND_LIB=$O/libexec/elide
export VALGRIND_LIB
case $*:$# in
:0 | --list:1) ;;
*)
	echo "usage: [NAME=VALUE...] run.sh [--list], see its head" >&2
	exit 2
	;;
esac
# Longest run, seconds.
LIMIT=${LIMIT:-1800}
# The defaults: what two idle cores do in about half an hour.
ms=${MS:-50} cores=${CORES:-1 4 16} seeds=${SEEDS:-1} sections=0
policies=${POLICIES:-adaptive never fixed-1 fixed-5 damon sites plain glibc-own tbb ck}
# Operations of an index and of kccachetest for each core; least operations of an index.
index_ops=40000 index_min=0 kc_ops=1600
if [ -n "${FULL:-}" ]; then
	cores=${CORES:-1 2 4 8 16} seeds=${SEEDS:-1 2 3 4 5} sections=100000
	policies=${POLICIES:-$(awk -F'|' '$1 == "policy" { print $2 }' "$suite")}
	index_ops=60000 index_min=100000 kc_ops=8000
fi
worst=${WORST:-$([ -n "${ONLY:-}${FULL:-}" ] && echo 0 || echo 1)}
# Seeds of a worst row, and the most rounds of looking for one.
worst_seeds='1 2 3 4 5' worst_rounds=10
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046 # several jobs
trap 'kill $(jobs -p) 2>/dev/null; exit 1' INT TERM

die() {
	echo "policy: $*" >&2
	exit 1
}

# field KEYWORD NAME NUMBER: of the line of the suite
field() { awk -F'|' -v k="$1" -v n="$2" -v i="$3" '$1 == k && $2 == n { print $i }' "$suite"; }

wanted() {
	local pattern
	[ -n "${ONLY:-}" ] || return 0
	for pattern in $ONLY; do
		# shellcheck disable=SC2053 # a pattern
		[[ $1 = $pattern ]] && return 0
	done
	return 1
}

workloads() {
	local name set
	while IFS='|' read -r keyword name set _; do
		[ "$keyword" = workload ] && wanted "$name" || continue
		[ -n "${TUNING:-}" ] && [ "$set" = held ] && continue
		echo "$name"
	done <"$suite"
}

# program POLICY COMMAND: the file that is run
program() {
	case $1.${2%% *} in
	tbb.load) echo "$bin/load-tbb" ;;
	ck.load) echo "$bin/load-ck" ;;
	*.load) echo "$bin/load" ;;
	*.hot) echo "$bin/hot" ;;
	*.index_bench) echo "$O/bin/index_bench" ;;
	*.kccachetest) command -v kccachetest ;;
	esac
}

# peer_has FILE COMMAND: whether there is such a load with the peer's locks
peer_has() {
	local load=${2#load }
	[ -x "$1" ] && "$1" --list | grep -q "^${load%% *} "
}

# has POLICY COMMAND SITES: whether there is such a run
has() {
	case $1 in
	tbb | ck) [ "${2%% *}" = load ] && peer_has "$(program "$1" "$2")" "$2" ;;
	sites) [ "$3" != - ] ;;
	*) [ -n "$(program "$1" "$2")" ] ;;
	esac
}

sum() { cat "$@" | sha256sum | cut -c 1-12; }

# seeds_of CORES [WORKLOAD]: those of the machines of that size, and of a row that was the worst
seeds_of() {
	local own=SEEDS_$1
	if grep -sqxF "${2:-} $1" "$work/worst-rows"; then
		echo "$worst_seeds"
		return
	fi
	echo "${!own:-$seeds}"
}

# Points that are still to be measured: WORKLOAD CORES SEED POLICY BASE LIB
points() {
	local name command sites core seed policy lib base file
	lib=$(sum "$O/lib/libelide-preload.so")
	for name in $(workloads); do
		command=$(field workload "$name" 6)
		sites=$(field workload "$name" 5)
		for policy in $policies; do
			has "$policy" "$command" "$sites" || continue
			file=$(program "$policy" "$command")
			# How long it runs and what it does belong to what it is.
			base=$({ sum "$O/libexec/elide/rtmgrind-amd64-linux" "$file"
				echo "$ms $sections $index_ops $index_min $kc_ops"
				grep -e "^workload|$name|" -e "^policy|$policy|" "$suite"
			} | sum -)
			for core in $cores; do
				for seed in $(seeds_of "$core" "$name"); do
					echo "$name $core $seed $policy $base $lib"
				done
			done
		done
	done
}

is_ours() { case $1 in plain | glibc-own | tbb | ck) false ;; *) true ;; esac; }

# emulator OPTION...: elide's options for the emulated machine as the emulator's own
emulator() {
	local option
	for option; do
		case $option in
		--emulate=*) echo "--model=${option#*=}" ;;
		*) echo "$option" ;;
		esac
	done
}

# measure WORKLOAD CORES SEED POLICY BASE LIB: one line more in the file of runs
measure() {
	local name=$1 core=$2 seed=$3 policy=$4 base=$5 lib=$6 id=$1.$2.$3.$4
	local command machine options file ns value status
	command=$(field workload "$name" 6)
	machine=$(field workload "$name" 4)
	[ "$machine" != - ] || machine="--emulate=flat --cores=$core"
	machine=${machine//@C2/$((2 * core))}
	file=$(program "$policy" "$command")
	command="$file ${command#* }"
	case $file in
	*/load* | */hot)
		command="$command --seed=$seed --ms=$ms --sections=$sections"
		[ "${command#*--threads=}" != "$command" ] || command="$command --threads=$core"
		;;
	*/index_bench) command="$command --threads=$core --seed=$seed --preload=20000 --csv \
		--ops=$((index_ops * core > index_min ? index_ops * core : index_min))" ;;
	esac
	command=${command//@C2/$((2 * core))}
	command=${command//@C4/$((4 * core))}
	command=${command//@C/$core}
	command=${command//@K/$kc_ops}
	set -f
	if is_ours "$policy"; then
		options=$(field policy "$policy" 4)
		[ "$policy" != sites ] || options=$(field workload "$name" 5)
		# shellcheck disable=SC2086 # options of the suite
		timeout -k 5 "$LIMIT" "$O/bin/elide" run -q -o "$work/$id.data" $machine $options \
			--seed="$seed" --counters="$work/$id.counters" -- $command
	else
		[ "$policy" != glibc-own ] || export GLIBC_TUNABLES=glibc.elision.enable=1
		# shellcheck disable=SC2086,SC2046 # options of the suite
		timeout -k 5 "$LIMIT" valgrind --tool=rtmgrind -q $(emulator $machine) \
			--seed="$seed" --counters="$work/$id.counters" $command
	fi >"$work/$id.out" 2>"$work/$id.err" &
	trap "kill $!; exit 1" TERM
	wait $!
	status=$?
	trap - TERM
	set +f
	ns=$(awk '$1 == "time.elapsed_ns" { print $2 }' "$work/$id.counters" 2>/dev/null)
	value=$(judge "$file" "$ns" "$core" "$work/$id.out")
	if [ $status -ne 0 ] || [ -z "$value" ]; then
		echo "$id: exit $status: $(cat "$work/$id.err" "$work/$id.out" | tail -n 1)" >>"$work/failed"
	else
		if grep -q '^slice' "$work/$id.out"; then
			mkdir -p "$slices"
			grep '^slice' "$work/$id.out" >"$slices/$id"
		fi
		# One write, so that lines of two jobs do not mix.
		echo "$name,$core,$seed,$policy,$base,$lib,$value" >>"$runs"
	fi
	rm -f "$work/$id".*
}

# judge FILE NS CORES OUTPUT: time for a unit of work and the units; nothing if it is not whole
judge() {
	awk -v file="$1" -v ns="$2" -v cores="$3" -v kc_ops="$kc_ops" '
	file ~ /load|hot$/ && /check=ok/ {
		split($1, part, "=")
		if (part[2] && ns)
			printf "%.4f,%d\n", ns / part[2], part[2]
	}
	file ~ /index_bench/ {
		n = split($0, field, ",")
		for (i = 1; i <= n; i++)
			if (NR == 1)
				at[field[i]] = i
		if (NR == 2 && field[at["check"]] ~ /ok/)
			printf "%.4f,%d\n", 1e9 / field[at["throughput_ops_s"]], field[at["ops"]]
	}
	file ~ /kccachetest/ && $0 == "ok" && ns {
		printf "%.4f,%d\n", ns / (kc_ops * cores), kc_ops * cores
	}' "$4"
}

run_all() {
	local running=0 nr=0 all point
	all=$(wc -l <"$work/missing")
	while read -r point; do
		nr=$((nr + 1))
		[ ! -t 2 ] || printf '\rrun %d of %d\e[K' $nr "$all" >&2
		# shellcheck disable=SC2086 # its parts
		measure $point &
		running=$((running + 1))
		if [ $running -ge "${JOBS:-2}" ]; then
			wait -n
			running=$((running - 1))
		fi
	done <"$work/missing"
	wait
	[ ! -t 2 ] || printf '\r\e[K' >&2
}

# What is still to be measured goes to missing; the others have a result of the same programs.
select_points() {
	points >"$work/points"
	awk -F'[, ]' -v reuse="${REUSE:-}" -v wanted="$work/selected" -v missing="$work/missing" '
		BEGIN {
			printf "" >wanted
			printf "" >missing
			# Our library is no part of these.
			foreign["plain"] = foreign["glibc-own"] = foreign["tbb"] = foreign["ck"] = 1
		}
		FILENAME == ARGV[1] {
			done[$1, $2, $3, $4, $5, $6] = $0
			any[$1, $2, $3, $4, $5] = $0
			next
		}
		{
			line = done[$1, $2, $3, $4, $5, $6]
			if (line == "" && ($4 in foreign || (reuse != "" && $4 != "adaptive")))
				line = any[$1, $2, $3, $4, $5]
			print line != "" ? line : $0 >(line != "" ? wanted : missing)
		}' "$runs" "$work/points"
}

# All points, and the table of them.
measure_all() {
	local before
	select_points
	before=$(wc -l <"$runs")
	run_all
	nr_runs=$((nr_runs + $(wc -l <"$work/missing")))
	tail -n +$((before + 1)) "$runs" >>"$work/selected"
	awk -f "$here/table.awk" -v slices="$slices" "$suite" "$work/selected" >"$results/policy.csv" ||
		die 'no table'
	awk -f "$here/worst.awk" "$results/policy.csv" >"$work/worst" || die 'no worst rows'
}

# As long as a worst row has fewer than five seeds: measure it with five.
measure_worst() {
	local round new
	for ((round = 0; round < worst_rounds; round++)); do
		new=$(awk -F'|' '$6 < 5 { print $3, $4 }' "$work/worst" | sort -u)
		[ -n "$new" ] || break
		echo "$new" >>"$work/worst-rows"
		measure_all
	done
}

# The worst rows whose seeds spread, in runs of 500 ms: lines for page.awk.
measure_long() {
	local measure goal name core value nr spread best
	while IFS='|' read -r measure goal name core value nr spread; do
		awk -v a="$spread" 'BEGIN { exit !(a + 0 > 2) }' || continue
		best=$(awk -F, -v n="$name" -v c="$core" '
			NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
			$1 == n && $at["cores"] == c { print $at["best_static"] }' "$results/policy.csv")
		mkdir -p "$work/long"
		O=$O MS=500 SEEDS=1 CORES=$core ONLY=$name RECORD='' TUNING='' FULL='' WORST=0 RUNS=$runs \
			POLICIES="adaptive never plain glibc-own $best" RESULTS=$work/long \
			SLICES=$work/long/slices bash "$here/run.sh" >/dev/null || continue
		awk -f "$here/worst.awk" "$work/long/policy.csv" | awk -F'|' -v m="$measure" '
			$1 == m { print $3 "|" $4 "|" $1 "|" $5 }'
	done <"$work/worst" >"$work/longer"
}

[ -x "$O/libexec/elide/rtmgrind-amd64-linux" ] || die 'rtmgrind is not built'
touch "$runs"
nr_runs=0
if [ "${1:-}" = --list ]; then
	select_points
	cut -d ' ' -f 1-4 "$work/missing"
	exit
fi
start=$(date +%s)
measure_all
: >"$work/longer"
if [ "$worst" = 1 ]; then
	measure_worst
	measure_long
fi
awk -f "$here/page.awk" -v worst_file="$work/worst" -v long_file="$work/longer" -v ms="$ms" -v cores="$cores" -v seeds="$(
	echo -n "$seeds"
	for core in $cores; do
		[ "$(seeds_of "$core")" = "$seeds" ] || echo -n " (on $core cores: $(seeds_of "$core"))"
	done
)" -v policies="$policies" -v notes="$(realpath --relative-to="$(dirname "$page")" "$here/notes.md")" \
	"$results/policy.csv" >"$page" || die 'no page'
sh "$here/plot.sh" "$results/policy.csv" "$results/policy.svg" || die 'no picture'
if [ -n "${RECORD:-}" ]; then
	readme=$here/../../README.md
	sh "$here/readme.sh" "$page" "$readme" >"$work/readme" && cp "$work/readme" "$readme" ||
		die 'no numbers in the README'
fi
grep '^|' "$page"
echo "$nr_runs runs in $(($(date +%s) - start)) s; $results/policy.csv, $page" >&2
if [ -e "$work/failed" ]; then
	sed 's/^/policy: no result: /' "$work/failed" >&2
	exit 1
fi
