# SPDX-License-Identifier: GPL-2.0-or-later
#
# recovery.awk -v shift_ms= -v window= -v entries= TIMELINE: how long after a shift of a window the
# throughput is again nine tenths of what it was before, in periods of Contention Split (512 updates)
# of the page with the most updates. TIMELINE is what page_bench wrote for --workload=news: ms and
# operations in its first columns. Half of the operations are updates; those of a page are by Zipf's
# law, exponent 0.75, which its newest entries have. The longest of all shifts but the first, which
# has no throughput before it; a shift that is never recovered from counts until the next. Prints a
# number, or nothing if the timeline has no second shift.

BEGIN { FS = "," }

FNR > 1 {
	nr++
	ms[nr] = $1
	operations[nr] = $2
	rate[nr] = $1 > ms[nr - 1] ? $2 / ($1 - ms[nr - 1]) : 0
}

END {
	for (i = 1; i <= window; i++) {
		all += i ^ -0.75
		if (i <= entries)
			page += i ^ -0.75
	}
	for (at = 2 * shift_ms; at + shift_ms <= ms[nr] + 0.5; at += shift_ms) {
		before = nr_before = done = 0
		for (i = 1; i <= nr; i++)
			if (ms[i] > at - shift_ms / 2 && ms[i] <= at) {
				before += rate[i]
				nr_before++
			}
		if (!nr_before)
			continue
		before /= nr_before
		for (i = 1; i <= nr; i++)
			if (ms[i] > at && ms[i] <= at + shift_ms) {
				done += operations[i]
				if (ms[i - 1] >= at && rate[i] >= 0.9 * before)
					break
			}
		if (done > most)
			most = done
		seen = 1
	}
	if (seen)
		printf "%.4g\n", most * 0.5 * page / all / 512
}
