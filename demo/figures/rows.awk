# SPDX-License-Identifier: GPL-2.0-or-later
#
# rows.awk: the rows of a plan as lines of Markdown. -v part=PART: rows, the table; shown, the table of rows without a verdict; notes, why
# rows are missed; count, the verdicts; retries, real acquisitions by budget; broken, the
# points of damaged indexes; text, the environment's TEXT. In a reason and in TEXT, {HOW} becomes the
# number of HOW, a way of a row without braces. -v points= and -v native= name files with lines POINT OPS_S
# REAL% ABORTS% whole|broken, -v planned= one with the lines of points.awk. Must never print a number that does not follow from them.

BEGIN {
	FS = "|"
	load("simulated", points)
	while ((getline line <planned) > 0) {
		split(line, f, "|")
		in_plan[f[4]] = 1
	}
	has_native = native != "" && load("native", native)
}

function load(set, file,    line, f, nr, m, part_of) {
	while ((getline line < file) > 0) {
		delete f
		split(line, f, " ")
		ops[set, f[1]] = f[2]
		real[set, f[1]] = f[3]
		aborted[set, f[1]] = f[4]
		if (f[5] == "broken")
			broken[++nr_broken] = f[1]
		for (m = 6; m in f; m++) {
			split(f[m], part_of, "=")
			metric[set, f[1], part_of[1]] = part_of[2]
		}
		nr++
	}
	return nr
}

# Throughput of a point, 0 if it was not measured.
function at(point) { return (set, point) in ops ? ops[set, point] : 0 }

# The pattern with a value at its place.
function with(pattern, value) {
	sub(/\*|\{[^}]*\}/, value, pattern)
	return pattern
}

# The values of a pattern into list[1..n], ascending: those in braces, or all planned at *.
function values(pattern, list,    n, place, head, tail, p, v, i, j) {
	if (match(pattern, /\{[^}]*\}/))
		return split(substr(pattern, RSTART + 1, RLENGTH - 2), list, ",")
	place = index(pattern, "*")
	head = substr(pattern, 1, place - 1)
	tail = substr(pattern, place + 1)
	n = 0
	for (p in in_plan) {
		if (substr(p, 1, place - 1) != head || length(p) < place + length(tail) ||
		    substr(p, length(p) - length(tail) + 1) != tail)
			continue
		v = substr(p, place, length(p) - length(head) - length(tail))
		if (v !~ /^[0-9]+$/)
			continue
		for (i = n++; i > 0 && list[i] + 0 > v + 0; i--)
			list[i + 1] = list[i]
		list[i + 1] = v
	}
	return n
}

# Throughput of p[2] with a value, divided by the best of p[3..n]: "" if one is not planned
# at this value, "-" if one was not measured.
function ratio_at(p, n, value,    i, point, best) {
	for (i = 2; i <= n; i++) {
		point = with(p[i], value)
		if (!(point in in_plan))
			return ""
		if (!at(point))
			return "-"
		if (i > 2 && at(point) > best)
			best = at(point)
	}
	return at(with(p[2], value)) / best
}

# A number of a point by its name; "-" if it has none.
function number(name, point) {
	return (set, point, name) in metric ? metric[set, point, name] : "-"
}

# Two of them, divided: "none" if both are 0, "inf" if the second is.
function quotient(a, b) {
	if (a == "-" || b == "-")
		return "-"
	return b + 0 ? a / b : a + 0 ? "inf" : "none"
}

# A number, unless it is none, times a factor.
function scaled(factor, v) {
	return v ~ /^-?[0-9]/ ? factor * v : v
}

# Cycles that an operation takes a thread, on processors of mhz; "-" if it was not measured.
function cycles(mhz, point,    part) {
	split(point, part, ".")
	return at(point) ? mhz * 1e6 * part[4] / at(point) : "-"
}

# Cycles that an operation takes longer at b than at a, divided by n.
function longer(mhz, n, b, a) {
	return cycles(mhz, a) == "-" || cycles(mhz, b) == "-" ? "-" : (cycles(mhz, b) - cycles(mhz, a)) / n
}

# p[2] divided by p[3] of the point p[4] at each of its values, the least one.
function least_quotient(p,    list, nr, i, q, found) {
	nr = values(p[4], list)
	found = "inf"
	for (i = 1; i <= nr; i++) {
		q = quotient(number(p[2], with(p[4], list[i])), number(p[3], with(p[4], list[i])))
		if (q == "-" || q == "none")
			return q
		if (q != "inf" && (found == "inf" || q < found))
			found = q
	}
	return nr ? found : "-"
}

# Mean of the ratios of two points over the values.
function mean(first, second,    p, list, nr, i, r, sum) {
	p[2] = first
	p[3] = second
	nr = values(first, list)
	for (i = 1; i <= nr; i++) {
		r = ratio_at(p, 3, list[i])
		if (r == "-" || r == "")
			return "-"
		sum += r
	}
	return nr ? sum / nr : "-"
}

# The least ratio of p[4] to p[5] over the values at which the number p[2] of p[6] is above p[3].
function where(p,    list, nr, i, q, waited, found) {
	nr = values(p[4], list)
	found = "nowhere"
	for (i = 1; i <= nr; i++) {
		waited = number(p[2], with(p[6], list[i]))
		if (waited == "-" || !at(with(p[4], list[i])) || !at(with(p[5], list[i])))
			return "-"
		q = at(with(p[4], list[i])) / at(with(p[5], list[i]))
		if (waited > p[3] + 0 && (found == "nowhere" || q < found))
			found = q
	}
	return found
}

# What is left of @how behind the first three words, if the number p[2] of p[5] is p[3] or more at
# each of its values.
function given(p, how,    list, nr, i, v) {
	nr = 1
	list[1] = ""
	if (p[5] ~ /[*{]/)
		nr = values(p[5], list)
	for (i = 1; i <= nr; i++) {
		if (!at(with(p[5], list[i])))
			return "-"
		v = number(p[2], with(p[5], list[i]))
		if (v == "-" || v < p[3] + 0)
			return "none"
	}
	sub(/^[^ ]+ [^ ]+ [^ ]+ /, "", how)
	return value(how)
}

# Of the conflicts that p[3] has more than p[4], the per cent that p[2] does not have.
function vanished(p,    part, all, base) {
	part = number("conflict", p[2])
	all = number("conflict", p[3])
	base = number("conflict", p[4])
	if (part == "-" || all == "-" || base == "-" || all <= base)
		return "-"
	return 100 * (all - part) / (all - base)
}

function ratio(p, n) { return ratio_at(p, n, "") }

# Least of the ratios of pairs.
function lesser(p, n,    i, r, found) {
	found = "-"
	for (i = 2; i < n; i += 2) {
		if (!at(p[i]) || !at(p[i + 1]))
			return "-"
		r = at(p[i]) / at(p[i + 1])
		if (found == "-" || r < found)
			found = r
	}
	return found
}

function double(p) {
	if (!at(p[2]) || !at(p[3]) || !at(p[4]) || !at(p[5]))
		return "-"
	return at(p[2]) / at(p[3]) / (at(p[4]) / at(p[5]))
}

# What a row with * needs of each of its values: least and greatest: the ratio; leads: the first
# value with a ratio above 1; share: the part of these.
function over(p, n, how,    list, nr, i, r, seen, above, found) {
	nr = values(p[2], list)
	found = "-"
	for (i = 1; i <= nr; i++) {
		r = ratio_at(p, n, list[i])
		if (r == "")
			continue
		if (r == "-")
			return "-"
		seen++
		above += r > 1
		if (how == "least" && (found == "-" || r < found))
			found = r
		if (how == "greatest" && (found == "-" || r > found))
			found = r
		if (how == "leads" && r > 1 && found == "-")
			found = list[i]
	}
	if (how == "share" && seen)
		return above / seen
	return how == "leads" && seen && found == "-" ? "none" : found
}

# The ratio is interpolated linearly between two values.
function crossing(p,    list, nr, i, r, before, r_before) {
	nr = values(p[2], list)
	before = ""
	for (i = 1; i <= nr; i++) {
		r = ratio_at(p, 3, list[i])
		if (r == "")
			continue
		if (r == "-")
			return "-"
		if (r >= 1)
			return before == "" ? 0 : before + (list[i] - before) * (1 - r_before) / (r - r_before)
		before = list[i]
		r_before = r
	}
	return "-"
}

# The extreme throughputs of a pattern into low, high and high_at; 0 if one is missing.
function extremes(pattern,    list, nr, i, t) {
	nr = values(pattern, list)
	high = low = 0
	for (i = 1; i <= nr; i++) {
		t = at(with(pattern, list[i]))
		if (!t)
			return 0
		if (!low || t < low)
			low = t
		if (t > high) {
			high = t
			high_at = list[i]
		}
	}
	return nr
}

function of_extremes(p,    first, first_at) {
	if (!extremes(p[2]))
		return "-"
	if (p[1] == "best")
		return high_at
	if (p[1] == "spread")
		return low / high
	first = high
	first_at = high_at
	if (!extremes(p[3]))
		return "-"
	return p[1] == "bests" ? first / high : log(high_at / first_at) / log(2)
}

# speedup, gain and change: throughputs at numbers of threads.
function of_threads(p,    from, to, one) {
	one = at(with(p[2], 1))
	if (p[1] == "speedup")
		return one && at(with(p[2], p[3])) ? at(with(p[2], p[3])) / one : "-"
	from = at(with(p[2], p[3]))
	to = at(with(p[2], p[4]))
	if (!one || !from || !to)
		return "-"
	if (p[1] == "gain")
		return (to - from) / (p[4] - p[3]) / one
	return 100 * (exp(log(to / from) / (p[4] - p[3])) - 1)
}

function value(how,    p, n) {
	n = split(how, p, " ")
	if (p[1] == "real")
		return (set, p[2]) in real ? real[set, p[2]] : "-"
	if (p[1] == "aborted")
		return (set, p[2]) in aborted ? aborted[set, p[2]] : "-"
	if (p[1] == "million")
		return at(p[2]) ? at(p[2]) / 1e6 : "-"
	if (p[1] == "cycles")
		return cycles(p[2], p[3])
	if (p[1] == "longer")
		return longer(p[2], p[3], p[4], p[5])
	if (p[1] == "ratio")
		return ratio(p, n)
	if (p[1] == "lesser")
		return lesser(p, n)
	if (p[1] == "double")
		return double(p)
	if (p[1] == "number")
		return number(p[2], p[3])
	if (p[1] == "quotient")
		return quotient(number(p[2], p[3]), number(p[4], p[5]))
	if (p[1] == "per")
		return scaled(p[2], quotient(number(p[3], p[5]), number(p[4], p[5])))
	if (p[1] == "least-quotient")
		return least_quotient(p)
	if (p[1] == "mean")
		return mean(p[2], p[3])
	if (p[1] == "means")
		return quotient(mean(p[2], p[3]), mean(p[4], p[5]))
	if (p[1] == "where")
		return where(p)
	if (p[1] == "given")
		return given(p, how)
	if (p[1] == "vanished")
		return vanished(p)
	if (p[1] ~ /^(least|greatest|leads|share)$/)
		return over(p, n, p[1])
	if (p[1] == "crossing")
		return crossing(p)
	if (p[1] ~ /^(best|spread|bests|steps)$/)
		return of_extremes(p)
	if (p[1] ~ /^(speedup|gain|change)$/)
		return of_threads(p)
	print "rows.awk: " p[1] ": no such way" >"/dev/stderr"
	exit 2
}

# A number as a row has it; values of * are exact.
function rounded(v) { return v ~ /^-?[0-9]/ ? (v ~ /^-?[0-9]+$/ ? v : sprintf("%.3g", v)) + 0 : v }

# TEXT with the numbers of its {HOW}, of the simulated points.
function filled(text,    out, how, start, nr) {
	set = "simulated"
	while (match(text, /\{[a-z-]+ [^{}]+\}/)) {
		# A way matches, too.
		start = RSTART
		nr = RLENGTH
		how = substr(text, start + 1, nr - 2)
		out = out substr(text, 1, start - 1) rounded(value(how))
		text = substr(text, start + nr)
	}
	return out text
}

# The numbers of a row as text, and verdict.
function evaluate(how, accept,    part, n, i, v, text, bound) {
	n = split(how, part, " ; ")
	split(accept, bound, /\.\./)
	verdict = "within"
	text = ""
	for (i = 1; i <= n; i++) {
		v = value(part[i])
		if (v == "-")
			verdict = "not run"
		else if (v == "none" || (v == "inf" && bound[2] != ""))
			verdict = verdict == "not run" ? verdict : "missed"
		else if (v == "inf" || v == "nowhere")
			; # above each least value, or nothing to judge
		else {
			v = rounded(v)
			if (verdict == "within" && ((bound[1] != "" && v < bound[1] + 0) ||
						    (bound[2] != "" && v > bound[2] + 0)))
				verdict = "missed"
		}
		text = text (i > 1 ? ", " : "") v
	}
	return text
}

function difference(ours, published) {
	if (published !~ /^-?[0-9.]+$/ || ours !~ /^-?[0-9.]+(e[-+][0-9]+)?$/)
		return "-"
	return sprintf("%+.3g", ours - published)
}

function head(    line) {
	print "| figure | what | kind | " source " | published | accepted | ours |" \
		(has_native ? " natively |" : "") " difference | unit | verdict |"
	print "|---|---|---|---|--:|--:|--:|" (has_native ? "--:|" : "") "--:|---|---|"
}

FNR == 1 && part == "rows" { head() }
FNR == 1 && part == "shown" {
	print "| figure | what | ours |" (has_native ? " natively |" : "") " unit |"
	print "|---|---|--:|" (has_native ? "--:|" : "") "---|"
}

$1 == "row" {
	set = "native"
	natively = has_native ? " " evaluate($3, $6) " |" : ""
	set = "simulated"
	ours = evaluate($3, $6)
	if ($4 == "shown") {
		if (part == "shown")
			printf "| %s | %s | %s |%s %s |\n", $2, $9, ours, natively, $7
		next
	}
	nr[verdict]++
	if (part == "rows")
		printf "| %s | %s | %s | %s | %s | %s | %s |%s %s | %s | %s |\n", $2, $9, $4, $8, $5, $6,
			ours, natively, difference(ours, $5), $7,
			verdict == "within" ? verdict : "**" verdict "**"
	why = $10 == "" ? "not explained" : $10
	if (part == "notes" && verdict != "within")
		printf "- **%s** (%s): %s.\n", $2, $9,
			verdict == "missed" ? filled(why) : "points of it could not be run"
}

$1 == "curve" && part == "retries" && $4 ~ /^retry-|^no-retries$/ && $7 ~ /100$/ {
	n = $4 == "no-retries" ? 0 : substr($4, 7)
	p = $3 "." $4 "." $5 "." $6 ".100"
	if (!seen[p]++ && ("simulated", p) in ops)
		print sprintf("| %s | %d | %d | %.1f | %.2f |", ($3 == "delta") ? "before" : "after",
			$6, n, real["simulated", p], ops["simulated", p] / 1e6) | "sort -t\"|\" -k2,2r -k3,3n -k4,4n"
}

END {
	if (part == "text")
		print filled(ENVIRON["TEXT"])
	if (part == "count")
		printf "%d rows: %d within, %d missed, %d not run.\n",
			nr["within"] + nr["missed"] + nr["not run"], nr["within"],
			nr["missed"], nr["not run"]
	for (i = 1; part == "broken" && i <= nr_broken; i++)
		printf "`%s` ", broken[i]
}
