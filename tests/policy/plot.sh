#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, draws for make bench-policy
#
# plot.sh CSV SVG: regret and time against never for each row of the table, sorted. Must
# never draw a point that is not in the file.
set -u
csv=$1 svg=$2
command -v gnuplot >/dev/null || { echo 'policy: gnuplot is missing: tools/deps.sh installs it' >&2; exit 1; }
data=$(mktemp) || exit 1
trap 'rm -f "$data"' EXIT

# A block for each set, rows by regret: RANK REGRET NAME
for set in tuned held; do
	awk -F, -v set=$set '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["set"] == set { print $at["regret"], $at["workload"] ", " $at["cores"] }' "$csv" | sort -n |
		awk '{ v = $1; sub(/^[^ ]* /, ""); print NR, v, "\"" $0 "\"" }'
	printf '\n\n'
done >"$data"
grep -q . "$data" || exit 0
gnuplot <<PLOT | awk -f "$(dirname "$0")/../../demo/figures/slim.awk" >"$svg"
set terminal svg size 900,480 background 'white' font 'DejaVu Sans,12'
set title 'Time of the adaptive policy beside the best static choice, each workload and number of cores'
set ylabel 'regret, per cent'
set xlabel 'workloads, sorted'
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror
set key right bottom Left reverse
set samples 2
set yrange [-10:*]
plot 10 with lines lw 1 dt 2 lc rgb '#d62728' title 'limit of each', \
     3 with lines lw 1 dt 3 lc rgb '#7f7f7f' title 'limit of the mean', \
     '$data' index 0 using 1:2 with points pt 7 ps 0.6 lc rgb '#1f77b4' title 'tuned', \
     '' index 1 using 1:2 with points pt 5 ps 0.6 lc rgb '#ff7f0e' title 'held out'
PLOT
