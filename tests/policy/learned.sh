#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check: seconds=20
#
# ELIDE_LEARNED in emulated runs, whose virtual time the same seed repeats exactly: a second
# process begins with what the first has learnt, wherever its objects lie; a file that cannot be
# used is one line on standard error.

. "$(dirname "$0")/../script.sh"
bin=$O/tests/policy
cd "$tmp" || exit 1
unset ELIDE_LEARNED

# emulate FILE DATA PROGRAM [ARGUMENT...]: $options are more of elide run. Its standard output and
# error are in out and err.
emulate() {
	local file=$1 data=$2
	shift 2
	rm -f "$data"* counters
	# shellcheck disable=SC2086 # options
	timeout 100 "$O/bin/elide" run -q --emulate --cores=4 --counters=counters \
		${options:-} ${file:+--learned="$file"} -o "$data" -- "$@" >out 2>err
}

# The load that is learnt of: a quarter of the sections make a system call, so locking is the best arm.
log() {
	emulate "$1" "$2" "$bin/load" log --every=4 --work=30 --think=40 --threads=4 --ms="${ms:-20}"
}
# Sections that conflict: what is best for them is settled in the first 3 ms.
conflict() { emulate "$1" "$2" "$bin/load" shared --span=2 --lines=2 --threads=4 --ms=3; }
# Two nested locks of eight, where eliding is the best arm.
nested() { emulate "$1" "$2" "$bin/load" nested --locks=8 --think=20 --threads=4 --ms="${ms:-5}"; }

# field EXPRESSION DATA: of the report, as d
field() {
	"$O/bin/elide" report --no-children --json "$2" 2>&1 |
		python3 -c "import json, sys; d = json.load(sys.stdin); print($1)" 2>&1 | tail -n 1
}

decisions='sum(e["event"] in ("chose", "paused", "resumed") for e in d["timeline"])'
sections() { sed -n 's/^sections=\([0-9]*\) .*/\1/p' out; }

# is NAME WANTED GOT
is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "expected '$2', got '$3'; $(head -n 1 err)"; fi
}

# Runs of 2 ms, with the file and without: mostly too short for a challenge of what is learnt, long enough to try
# arms where nothing is. Of five seeds each, and most of them begin with what pays.
test_second_run() {
	local seed first=0 second=0 tried=0 less=0 again attempts
	for seed in 1 2 4 5 3; do
		options=--seed=$seed log "file.$seed" first.data || not_ok first_run "exit $?: $(tail -n 1 err)"
		cp "file.$seed" "kept.$seed"
		options=--seed=$seed ms=2 log '' without.data || not_ok first_run "exit $?: $(tail -n 1 err)"
		first=$((first + $(sections))) tried=$((tried + $(field 'd["totals"]["attempts"]' without.data)))
		options=--seed=$seed ms=2 log "file.$seed" second.data || not_ok second_run "exit $?: $(tail -n 1 err)"
		attempts=$(field 'd["totals"]["attempts"]' second.data)
		second=$((second + $(sections))) less=$((less + (attempts == 0)))
	done
	is first_run_has_none 'new 0 0' "$(field '"%(state)s %(classes)d %(sites)d" % d["learned"]' first.data)"
	is private 600 "$(stat -c %a file.3)"
	[ "$(stat -c %s file.3)" -le 1048576 ] && ok small || not_ok small "$(stat -c %s file.3) bytes"
	is second_run_begins_with_it 'used 1 0' \
		"$(field '"%(state)s %(classes)d %(sites)d" % d["learned"]' second.data)"
	[ "$second" -gt "$first" ] && ok more_sections || not_ok more_sections "first $first, second $second"
	[ "$less" -ge 3 ] && [ "$tried" -gt 0 ] && ok locked_from_the_start ||
		not_ok locked_from_the_start "$tried attempts without the file; $less of 5 runs with it made none"
	"$O/bin/elide" report second.data |
		grep -qx "learned: 1 lock class and 0 call sites from $tmp/file.3" &&
		ok report || not_ok report "$("$O/bin/elide" report second.data | sed -n 3p)"
	again=$(awk '$1 == "time.elapsed_ns" { print $2 }' counters)
	cp kept.3 file.3
	options=--seed=3 ms=2 log file.3 second.data
	is repeatable "$again" "$(awk '$1 == "time.elapsed_ns" { print $2 }' counters)"
	mv kept.3 kept
}

# Each section makes a system call: the second process knows that the site cannot be elided.
test_unelidable_site() {
	local run first
	for run in first second; do
		emulate sites $run.data "$bin/load" call --every=1 --threads=4 --ms=10 || not_ok $run "exit $?: $(tail -n 1 err)"
	done
	is site_is_known 'used 1 1' "$(field '"%(state)s %(classes)d %(sites)d" % d["learned"]' second.data)"
	first=$(field 'd["totals"]["attempts"]' first.data)
	[ "$(field 'd["totals"]["attempts"]' second.data)" -lt "$first" ] && ok fewer_probes ||
		not_ok fewer_probes "$first, then $(field 'd["totals"]["attempts"]' second.data)"
}

# What the first run has found out need not be found out again.
test_challenges() {
	local decided
	conflict settled first.data || not_ok challenges "exit $?: $(tail -n 1 err)"
	decided=$(field "$decisions" first.data)
	conflict settled second.data
	[ "${decided:-0}" -ge 2 ] && [ "$(field "$decisions" second.data)" -lt "$decided" ] && ok fewer_challenges ||
		not_ok fewer_challenges "first $decided, second $(field "$decisions" second.data)"
}

# Shorter than the time to the next challenge: it passes over several processes. All together they
# have fewer than the first run had, and each alone without the file would have more than half.
test_short_runs() {
	local decided=0 first
	nested short short.data || not_ok short_runs "exit $?: $(tail -n 1 err)"
	first=$(field "$decisions" short.data)
	for _ in 1 2 3 4; do
		ms=3 nested short short.data
		decided=$((decided + $(field "$decisions" short.data)))
	done
	[ "$decided" -ge 1 ] && [ "$decided" -lt "${first:-0}" ] && ok short_runs_go_on_judging ||
		not_ok short_runs_go_on_judging "$decided decisions in 12 ms, $first in the 5 ms before"
}

# plugin_aborts FILE [ARGUMENT...]: the median of the aborts in five runs, each with a file of its
# own. What is left in the second ones are probes, and in few of them a challenge, which aborts often.
plugin_aborts() {
	local file=$1 seed
	shift
	for seed in 1 2 3 4 5; do
		options=--seed=$seed emulate "$file.$seed" plugin.data "$bin/plugin" "$bin/plugin-lib.so" "$@"
		field 'd["totals"]["aborts"]' plugin.data
	done | sort -n | sed -n 3p
}

# An object that is loaded later, and lies elsewhere; in a child, too.
test_plugin() {
	local where aborts less
	aborts=$(plugin_aborts plugin)
	where=$(cat out)
	[ "$aborts" -ge 6 ] && ok plugin_aborts || not_ok plugin_aborts "$aborts"
	less=$(plugin_aborts plugin shift)
	[ "$where" != "$(cat out)" ] && ok plugin_moves || not_ok plugin_moves "$where twice"
	is plugin_is_known 'used 1 1' \
		"$(field '"%(state)s %(classes)d %(sites)d" % d["learned"]' plugin.data)"
	[ $((less * 4)) -le $((aborts * 3)) ] && ok plugin_aborts_less ||
		not_ok plugin_aborts_less "$aborts, then $less"
	emulate child child.data "$bin/plugin" "$bin/plugin-lib.so" fork
	[ -s child ] && ok child_writes || not_ok child_writes "$(cat err)"
	emulate child child.data "$bin/plugin" "$bin/plugin-lib.so" fork
	is child_begins_with_it 'used 1 1' \
		"$(field '"%(state)s %(classes)d %(sites)d" % d["learned"]' child.data*)"
	options='--set FOLLOW=0' emulate alone alone.data "$bin/plugin" "$bin/plugin-lib.so" fork
	[ ! -e alone ] && ok no_follow || not_ok no_follow 'a child that is not followed has written it'
	emulate name-%p-%e pattern.data "$bin/plugin" "$bin/plugin-lib.so" fork
	[ "$(ls name-*-plugin | wc -l)" = 1 ] && ok child_has_its_name || not_ok child_has_its_name "$(ls)"
}

# refused NAME STATE TEXT: ms=1 log with the file "bad" prints one line, and does not use it.
refused() {
	ms=1 log bad bad.data || not_ok "$1" "exit $?: $(tail -n 1 err)"
	is "${1}_line" "elide: $tmp/bad $3" "$(cat err)"
	is "${1}_state" "$2 0" "$(field '"%(state)s %(classes)d" % d["learned"]' bad.data)"
}

test_refused() {
	head -c 700 kept >bad
	refused damaged damaged 'is damaged'
	echo 'a text of mine, which nothing may replace' >bad
	refused foreign foreign 'is not a file of what was learnt: left alone'
	grep -q 'of mine' bad && ok foreign_stays || not_ok foreign_stays 'it was replaced'
	rm bad
	ln -s kept bad
	refused link foreign 'is not a file of what was learnt: left alone'
	[ -L bad ] && ok link_stays || not_ok link_stays 'it was replaced'
	rm bad
	cp kept bad
	options='--set SEED=2 --cores=8' refused machine machine 'was learnt on another machine'
	# Another build of the program.
	cp "$bin/load" load
	emulate other other.data ./load write --lines=700 --think=1000 --threads=4 --ms=5
	objcopy --remove-section .comment --update-section .note.gnu.build-id=<(
		objcopy -O binary --only-section=.note.gnu.build-id load /dev/stdout | head -c 16
		printf 'another build\0\0\0\0\0\0\0') load 2>/dev/null || printf '' >load.failed
	if [ -e load.failed ]; then
		skip build 'objcopy cannot change the build-id here'
		return
	fi
	emulate other other.data ./load write --lines=700 --think=1000 --threads=4 --ms=1
	is build_line "elide: $tmp/other was learnt from another build of an object: $tmp/load" "$(cat err)"
	is build_state 'build 0' "$(field '"%(state)s %(classes)d" % d["learned"]' other.data)"
}

# A policy that does not learn leaves the file as it is, and the report says so.
test_idle() {
	cp kept idle
	options=--policy=fixed ms=1 log idle idle.data
	is idle_state 'idle 0' "$(field '"%(state)s %(classes)d" % d["learned"]' idle.data)"
	cmp -s kept idle && ok idle_stays || not_ok idle_stays 'it was written'
	ms=1 log '' none.data
	is none None "$(field 'd["learned"]' none.data)"
}

needs learned emulator
test_second_run
test_unelidable_site
test_challenges
test_short_runs
test_plugin
test_refused
test_idle
finish
