#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# plot.sh PLAN RESULTS: draws each figure of the plan from its CSV in RESULTS, and figure 7,
# if the plan has it, from RESULTS/fidelity-curves.csv, as SVG. Must never draw a point that
# is not in these files.
set -u -o pipefail
here=$(dirname "$0")
plan=$1
results=$2
csv=$results/$(awk -F'|' '$1 == "results" { print $2 }' "$plan").csv
prefix=$(awk -F'|' '$1 == "results" { print $3 }' "$plan")
# The numbers of threads of a plan are doubled, or it says that they are not.
logscale=$(awk -F'|' '$1 == "threads" { print $2 == "all" ? "no" : "yes" }' "$plan")

# draw NAME: draw the plot whose gnuplot commands are on stdin
draw() {
	local name=$1 commands
	commands=$(cat)
	gnuplot <<-PLOT | awk -f "$here/slim.awk" >"$results/$name.svg"
	set terminal svg size 760,440 background "white" font 'DejaVu Sans,12'
	$commands
	PLOT
}

# common TITLE: commands that all pictures have; the key is beside the plot, never on it
common() {
	cat <<-COMMON
	set title '$1'
	set key outside right center vertical Left reverse samplen 2 spacing 1.4
	set grid ytics lc rgb '#dddddd'
	set border 3
	set tics nomirror
	set yrange [0:*]
	COMMON
}

# A figure is compared as a text, because 6.1 and 6.10 are the same number.

# labels FIGURE: the names of its curves that have points, in the order of the plan, each once
labels() {
	awk -F'|' -v figure="$1" '
		FNR == NR { split($0, part, "\""); has[part[1] part[2]] = 1; next }
		$1 == "figure" { inside = $2 "" == figure }
		$1 == "curve" && inside && (figure "," $2) in has && !seen[$2]++ { print $2 }' \
		"$csv" "$plan"
}

# colour LABEL NUMBER: the colour of a curve; a lock of the paper has the same in all figures
colour() {
	local colours=('#1f77b4' '#d62728' '#2ca02c' '#ff7f0e' '#9467bd' '#8c564b' '#17becf' '#7f7f7f'
		'#e377c2' '#bcbd22')
	case $1 in
	*lock* | TSX* | no* | 'the same, friendly') ;;
	*)
		echo "${colours[$((($2 - 1) % 10))]}"
		return
		;;
	esac
	case $1 in
	'the same, friendly') echo '#7f7f7f' ;;
	no*) echo '#000000' ;;
	'TSX-R, no retries') echo '#e377c2' ;;
	'TSX-R, two'*) echo '#8c564b' ;;
	'TSX-R, friendly' | 'TSX-R, 0 %'*) echo '#d62728' ;;
	TSX-R*) echo '#ff7f0e' ;;
	TSX-H) echo '#9467bd' ;;
	spin*) echo '#2ca02c' ;;
	'rw lock, 5 %'*) echo '#17becf' ;;
	'rw lock, 20 %'*) echo '#8c564b' ;;
	'rw lock, 100 %'*) echo '#bcbd22' ;;
	*) echo '#1f77b4' ;;
	esac
}

# x_axis FIGURE X: the commands of the horizontal axis
x_axis() {
	local letter what
	case $2 in
	threads)
		echo "set xlabel 'threads'"
		[ "$logscale" = no ] || echo 'set logscale x 2'
		# The axis ends at 1.1 times the largest number of threads.
		awk -F, -v figure="$1" '
			$1 "" == figure && $(NF - 5) > last { last = $(NF - 5) }
			END { printf "set xrange [0.9:%g]\n", last * 1.1 }' "$csv"
		[ "$logscale" = no ] && echo 'set xtics 1' || echo 'set xtics (1, 2, 4, 8, 16, 32)'
		;;
	value)
		letter=$(awk -F'|' -v figure="$1" '
			$1 == "figure" { inside = $2 "" == figure }
			$1 == "curve" && inside { print substr($3, length($3)); exit }' "$plan")
		what=$(awk -F'|' -v l="$letter" '$1 == "vary" && $2 == l { print $4 }' "$plan")
		echo "set xlabel '$what'; set format x '%.0f'"
		# A logarithmic axis for doubled values; each of them has a tic.
		awk -F, -v figure="$1" '
			$1 "" == figure { x[$(NF - 5)] = 1; if ($(NF - 5) + 0 > last) last = $(NF - 5) + 0 }
			END {
				for (v in x) {
					text = v + 0 >= 1e6 ? "\"" v / 1e6 " M\" " v : v
					tics = tics (tics == "" ? "" : ", ") text
				}
				print "set xtics (" tics ")" (last > 16 ? "; set logscale x 2" : "")
			}' "$csv"
		;;
	*) echo "set xlabel '$2, per cent of the operations'; set xrange [0:100]" ;;
	esac
}

# y_label BASE: the name of the vertical axis
y_label() {
	local scheme threads rate unit
	case $1 in
	-) echo "set ylabel 'million operations a second'" ;;
	ns) echo "set ylabel 'nanoseconds an operation'" ;;
	*)
		IFS=. read -r _ scheme _ threads rate <<<"$1"
		[ "$threads" = 1 ] && unit=thread || unit=threads
		echo "set ylabel 'throughput (1: $scheme lock, $threads $unit, $rate % inserts)'"
		;;
	esac
}

# data FIGURE LABEL BASE: the points of a curve
data() {
	awk -F'"' -v figure="$1," -v label="$2" -v base="$3" '
		$1 "" == figure && $2 == label {
			split($3, v, ",")
			print v[2], base == "-" ? v[3] / 1e6 : base == "ns" ? 1e9 / v[3] : v[4]
		}' "$csv" | sort -n
}

# figure NAME X BASE TITLE: the commands of a figure of the plan
figure() {
	local name=$1 x=$2 base=$3 title=$4 label nr=0 separator='plot'
	common "$title"
	x_axis "$name" "$x"
	y_label "$base"
	while read -r label; do
		nr=$((nr + 1))
		echo "\$curve$nr << END"
		data "$name" "$label" "$base"
		echo END
	done < <(labels "$name")
	nr=0
	while read -r label; do
		nr=$((nr + 1))
		printf "%s \$curve%d with linespoints lw 2 pt %d lc rgb '%s' title '%s'" \
			"$separator" $nr $((nr + 3)) "$(colour "$label" $nr)" "$label"
		separator=,
	done < <(labels "$name")
	echo
}

# figure_7: the commands of figure 7, with the curves that make fidelity has recorded
figure_7() {
	local ways curve
	common 'Overflow of a transaction that writes random lines'
	echo "set xlabel 'cache lines written'; set ylabel 'transactions that overflow, per cent'"
	echo 'set yrange [0:100]; set xrange [0:350]'
	for ways in 8 4; do
		for curve in balls_in_bins overflow; do
			echo "\$${curve}_$ways << END"
			awk -F, -v run="overflow-$ways" -v curve=$curve '
				$1 == run && $2 == "emulated" && $3 == curve { print $4, $5 }' \
				"$results/fidelity-curves.csv"
			echo END
		done
	done
	# The dotted lines of the paper: average and worst case of its searches, in cache lines.
	echo 'do for [x in "47 53 93 213"] { set arrow from x, graph 0 to x, graph 1 nohead dt 3 lc rgb "#999999" }'
	echo "plot \$balls_in_bins_8 with lines lw 2 lc rgb '#1f77b4' title 'balls in bins, 8 ways', \\"
	echo "\$overflow_8 with points pt 6 lc rgb '#1f77b4' title 'machine, 8 ways', \\"
	echo "\$balls_in_bins_4 with lines lw 2 lc rgb '#d62728' title 'balls in bins, 4 ways', \\"
	echo "\$overflow_4 with points pt 8 lc rgb '#d62728' title 'machine, 4 ways', \\"
	echo "NaN with lines dt 3 lc rgb '#999999' title '47, 53, 93, 213 lines'"
}

# measured FIGURE: at least one of its points was measured
measured() { grep -q "^$1," "$csv"; }

while IFS='|' read -r keyword name x base title; do
	[ "$keyword" = figure ] && [ "$name" != - ] && measured "$name" || continue
	figure "$name" "$x" "$base" "$title" | draw "$prefix$name" || exit 1
done <"$plan"
! grep -q '^overflow|7' "$plan" || figure_7 | draw figure-7
