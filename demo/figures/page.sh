#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# page.sh PLAN POINTS: demo/RESULTS.md on stdout: what the plan compares beside
# what was measured. POINTS: lines INDEX.SCHEME.MACHINE.THREADS.INSERTS OPS_S
# REAL% ABORTS% whole|broken. KEYS, OPS: the sizes that ran. Must never print a
# figure that is not in POINTS.
set -u
plan=$1
points=$2
here=$(dirname "$0")

# rows: the table; notes: why rows are missed; retries: real acquisitions by budget
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
	# Between two shares the ratio is taken as a straight line.
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
<!-- Written by make figures from demo/figures/plan, notes.md and the run; not edited. -->
# The figures of HPCA 2014, reproduced

Karnagel et al., *Improving In-Memory Database Index Performance with Intel Transactional
Synchronization Extensions*, HPCA 2014, beside \`index_bench\` on simulated machines: $KEYS keys are
loaded (the paper: 20,000,000), then $OPS operations run, of all threads together, from cold caches.
\`FULL=1 make figures\` takes the paper's number of keys, for hours: see *The paper's size* below. Every point is one run of a fixed seed.

$(tables count)

$(tables rows)

*accepted* was written down before the first run; a published value in words has a range here that
reads them, and *prose* beside it. *real* acquisitions are those that took the lock in the end.

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
**Figure 7**: probability of an overflow, from \`make fidelity\`; [FIDELITY.md](FIDELITY.md) has its rows.

![figure 7](results/figure-7.svg)

Points without concurrency control at which neither seed kept the index whole, so that they are
the time of a damaged run: $(tables broken | grep . || echo none)
PAGE
