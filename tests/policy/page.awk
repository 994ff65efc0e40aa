# SPDX-License-Identifier: GPL-2.0-or-later
#
# page.awk - the CSV of table.awk as a page. -v ms, cores, seeds, policies: what was run; -v
# worst_file=FILE: the output of worst.awk; -v long_file=FILE: lines WORKLOAD|CORES|MEASURE|PER CENT of
# longer runs of its rows; -v notes=PATH: notes.md as seen from the page. Must never print a number that
# is not in these or follows from them.
BEGIN { FS = "," }

# The worst rows: a row with five seeds that spread by more than 2 % was run for 500 ms, too.
function worst_rows(line, part, longer, n) {
	while (long_file != "" && (getline line < long_file) > 0) {
		split(line, part, "|")
		longer[part[1], part[2], part[3]] = part[4]
	}
	while (worst_file != "" && (getline line < worst_file) > 0) {
		split(line, part, "|")
		if (!n++) {
			print ""
			print "| worst row | at | %, median of its seeds | goal | seeds | spread of ours, % | 500 ms, % |"
			print "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
		}
		printf "| %s | %s, %s | %s | %s | %s | %s | %s |\n", part[1], part[3], part[4], part[5], part[2],
			part[6], part[7],
			(part[3], part[4], part[1]) in longer ? longer[part[3], part[4], part[1]] : "-"
	}
}

NR == 1 {
	for (i = 1; i <= NF; i++) {
		at[$i] = i
		names[i] = $i
	}
	ours = names[at["best"] + 1]
	for (i = at["vs_plain"] + 1; i < at["best_peer"]; i++)
		peers[++nr_peers] = names[i]
	next
}

function of(name) { return name in at ? $(at[name]) : "-" }

# Ours against another time, per cent.
function against(name) {
	return of(name) == "-" ? "-" : sprintf("%.2f", 100 * (of(ours) / of(name) - 1))
}

function count(set) {
	rows[set]++
	regret[set] += of("regret")
	if (!(set in worst) || of("regret") + 0 > worst[set]) {
		worst[set] = of("regret") + 0
		worst_at[set] = of("workload") ", " of("cores")
	}
	if (of("vs_never") != "-" && (!(set in slower) || of("vs_never") + 0 > slower[set])) {
		slower[set] = of("vs_never") + 0
		slower_at[set] = of("workload") ", " of("cores")
	}
	if (of("vs_plain") != "-" && (!(set in behind) || of("vs_plain") + 0 > behind[set])) {
		behind[set] = of("vs_plain") + 0
		behind_at[set] = of("workload") ", " of("cores")
	}
	reached[set] += of("verdict") == "reached"
	behind_3[set] += of("behind_peer") != "-" && of("behind_peer") > 3
	behind_10[set] += of("behind_peer") != "-" && of("behind_peer") > 10
}

{
	count("all")
	count(of("set"))
	line[++nr] = sprintf("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |",
		of("workload"), of("set"), of("cores"), of("best_static"), of("best"), of(ours), of("regret"),
		of("never"), of("vs_never"), of("plain"), of("vs_plain"), of("glibc-own"),
		against("glibc-own"), of("best_peer"),
		of("hostile_ms") == "-" ? "-" : of("hostile_ms") " / " of("friendly_ms"), of("verdict"))
	for (i = 1; i <= nr_peers; i++)
		if (of(peers[i]) != "-") {
			both[i]++
			theirs[i] += log(of(peers[i]))
			own[i] += log(of(ours))
		}
	if (of("plain") != "-") {
		nr_plain++
		plain_theirs += log(of("plain"))
		plain_own += log(of(ours))
	}
}

function verdict_of(value, limit) {
	return value <= limit ? "reached" : sprintf("missed by %.2f", value - limit)
}

END {
	print "# The adaptive policy beside the best choice for each workload"
	print ""
	printf "Virtual time on simulated machines: %s cores, seeds %s, %s ms a run, policies %s.\n",
		cores, seeds, ms, policies
	print "Regret is time / that of the best static choice - 1; times are nanoseconds for a section"
	print "(an operation of an index or of kccachetest). `make bench-policy` writes this page."
	printf "[The notes](%s) say what is run, why rows miss, and what else was tried.\n", notes
	print ""
	print "| rows | number | reached | mean regret, % (3) | worst regret, % (10) | at | worst against never, % (2) | at | worst against plain, % | at |"
	print "| --- | ---: | ---: | --- | --- | --- | --- | --- | ---: | --- |"
	n = split("all tuned held", which, " ")
	for (i = 1; i <= n; i++) {
		s = which[i]
		if (!rows[s])
			continue
		m = regret[s] / rows[s]
		printf "| %s | %d | %d | %.2f: %s | %.2f: %s | %s | %s | %s | %s | %s |\n", s, rows[s], reached[s], m,
			verdict_of(m, 3), worst[s], verdict_of(worst[s], 10), worst_at[s],
			((s in slower) ? sprintf("%.2f: %s", slower[s], verdict_of(slower[s], 2)) : "-"),
			((s in slower) ? slower_at[s] : "-"),
			((s in behind) ? sprintf("%.2f", behind[s]) : "-"),
			((s in behind) ? behind_at[s] : "-")
	}
	worst_rows()
	print ""
	print "| rows behind the best peer | number | by more than 3 % | by more than 10 % |"
	print "| --- | ---: | ---: | ---: |"
	for (i = 1; i <= n; i++)
		if (rows[which[i]])
			printf "| %s | %d | %d | %d |\n", which[i], rows[which[i]], behind_3[which[i]], behind_10[which[i]]
	print ""
	print "| beside | rows | geometric mean of its time / ours | ahead |"
	print "| --- | ---: | ---: | --- |"
	if (nr_plain)
		printf "| plain | %d | %.3f | %s |\n", nr_plain, exp((plain_theirs - plain_own) / nr_plain),
			(plain_theirs >= plain_own ? "yes" : "no")
	for (i = 1; i <= nr_peers; i++)
		if (both[i])
			printf "| %s | %d | %.3f | %s |\n", peers[i], both[i],
				exp((theirs[i] - own[i]) / both[i]), (theirs[i] >= own[i] ? "yes" : "no")
	print ""
	printf "| workload | set | cores | best static | ns | %s | regret, %% | never | %% | plain | %% | glibc-own | %% | best peer | phases, ms | verdict |\n", ours
	print "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |"
	for (i = 1; i <= nr; i++)
		print line[i]
}
