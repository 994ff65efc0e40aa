#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
#
# make figures-oltp with a plan of eight small points on the simulated machine, of which the first two are
# the means of two seeds: the page has their numbers in its tables, and the report that names a
# latch by its role. A scheme that the plan gives seeds has them and no other has. Rows about a latch are
# missed if it is not acquired, and if it is not elided. And what slim.awk makes of a picture, and the
# options of tatp_bench that the plan
# needs.

. "$(dirname "$0")/../script.sh"
figures=$root/demo/figures

# has NAME PATTERN FILE: the file has a line that matches
has() {
	if grep -Eq -- "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "no $2 in $(grep -E '^[|]|rows:|[.]haswell[.]' "$3")"
	fi
}

# The schemes of the plan, with two that differ in their attempts, in small points.
plan() {
	grep -E '^(results|source|threads|counters|elided|program|machine|index|scheme)[|]' "$figures/plan-oltp"
	cat <<-'PLAN'
	size|quick|2000|2000|0|120|1|--check=on
	size|full|300|400|0|120|2|--check=off
	scheme|once|--mode=off|--locks=all --attempts=1
	scheme|often|--mode=off|--locks=all --attempts=50
	scheme|gateless|--mode=elide --stacks=0 --policy=glibc|--helpers=off --latch=checkpoint_gate=none
	scheme|unelided|--mode=elide --stacks=0 --policy=never|--latch=checkpoint_gate=occ-pthread
	figure|4|threads|-|attempts
	curve|once|getsub|once|haswell|4|0
	curve|often|getsub|often|haswell|4|0
	figure|-|threads|-|
	curve|plain|mix|mutex-plain|haswell|2|0
	curve|never|mix|mutex-never|haswell|2|0
	curve|adaptive|mix|mutex-adaptive|haswell|2|0
	seeds|*-adaptive|3
	curve|gate|getsub|glibc-occ-pthread|haswell|1|0
	curve|without|getsub|gateless|haswell|1|0
	curve|not elided|getsub|unelided|haswell|1|0
	table|attempts|getsub|often|once|1/2/3 1/2/3 1/2/3 4/5/6
	product|mutexes|mix|mutex-plain|mutex-never|mutex-adaptive
	report|mutex|mix.mutex-adaptive.haswell.2.0
	row|more|quotient starts getsub.often.haswell.4.0 starts getsub.once.haswell.4.0|goal|-|1.02..|ratio|-|attempts|
	row|each|number sections_each getsub.once.haswell.4.0|goal|-|30..40|sections|-|sections|
	row|conflicts|number conflict getsub.often.haswell.4.0|goal|-|1..100|%|-|conflicts|
	row|lost|number lost getsub.often.haswell.4.0|goal|-|100..10000|cycles|-|cycles|
	row|waited|number waited mix.mutex-never.haswell.2.0|goal|-|0..100|%|-|waited|
	row|gate|given gate_elided 90 ratio getsub.glibc-occ-pthread.haswell.1.0 getsub.unelided.haswell.1.0|goal|-|0.5..2|ratio|-|gate|
	row|gateless|given gate_elided 90 ratio getsub.gateless.haswell.1.0 getsub.unelided.haswell.1.0|goal|-|0.5..2|ratio|-|gate|
	row|unelided|given gate_elided 90 ratio getsub.unelided.haswell.1.0 getsub.unelided.haswell.1.0|goal|-|0.5..2|ratio|-|gate|
	row|taken|number gate getsub.unelided.haswell.1.0 ; number gate_inline getsub.often.haswell.4.0|goal|-|0.9..|sections|-|gate|
	row|not taken|number gate getsub.gateless.haswell.1.0|goal|-|0.9..|sections|-|gate|
	PLAN
}

# make_page [VARIABLE=VALUE...]: runs the plan as make figures-oltp does
make_page() {
	env O="$tmp/build" NATIVE=no "$@" bash "$tmp/demo/figures/run.sh" plan-small OLTP.md \
		>"$tmp/out" 2>"$tmp/err" || not_ok "run $*" "$(tail -n 3 "$tmp/err")"
}

test_page() {
	make_page
	has quick '^10 rows: 7 within, 3 missed, 0 not run' "$tmp/demo/OLTP.md"
	# The planted variants: rows of the gate that nobody takes, or that is not elided.
	has gateless '^[|] gateless .* none .*[*]missed' "$tmp/demo/OLTP.md"
	has unelided '^[|] unelided .* none .*[*]missed' "$tmp/demo/OLTP.md"
	has not-taken '^[|] not taken .* 0 .*[*]missed' "$tmp/demo/OLTP.md"
	has unbroken '^getsub.once.haswell.4.0 [0-9]+ - - whole sections_each=' \
		"$tmp/demo/results/oltp.points"
	has table '^\| 4 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| 4/5/6 \| [0-9.]+ \|' "$tmp/demo/OLTP.md"
	has product '^\| mutexes \| 2 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| ' \
		"$tmp/demo/OLTP.md"
	has report 'page_latches' "$tmp/demo/OLTP.md"
	has means '^[|] `mix[.]mutex-adaptive[.]haswell[.]2[.]0` [|] [0-9.]+ [|] [0-9.]+ [|]$' "$tmp/demo/OLTP.md"
	if [ "$(grep -c ' spread=' "$tmp/demo/results/oltp.points")" = 1 ]; then
		ok 'seeds of one scheme'
	else
		not_ok 'seeds of one scheme' "$(grep -c ' spread=' "$tmp/demo/results/oltp.points") points"
	fi
	has picture '>often</text>' "$tmp/demo/results/oltp-4.svg"
}

# slim ELEMENT...: $tmp/out is what slim.awk makes of a picture that has these
slim() {
	printf '%s\n' '<?xml version="1.0"?>' '<svg width="20" height="10">' '<g stroke-width="1.00">' "$@" |
		awk -f "$figures/slim.awk" >"$tmp/out" 2>"$tmp/err"
}

# A picture gets smaller without losing anything: what is unknown is refused, and so is half a picture.
test_slim() {
	slim '<path stroke="rgb(255,  0, 16)" d="M1.00,2.00 L3.00,2.00 L4.04,1.50  "/>' \
		"<use xlink:href='#gpPt3' transform='translate(3.00,2.00) scale(1.00)' color='black'/>" '</svg>'
	has slim-line 'stroke="#ff0010".* d="M10 20h20l10-5"' "$tmp/out"
	has slim-point 'stroke="black" d="M20 10h20v20h-20z"' "$tmp/out"
	for unknown in '<circle r="1"/>' '<path d="M1,1 C2,2 3,3 4,4"/>' \
		"<use xlink:href='#gpPt1' transform='translate(1,1) scale(1)'/>"; do
		if slim "$unknown" '</svg>'; then not_ok "slim $unknown" 'it is left out'; else ok "slim $unknown"; fi
	done
	if slim '<path stroke="black" d="M1,1 L2,2"/>'; then not_ok slim-half 'no error'; else ok slim-half; fi
}

# One figure only, with the mean of two seeds, and without a check of the database.
test_seeds() {
	make_page FULL=1 ONLY=4
	has seeds '^getsub.once.haswell.4.0 [0-9.]+ - - unchecked sections_each=.* spread=[0-9.]+$' "$tmp/out"
}

# The options that the plan needs.
test_options() {
	for option in --attempts=0 --attempts=1001 --check=maybe; do
		"$O/bin/tatp_bench" $option >"$tmp/out" 2>&1
		if [ $? -eq 2 ] && grep -q -- "^tatp_bench: $option: must be" "$tmp/out"; then
			ok "$option"
		else
			not_ok "$option" "$(cat "$tmp/out")"
		fi
	done
	"$O/bin/tatp_bench" --check=off --subscribers=10 --operations=10 --json >"$tmp/out"
	has check-off '"check":"off"' "$tmp/out"
}

mkdir -p "$tmp/demo/results" "$tmp/build"
cp -r "$figures" "$tmp/demo/"
# The simulated points of the seeds need the programs, but not the files of the last run.
ln -s "$O/bin" "$O/lib" "$O/libexec" "$tmp/build/"
plan >"$tmp/demo/figures/plan-small"
if command -v gnuplot >/dev/null; then
	test_page
	test_seeds
else
	skip page 'gnuplot is missing'
fi
test_slim
test_options
finish
