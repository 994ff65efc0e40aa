# SPDX-License-Identifier: GPL-2.0-or-later
#
# worst.awk - the worst row of each measure that has a goal, of the CSV of table.awk:
# MEASURE|GOAL|WORKLOAD|CORES|PER CENT|SEEDS|SPREAD. run.sh measures such a row with further seeds until
# the worst one is the median of five, and page.awk shows them. Must never print a row that is not in
# the CSV.
BEGIN { FS = "," }

NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	ours = at["best"] + 1
	next
}

# name: of the measure, in the order of its first row
function see(name, goal, value) {
	if (value == "-" || value == "")
		return
	if (!(name in goals)) {
		order[++nr] = name
		goals[name] = goal
	}
	if (name in worst && value + 0 <= worst[name] + 0)
		return
	worst[name] = value
	row[name] = $at["workload"] "|" $at["cores"] "|" value "|" $at["runs"] "|" $at["spread"]
}

{
	many = $at["cores"] > 1
	see("slower than plain, several cores", 5, many ? $at["vs_plain"] : "-")
	see("slower than never", 3, $at["vs_never"])
	see("regret", 8, $at["regret"])
	if ("glibc-own" in at && $at["glibc-own"] > 0)
		see("behind glibc-own, several cores", 10,
			many ? sprintf("%.2f", 100 * ($ours / $at["glibc-own"] - 1)) : "-")
}

END {
	for (i = 1; i <= nr; i++)
		print order[i] "|" goals[order[i]] "|" row[order[i]]
}
