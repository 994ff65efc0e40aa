# SPDX-License-Identifier: GPL-2.0-or-later
#
# points.awk PLAN: the points of each curve of a plan, one a line: FIGURE|LABEL|X|POINT, where X
# is its place on the horizontal axis of the figure.

BEGIN { FS = "|" }

$1 == "figure" {
	figure = $2
	axis = $3
}

$1 == "curve" {
	nr_threads = split($6, threads, " ")
	nr_rates = split($7, rates, " ")
	# Without values INDEX is whole.
	nr_values = split($8 == "" ? "-" : $8, values, " ")
	for (t = 1; t <= nr_threads; t++)
		for (r = 1; r <= nr_rates; r++)
			for (v = 1; v <= nr_values; v++) {
				x = axis == "threads" ? threads[t] : axis == "value" ? values[v] : rates[r]
				print figure "|" $2 "|" x "|" $3 ($8 == "" ? "" : values[v]) "." $4 "." \
					$5 "." threads[t] "." rates[r]
			}
}
