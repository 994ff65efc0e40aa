#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# page.sh PLAN POINTS: prints demo/RESULTS.md: the rows of the plan with the numbers
# measured. POINTS has lines INDEX.SCHEME.MACHINE.THREADS.INSERTS OPS_S REAL% ABORTS%
# whole|broken. KEYS and OPS are the sizes of the runs. Must never print a number that
# is not in POINTS.
set -u
plan=$1
points=$2
here=$(dirname "$0")

# tables PART: rows, the table; notes, why rows are missed; retries, real acquisitions by
# budget; count, the verdicts; broken, the points of damaged indexes
tables() {
	awk -F'|' -v points="$points" -v part="$1" '
	BEGIN {
		while ((getline line < points) > 0) {
			split(line, f, " ")
			ops[f[1]] = f[2]
			real[f[1]] = f[3]
			if (f[5] != "whole")
				broken[++nr_broken] = f[1]
		}
		nr_shares = split("0 2 5 20 50 100", shares, " ")
		if (part == "rows") {
			print "| figure | what | kind | HPCA 2014 | published | accepted | ours | difference | unit | verdict |"
			print "|---|---|---|---|--:|--:|--:|--:|---|---|"
		}
	}
	function at(pattern, share) {
		sub(/\*/, share, pattern)
		return pattern in ops ? ops[pattern] : 0
	}
	function ratio(p, n,    i, best) {
		for (i = 3; i <= n; i++) {
			if (!(p[i] in ops))
				return "-"
			if (ops[p[i]] > best)
				best = ops[p[i]]
		}
		return p[2] in ops && best ? ops[p[2]] / best : "-"
	}
	function least(p,    i, r, found) {
		found = "-"
		for (i = 1; i <= nr_shares; i++)
			if (at(p[2], shares[i]) && at(p[3], shares[i])) {
				r = at(p[2], shares[i]) / at(p[3], shares[i])
				if (found == "-" || r < found)
					found = r
			}
		return found
	}
	# The ratio is interpolated linearly between two shares of inserts.
	function crossing(p,    i, r, before, r_before) {
		before = ""
		for (i = 1; i <= nr_shares; i++) {
			if (!at(p[2], shares[i]) || !at(p[3], shares[i]))
				continue
			r = at(p[2], shares[i]) / at(p[3], shares[i])
			if (r >= 1)
				return before == "" ? 0 : before + (shares[i] - before) * (1 - r_before) / (r - r_before)
			before = shares[i]
			r_before = r
		}
		return "-"
	}
	function value(how,    p, n) {
		n = split(how, p, " ")
		if (p[1] == "real")
			return p[2] in real ? real[p[2]] : "-"
		if (p[1] == "ratio")
			return ratio(p, n)
		if (p[1] == "least")
			return least(p)
		return crossing(p)
	}
	$1 == "row" {
		split($6, bound, /\.\./)
		ours = value($3)
		if (ours == "-")
			verdict = "failed"
		else {
			ours = sprintf("%.3g", ours) + 0
			verdict = "within"
			if ((bound[1] != "" && ours < bound[1] + 0) || (bound[2] != "" && ours > bound[2] + 0))
				verdict = "missed"
		}
		nr[verdict]++
		if (part == "rows")
			printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", $2, $9, $4, $8, $5, $6,
				ours, $5 == "-" || ours == "-" ? "-" : sprintf("%+.3g", ours - $5), $7,
				verdict == "within" ? verdict : "**" verdict "**"
		if (part == "notes" && verdict != "within")
			printf "- **%s** (%s): %s.\n", $2, $9, $10 == "" ? "not explained" : $10
	}
	$1 == "curve" && part == "retries" && $4 ~ /^retry-|^no-retries$/ && $7 ~ /100$/ {
		n = $4 == "no-retries" ? 0 : substr($4, 7)
		p = $3 "." $4 "." $5 "." $6 ".100"
		if (!seen[p]++ && p in ops)
			print sprintf("| %s | %d | %d | %.1f | %.2f |", ($3 == "delta") ? "before" : "after",
				$6, n, real[p], ops[p] / 1e6) | "sort -t\"|\" -k2,2r -k3,3n -k4,4n"
	}
	END {
		if (part == "count")
			printf "%d rows: %d within, %d missed, %d failed.\n",
				nr["within"] + nr["missed"] + nr["failed"], nr["within"],
				nr["missed"], nr["failed"]
		for (i = 1; part == "broken" && i <= nr_broken; i++)
			printf "`%s` ", broken[i]
	}' "$plan"
}

cat <<PAGE
<!-- make figures writes this page from demo/figures/plan, notes.md and its runs. Do not edit. -->
# The figures of HPCA 2014, reproduced

Karnagel et al., *Improving In-Memory Database Index Performance with Intel Transactional
Synchronization Extensions*, HPCA 2014, beside \`index_bench\` on simulated machines. A run loads $KEYS
keys (the paper: 20,000,000) and measures $OPS operations of all threads together, from cold caches.
Each point is one run with a fixed seed. \`FULL=1 make figures\` loads the paper's number of keys and
takes hours: see *The paper's size* below.

$(tables count)

$(tables rows)

The ranges *accepted* were written down before the first run. Kind *prose*: the paper has words and no
number, and the range is our reading of them. A *real* acquisition is one that took the lock.

## Why the missed ones are missed

$(tables notes)

PAGE
cat "$here/notes.md"
cat <<PAGE

| transformations | threads | further attempts | real acquisitions, % | million operations/s |
|---|--:|--:|--:|--:|
$(tables retries)

## Pictures

PAGE
awk -F'|' '$1 == "figure" && $2 != "-" { printf "**Figure %s**: %s.\n\n![figure %s](results/figure-%s.svg)\n\n", $2, $5, $2, $2 }' "$plan"
cat <<PAGE
**Figure 7**: probability of an overflow, measured by \`make fidelity\`;
[FIDELITY.md](../tests/fidelity/FIDELITY.md) has its rows.

![figure 7](results/figure-7.svg)

Points without concurrency control for which no seed kept the index whole, so their throughput is that
of a run with a damaged index: $(tables broken | grep . || echo none)
PAGE
