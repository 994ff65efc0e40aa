#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=5
#
# How the pages of demo/figures get their numbers: each way of a row on points whose results are
# known, verdicts at the ends of ranges, points that are missing, numbers in reasons, and that every
# point that a row or a reason of a plan names is one of its curves.

. "$(dirname "$0")/../script.sh"
figures=$root/demo/figures

# plan ROW...: a plan with the curves of the points below and these rows, which lack "row|"
plan() {
	cat <<-'PLAN'
	figure|1|threads|-|one
	curve|a|a|x|m|1 2 4|0
	curve|b|b|x|m|1 2 4|0
	curve|c|c@n|x|m|1|0|64 256 1024
	curve|d|d@n|x|m|1|0|64 256 1024
	curve|e|a|x|m|4|10 100
	curve|f|b|x|m|4|10 100
	curve|missing|g|x|m|1|0
	PLAN
	for row; do echo "row|$row"; done
}

points() {
	cat <<-'POINTS'
	a.x.m.1.0 100 - - whole
	a.x.m.2.0 150 - - whole
	a.x.m.4.0 250 2.5 7.25 whole
	a.x.m.4.10 300 - - whole
	a.x.m.4.100 40 - - broken
	b.x.m.1.0 50 - - whole
	b.x.m.2.0 200 - - whole
	b.x.m.4.0 100 - - whole
	b.x.m.4.10 600 - - whole
	b.x.m.4.100 20 - - whole
	c@n64.x.m.1.0 10 - - whole hits=3 misses=12 conflict=2 waited=9.5
	c@n256.x.m.1.0 40 - - unchecked hits=8 misses=0 conflict=10 waited=5
	c@n1024.x.m.1.0 30 - - whole
	d@n64.x.m.1.0 20 - - whole hits=0 misses=0 conflict=4
	d@n256.x.m.1.0 10 - - whole
	d@n1024.x.m.1.0 50 - - whole
	POINTS
}

# part NAME PLAN [NATIVE]: the lines of a part
part() {
	awk -f "$figures/points.awk" "$2" >"$tmp/planned"
	awk -v points="$tmp/points" -v native="${3:-}" -v source=S -v part="$1" \
		-v planned="$tmp/planned" -f "$figures/rows.awk" "$2"
}

# way HOW ACCEPT OURS VERDICT
way() {
	plan "1|$1|prose|-|$2|ratio|1|what|" >"$tmp/plan"
	got=$(part rows "$tmp/plan" | tail -n 1 | awk -F' [|] ' '{ print $7 "|" $10 }' | tr -d '* ' | sed 's/|$//')
	if [ "$got" = "$(echo "$3|$4" | tr -d ' ')" ]; then
		ok "$1 in $2"
	else
		not_ok "$1 in $2" "$got, not $3|$4"
	fi
}

test_ways() {
	way 'real a.x.m.4.0' 2.5..2.5 2.5 within
	way 'aborted a.x.m.4.0' ..7 7.25 missed
	way 'aborted a.x.m.1.0' ..7 - notrun
	way 'million a.x.m.4.0' 0.00025..0.00025 0.00025 within
	way 'million g.x.m.1.0' 0.. - notrun
	way 'cycles 1 a.x.m.4.0' 16000..16000 16000 within
	way 'cycles 1 g.x.m.1.0' 0.. - notrun
	way 'longer 1 10 b.x.m.1.0 a.x.m.1.0' 1000..1000 1000 within
	way 'longer 1 10 b.x.m.1.0 g.x.m.1.0' 0.. - notrun
	way 'ratio a.x.m.4.0 a.x.m.2.0 b.x.m.2.0' 1.26.. 1.25 missed
	way 'ratio a.x.m.4.0 a.x.m.2.0' ..1.67 1.67 within
	way 'lesser a.x.m.2.0 a.x.m.1.0 b.x.m.4.0 b.x.m.2.0' 0.5..1 0.5 within
	way 'double a.x.m.4.0 a.x.m.1.0 b.x.m.4.0 b.x.m.1.0' 1.3..  1.25 missed
	way 'least a.x.m.*.0 b.x.m.*.0' 0.75.. 0.75 within
	way 'least a.x.m.{1,4}.0 b.x.m.{1,4}.0' 2..2 2 within
	way 'least a.x.m.4.* b.x.m.4.*' 0.5..0.5 0.5 within
	way 'spread c@n*.x.m.1.0' 0.25..0.25 0.25 within
	way 'crossing b.x.m.*.0 a.x.m.*.0' 1.6..1.6 1.6 within
	way 'leads c@n*.x.m.1.0 d@n*.x.m.1.0' 16..256 256 within
	way 'leads a.x.m.4.{10} b.x.m.4.{10}' ..50 none missed
	way 'best c@n*.x.m.1.0' 256..256 256 within
	way 'best b.x.m.*.0' 3..4 2 missed
	way 'bests d@n*.x.m.1.0 c@n*.x.m.1.0' 1.2.. 1.25 within
	way 'steps c@n*.x.m.1.0 d@n*.x.m.1.0' 0..1 2 missed
	way 'steps d@n*.x.m.1.0 c@n*.x.m.1.0' -2..0 -2 within
	way 'share c@n*.x.m.1.0 d@n*.x.m.1.0' 0.3..0.4 0.333 within
	way 'speedup a.x.m.*.0 4' ..2 2.5 missed
	way 'gain a.x.m.*.0 1 4' 0.5..0.5 0.5 within
	way 'change a.x.m.*.0 2 4' 20..30 29.1 within
	way 'best c@n*.x.m.1.0 ; best d@n*.x.m.1.0' 256..1024 '256,1024' within
	way 'best c@n*.x.m.1.0 ; best d@n*.x.m.1.0' 256..512 '256,1024' missed
	way 'greatest a.x.m.{1,4}.0 b.x.m.{1,4}.0' ..2 2.5 missed
	way 'mean a.x.m.{1,2,4}.0 b.x.m.{1,2,4}.0' 1.75..1.75 1.75 within
	way 'means a.x.m.{1,4}.0 b.x.m.{1,4}.0 a.x.m.{2}.0 b.x.m.{2}.0' 3..3 3 within
	way 'number hits c@n64.x.m.1.0' 3..3 3 within
	way 'number hits a.x.m.1.0' 0.. - notrun
	way 'quotient misses c@n64.x.m.1.0 hits c@n64.x.m.1.0' 5.. 4 missed
	way 'quotient hits c@n256.x.m.1.0 misses c@n256.x.m.1.0' 5.. inf within
	way 'quotient hits c@n256.x.m.1.0 misses c@n256.x.m.1.0' ..5 inf missed
	way 'quotient hits d@n64.x.m.1.0 misses d@n64.x.m.1.0' 0.. none missed
	way 'least-quotient hits misses c@n{64,256}.x.m.1.0' 0.25.. 0.25 within
	way 'least-quotient hits misses c@n{256}.x.m.1.0' 1.. inf within
	way 'least-quotient hits misses d@n{64}.x.m.1.0' 0.. none missed
	way 'vanished d@n64.x.m.1.0 c@n256.x.m.1.0 c@n64.x.m.1.0' 75..75 75 within
	way 'vanished c@n64.x.m.1.0 c@n64.x.m.1.0 c@n256.x.m.1.0' 0.. - notrun
	way 'where waited 5 d@n{64,256}.x.m.1.0 c@n{64,256}.x.m.1.0 c@n{64,256}.x.m.1.0' 3.. 2 missed
	way 'where waited 9.9 d@n{64,256}.x.m.1.0 c@n{64,256}.x.m.1.0 c@n{64,256}.x.m.1.0' 3.. nowhere within
	way 'where waited 5 d@n{1024}.x.m.1.0 c@n{1024}.x.m.1.0 c@n{1024}.x.m.1.0' 0.. - notrun
	way 'given hits 3 least c@n{64,256}.x.m.1.0 d@n{64,256}.x.m.1.0' 0.5.. 0.5 within
	way 'given hits 4 least c@n{64,256}.x.m.1.0 d@n{64,256}.x.m.1.0' 0.5.. none missed
	way 'given hits 0 least c@n*.x.m.1.0 d@n*.x.m.1.0' 0.. none missed
	way 'given hits 3 ratio c@n64.x.m.1.0 d@n64.x.m.1.0' 0.5.. 0.5 within
	way 'given hits 1 ratio g.x.m.1.0 d@n64.x.m.1.0' 0.. - notrun
	way 'ratio g.x.m.1.0 a.x.m.1.0' 0.. - notrun
	way 'ratio a.x.m.1.0 g.x.m.1.0 b.x.m.1.0' 0.. - notrun
	way 'ratio a.x.m.2.0 a.x.m.1.0 ; ratio g.x.m.1.0 a.x.m.1.0' 0.. '1.5,-' notrun
}

# The other parts: why a row is missed, the count, a row without verdict, damaged indexes, and
# the column of native numbers.
test_parts() {
	plan '1|ratio a.x.m.2.0 a.x.m.1.0|prose|-|2..|ratio|1|what|because' \
		'2|ratio a.x.m.2.0 a.x.m.1.0|prose|1|1..|ratio|1|what|' \
		'3|ratio g.x.m.1.0 a.x.m.1.0|prose|-|1..|ratio|1|what|' \
		'4|ratio b.x.m.2.0 b.x.m.1.0|shown|-|..|ratio|1|what|' >"$tmp/plan"
	sed 's/ 150 / 180 /' "$tmp/points" >"$tmp/native"
	for name in count notes shown broken; do
		part $name "$tmp/plan"
		echo
	done >"$tmp/got"
	part rows "$tmp/plan" "$tmp/native" | sed -n 4p >>"$tmp/got"
	cat >"$tmp/want" <<-'WANT'
	3 rows: 1 within, 1 missed, 1 not run.

	- **1** (what): because.
	- **3** (what): points of it could not be run.

	| figure | what | ours | unit |
	|---|---|--:|---|
	| 4 | what | 4 | ratio |

	`a.x.m.4.100` 
	| 2 | what | prose | 1 | 1 | 1.. | 1.5 | 1.8 | +0.5 | ratio | within |
	WANT
	if cmp -s "$tmp/got" "$tmp/want"; then
		ok parts
	else
		not_ok parts "$(diff "$tmp/got" "$tmp/want" | head -n 5 | tr '\n' ' ')"
	fi
}

# has NAME PATTERN FILE: the file has a line that matches
has() {
	if grep -Eq -- "$2" "$3"; then ok "$1"; else not_ok "$1" "no $2 in $(head -n 3 "$3")"; fi
}

# A reason has the numbers of this run, and braces without a way stay; so has a line of a page.
test_reasons() {
	plan '1|ratio a.x.m.2.0 a.x.m.1.0|prose|-|2..|ratio|1|what|{1,2}: {real a.x.m.4.0} % and {greatest a.x.m.*.0 b.x.m.*.0}, {real g.x.m.1.0}' \
		>"$tmp/plan"
	part notes "$tmp/plan" >"$tmp/got"
	has reason '^- [*][*]1[*][*] [(]what[)]: [{]1,2[}]: 2[.]5 % and 2[.]5, -[.]$' "$tmp/got"
	TEXT='a {number hits c@n64.x.m.1.0} b' part text "$tmp/plan" >"$tmp/got"
	has text '^a 3 b$' "$tmp/got"
	plan '1|ratio a.x.m.2.0 a.x.m.1.0|prose|-|2..|ratio|1|what|{no-way a.x.m.4.0}' >"$tmp/plan"
	if part notes "$tmp/plan" >/dev/null 2>"$tmp/err"; then
		not_ok 'reason without a way' 'no error'
	else
		has 'reason without a way' 'no-way: no such way' "$tmp/err"
	fi
}

# A row of a point that is no curve could never have a number.
test_plans() {
	for plan in plan plan-trees plan-oltp plan-pages; do
		awk -f "$figures/points.awk" "$figures/$plan" >"$tmp/planned"
		awk -F'|' '
		FNR == NR { planned[$4] = 1; next }
		$1 == "curve" { named["index", $3] = named["scheme", $4] = named["machine", $5] = 1 }
		$1 == "index" || $1 == "scheme" || $1 == "machine" { defined[$1, $2] = 1 }
		$1 == "row" {
			how[$2] = $3
			while (match($10, /\{[a-z-]+ [^{}]+\}/)) {
				how[$2] = how[$2] " " substr($10, RSTART + 1, RLENGTH - 2)
				$10 = substr($10, RSTART + RLENGTH)
			}
		}
		$1 == "report" { how[$2] = "real " $3 }
		END {
			for (row in how) {
				nr = split(how[row], word, " ")
				for (i = 1; i <= nr; i++)
					if (word[i] ~ /\..*\./ && word[i] !~ /[*{]/ && !(word[i] in planned))
						print row ": " word[i]
			}
			for (n in named) {
				split(n, part, SUBSEP)
				sub(/@.*/, "", part[2])
				if (!((part[1], part[2]) in defined))
					print part[1] " " part[2]
			}
		}' "$tmp/planned" "$figures/$plan" >"$tmp/unknown"
		if [ -s "$tmp/unknown" ]; then
			not_ok "$plan names what it has" "$(head -n 3 "$tmp/unknown" | tr '\n' ' ')"
		else
			ok "$plan names what it has"
		fi
	done
}

points >"$tmp/points"
test_ways
test_parts
test_reasons
test_plans
finish
