#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, make fidelity; check.sh has its quick rows
#
# The fidelity suite: published figures beside the simulated machine's and,
# where this processor has RTM, beside this processor's. Where it has none, beside
# those that a processor with RTM has left in demo/results/fidelity-native.csv.
#
# run.sh [--record]   every row: a table on stdout; --record: also
#                     demo/results/fidelity*.csv and tests/fidelity/FIDELITY.md
# run.sh --quick      the quick rows as tests: ok NAME, not ok NAME: why
#
# O is the build directory. Must never print a figure that no run has printed.

O=$(cd "${O:-build}" && pwd) || exit 1
export O
here=$(cd "$(dirname "$0")" && pwd) || exit 1
results=$here/../../demo/results
page=$here/FIDELITY.md
rows=$here/rows
# Its first line says which processor, the others RUN,FIGURE,VALUE.
recorded=$results/fidelity-native.csv
bin=$O/tests/fidelity
VALGRIND_LIB=$O/libexec/elide
export VALGRIND_LIB
# Longest run of a program, seconds; the slowest takes a third of it.
LIMIT=120
[ -z "${FULL:-}" ] || LIMIT=1800
# Runs on this processor, of which each figure's median counts.
ROUNDS=7
mode=table
case ${1:-} in
'') ;;
--record) mode=record ;;
--quick) mode=quick ;;
*)
	echo "usage: run.sh [--quick|--record]" >&2
	exit 2
	;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

die() {
	echo "fidelity: $*" >&2
	exit 1
}

# emulate NAME MODEL PROGRAM ARG...: run on the simulated machine; "-": just run
emulate() {
	local name=$1 model=$2 program=$bin/$3 status
	[ "${3%.sh}" = "$3" ] || program=$here/$3
	shift 3
	if [ "$model" = - ]; then
		timeout -k 5 $LIMIT "$program" "$@"
	else
		timeout -k 5 $LIMIT valgrind --tool=rtmgrind -q --log-file="$work/$name.log" \
			--model="$model" "$program" "$@"
	fi >"$work/$name.emulated" 2>"$work/$name.err"
	status=$?
	[ $status = 0 ] || echo "exit $status: $(tail -qn 1 "$work/$name.err" "$work/$name.log" \
		2>/dev/null | tr '\n' ' ')" >"$work/$name.failed"
}

# on_processor NAME PROGRAM ARG...: run here, each round's figures appended
on_processor() {
	local name=$1 program=$bin/$2 round
	shift 2
	for ((round = 0; round < ROUNDS; round++)); do
		timeout -k 5 $LIMIT "$program" "$@" >>"$work/$name.native" 2>/dev/null || {
			rm -f "$work/$name.native"
			return
		}
	done
}

# of NAME: a line of lscpu's
of() { lscpu | sed -n "s/^ *$1: *//p" | head -n 1; }

has_rtm() { grep -qw rtm /proc/cpuinfo; }

# JOBS simulated machines at a time; this processor's own runs have it to themselves.
run_all() {
	local keyword name model speed native command running=0

	while IFS='|' read -r keyword name model speed native command; do
		[ "$keyword" = run ] || continue
		[ "$mode" != quick ] || [ "$speed" = quick ] || continue
		[ "$native" != = ] || native=$command
		# shellcheck disable=SC2086 # a program and its arguments
		[ "$mode" = quick ] || [ "$native" = - ] || ! has_rtm ||
			on_processor "$name" $native
	done <"$rows"
	while IFS='|' read -r keyword name model speed native command; do
		[ "$keyword" = run ] || continue
		[ "$mode" != quick ] || [ "$speed" = quick ] || continue
		# shellcheck disable=SC2086 # a program and its arguments
		emulate "$name" "$model" $command &
		running=$((running + 1))
		if [ $running -ge "${JOBS:-2}" ]; then
			wait -n
			running=$((running - 1))
		fi
	done <"$rows"
	wait
}

# The rows with what was measured, tab-separated, a line each: run, model,
# figure, kind, published, low, high, unit, source, what, ours, native, verdict, note.
judge() {
	awk -F'|' -v work="$work" -v quick="$([ "$mode" = quick ] && echo 1)" -v OFS='\t' \
		-v recorded="$([ "$mode" = quick ] || has_rtm || echo "$recorded")" '
	BEGIN {
		while (recorded != "" && (getline line < recorded) > 0)
			if (split(line, part, ",") == 3)
				before[part[1] "," part[2]] = part[3]
	}
	function lines_of(file, into,    line, part, count, name) {
		split("", into)
		while ((getline line < file) > 0)
			if (split(line, part, " ") == 2)
				into[part[1]] = (part[1] in into ? into[part[1]] " " : "") part[2]
		close(file)
	}
	# From the sorted values: the middle, or for a cost the least disturbed.
	function typical(values, least,    v, n, i, j, t) {
		n = split(values, v, " ")
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
				t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
			}
		if (least)
			return v[1]
		return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	}
	function short(x) { return sprintf("%.4g", x) + 0 }
	$1 == "run" {
		run = $2
		model = $3
		wanted = !quick || $4 == "quick"
		failed = ""
		getline failed < (work "/" run ".failed")
		lines_of(work "/" run ".emulated", emulated)
		lines_of(work "/" run ".native", native)
	}
	($1 == "row" || $1 == "missed" || $1 == "shown") && wanted {
		low = high = ""
		if (split($5, bound, /\.\./) == 2) {
			low = bound[1]
			high = bound[2]
		} else if ($4 != "-") {
			low = short($4 * (1 - $5 / 100))
			high = short($4 * (1 + $5 / 100))
		}
		ours = $2 in emulated ? short(emulated[$2]) : "-"
		if (failed != "" || ours == "-")
			verdict = "failed: " (failed != "" ? failed : "no such figure")
		else if ($1 == "shown")
			verdict = "not judged"
		else if (low == "" && high == "")
			verdict = "pending: not measured yet"
		else if (low != "" && ours < low + 0)
			verdict = "missed by " short(low - ours)
		else if (high != "" && ours > high + 0)
			verdict = "missed by " short(ours - high)
		else
			verdict = "within"
		there = "-"
		if ($2 in native)
			there = short(typical(native[$2], $3 == "input"))
		else if ((run "," $2) in before)
			there = before[run "," $2]
		print run, model, $2, $3, $4, low == "" ? "-" : low, high == "" ? "-" : high, $6, $7,
			$8, ours, there, verdict, $1 == "row" ? "-" : $9
	}
	$1 == "pending" && !quick {
		low = high = ""
		split($5, bound, /\.\./)
		print "-", "-", $2, $3, $4, bound[1], bound[2], $6, $7, $8, "-", "-",
			"pending: " $9, "-"
	}' "$rows"
}

# A row that says why it is missed is a test of that.
as_tests() {
	awk -F'\t' '
	{
		name = "fidelity " $1 " " $3
		known = $14 != "-"
		if ($13 == "not judged" || ($13 == "within" && !known) || ($13 ~ /^missed/ && known))
			print "ok " name
		else {
			print "not ok " name ": " $11 " " $8 ", accepted " $6 " to " $7 ": " \
				($13 == "within" ? "within, but said to be missed" : $13)
			bad = 1
		}
	}
	END { exit bad }' "$work/judged"
}

as_table() {
	awk -F'\t' '
	BEGIN {
		form = "%-11s %-32s %-22s %9s %17s %9s %9s %-8s %s\n"
		printf form, "run", "machine", "figure", "published", "accepted", "ours", "native",
			"unit", "verdict"
	}
	{
		printf form, $1, $2, $3, $5, $6 " .. " $7, $11, $12, $8, $13
		nr[substr($13, 1, 6)]++
	}
	END {
		judged = NR - nr["pendin"] - nr["not ju"]
		printf "%d rows: %d within tolerance, %d missed, %d failed, %d pending, %d not judged: %.0f %% of %d\n",
			NR, nr["within"], nr["missed"], nr["failed"], nr["pendin"], nr["not ju"],
			judged ? 100 * nr["within"] / judged : 0, judged
	}' "$work/judged"
}

as_csv() {
	echo 'run,machine,figure,kind,published,low,high,unit,source,what,ours,native,verdict,note'
	awk -F'\t' '{
		for (i = 1; i <= NF; i++) {
			gsub(/"/, "\"\"", $i)
			printf "%s%s", $i ~ /[",]/ ? "\"" $i "\"" : $i, i < NF ? "," : "\n"
		}
	}' "$work/judged"
}

curves_csv() {
	local file name
	echo 'run,where,curve,x,y'
	has_rtm || grep ',native,' "$work/curves.before"
	for file in "$work"/*.emulated "$work"/*.native; do
		[ -e "$file" ] || continue
		name=${file##*/}
		# Of the native rounds, the mean.
		awk -v run="${name%.*}" -v where="${name##*.}" '
		$1 == "curve" {
			key = $2 "," $3
			if (!(key in nr))
				order[++points] = key
			nr[key]++
			sum[key] += $4
		}
		END {
			for (i = 1; i <= points; i++)
				printf "%s,%s,%s,%.6g\n", run, where, order[i],
					sum[order[i]] / nr[order[i]]
		}' "$file"
	done
}

# The table of the page, a section a machine in the order of the rows.
page_table() {
	awk -F'\t' '
	$2 != machine || NR == 1 {
		machine = $2
		printf "\n### %s\n\n", machine == "-" ? "No machine: computed or counted" : machine
		print "| what | kind | source | published | accepted | ours | native | unit | verdict |"
		print "|---|---|---|--:|--:|--:|--:|---|---|"
	}
	{
		printf "| %s | %s | %s | %s | %s .. %s | %s | %s | %s | %s |\n", $10, $4, $9, $5,
			$6 == "-" ? "" : $6, $7 == "-" ? "" : $7, $11, $12, $8,
			$13 == "within" ? $13 : "**" $13 "**"
	}' "$work/judged"
}

# The processor that the native column is of.
native_processor() {
	if has_rtm; then
		echo "$(of 'Model name'), family $(of 'CPU family'), model $(of Model)," \
			"stepping $(of Stepping), $(of 'CPU(s)') processors," \
			"hypervisor $(of 'Hypervisor vendor' | grep . || echo none)"
	else
		sed -n '1s/^# //p' "$recorded"
	fi
}

# What this processor's runs gave, for runs on processors without RTM.
native_csv() {
	echo "# $(native_processor)"
	echo run,figure,native
	awk -F'\t' '$12 != "-" { print $1 "," $3 "," $12 }' "$work/judged"
}

write_page() {
	cat <<-PAGE
	<!-- make fidelity writes this page from tests/fidelity/rows and its runs. Do not edit. -->
	# How faithful the simulated machine is

	$(as_table | tail -n 1)

	Kinds of rows: *measured*: the source has a number. *prose*: the source has words, and the accepted
	range is our reading of them. *defined*: the architecture defines the value. *goal*: this project requires
	the value. *input*: the machine was given the number, and the row verifies that it is charged. The accepted
	ranges were written down before the first run.
	PAGE
	cat <<-PAGE

	The native column: $(native_processor);
	medians of $ROUNDS runs, for inputs the minimum. Each row that can run on this processor has a native
	value, whichever machine the row is about. Other tenants share the cores and first-level caches of this virtual machine.
	PAGE
	has_rtm || cat <<-PAGE
	The processor of the present run has no RTM, so the native column has the values that an earlier run on the
	named processor recorded in [fidelity-native.csv](../../demo/results/fidelity-native.csv).
	PAGE
	page_table
	cat <<-PAGE

	[The notes](notes.md) say how the rows are to be read.

	## Misses with a reason

	PAGE
	awk -F'\t' '$14 != "-" { printf "- **%s** (%s): %s.\n", $10, $2, $14 }' "$work/judged"
}

for program in capacity costs latch; do
	[ -x "$bin/$program" ] || die "$bin/$program is not built: make fidelity-tests"
done
if [ ! -e "$VALGRIND_LIB/rtmgrind-amd64-linux" ] || ! command -v valgrind >/dev/null; then
	[ $mode = quick ] || die 'rtmgrind is not built'
	echo 'skip fidelity: rtmgrind is not built'
	exit 0
fi
run_all
judge >"$work/judged"
[ -s "$work/judged" ] || die 'no rows'
case $mode in
quick)
	as_tests
	exit
	;;
record)
	cp "$results/fidelity-curves.csv" "$work/curves.before" || die 'no curves to keep'
	! has_rtm || native_csv >"$recorded" || die 'cannot write the results'
	as_csv >"$results/fidelity.csv" && curves_csv >"$results/fidelity-curves.csv" &&
		write_page >"$page" || die 'cannot write the results'
	;;
esac
as_table
# A miss is a result; a program that fails is none.
! grep -q "$(printf '\tfailed: ')" "$work/judged"
