#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=15
#
# elide diff, compare and top, and the examples of their manual pages.

. "$(dirname "$0")/common.sh"

# example PAGE COMMAND [FILTER]: what the page prints below the line "$ COMMAND" is what it
# prints, both rewritten by the filter.
example() {
	sed -n "/^\\.Sh EXAMPLES/,/^\\.Sh SEE/p" "$O/man/$1" | sed -n '/^\.Bd/,/^\.Ed/p' |
		awk -v line="\$ $2" '
			/^\.Ed/ { on = 0 }
			on { print }
			$0 == line { on = 1 }' | sed 's/\\e/\\/g; s/^\\&//' >want
	[ -s want ] || { not_ok "example of $1" "there is no line $2"; return; }
	eval "PATH=$O/bin:\$PATH timeout 120 $2" >out 2>err </dev/null
	cat err >>out
	[ $# -lt 3 ] || $3 want out
	same "example of $1" want out
}

"$mkdata" before.data elide
"$mkdata" after.data later
"$mkdata" profiled.data profile
"$mkdata" killed.data killed

# diff
run_elide diff before.data after.data
as_expected diff--table out
run_elide diff --json before.data after.data
as_expected diff--json out
run_elide diff --csv before.data after.data
as_expected diff--csv out
run_elide diff --rate --by lock --sort aborts --top 1 after.data before.data
as_expected diff--by-lock out
run_elide diff before.data profiled.data
as_expected diff--profiled out
run_elide diff before.data before.data
[ $rc -eq 0 ] && [ "$(tail -1 out)" = 'no change beyond the noise (--csv has all numbers)' ] && [ "$(wc -l <out)" -eq 4 ] &&
	ok 'diff: a file and itself' || not_ok 'diff: a file and itself' "exit $rc: $(cat out err)"
"$elide" diff --csv before.data killed.data | tr -d '\r' |
	grep -qx '1,"total","","","","","wait",[0-9.]*,,,' &&
	ok 'diff: what a killed run does not tell' || not_ok 'diff: what a killed run does not tell' ''

# condition RC WORDS CONDITION [FILE FILE]: exit code, and the lines that it says.
insert='subject_index_lock (mutex) at subject_insert subject.c:20'
condition() {
	want_rc=$1 want=$2 of=$3
	run_elide diff --fail-if "$of" "${4:-before.data}" "${5:-after.data}"
	if [ $rc -eq "$want_rc" ] && [ "$(cat err)" = "$want" ]; then
		ok "condition '$of'"
	else
		not_ok "condition '$of'" "exit $rc: $(cat err)"
	fi
}
condition 1 "elide: failed: aborts > +10%: $insert: 1.10k -> 1.50k (+36.4%)" 'aborts > +10%'
condition 0 '' 'aborts > +40%'
condition 1 "elide: failed: aborts>=+400: $insert: 1.10k -> 1.50k (+36.4%)" 'aborts>=+400'
condition 0 '' 'aborts > +400'
condition 1 "elide: failed: row: aborts > 1.4k: $insert: 1.10k -> 1.50k (+36.4%)" 'row: aborts > 1.4k'
condition 1 'elide: failed: total: aborts > +30%: total: 1.20k -> 1.60k (+33.3%)' 'total: aborts > +30%'
condition 0 '' 'total:aborts>+34%'
condition 1 "elide: failed: elided < -20: $insert: 70.0% -> 46.7% (-23.3)" \
	'elided < -20' after.data before.data
condition 0 '' 'elided < -24' after.data before.data
condition 1 "elide: failed: elided < -33%: $insert: 70.0% -> 46.7% (-23.3)" \
	'elided < -33%' after.data before.data
condition 1 'elide: failed: total: elided < 97%: total: 96.1% -> 96.5% (+0.4)' 'total: elided < 97%'
condition 1 "elide: failed: wait > 1ms: $insert: 250us -> 1.25ms (+400.0%)" 'wait > 1ms'
condition 0 '' 'wait > 1.25ms'
condition 1 "elide: failed: wait >= 0.00125s: $insert: 250us -> 1.25ms (+400.0%)" 'wait >= 0.00125s'
condition 1 "elide: failed: conflict > +1: $insert: 750 -> 1.05k (+40.0%)" 'conflict > +1'
new='subject_table+0x20 (mutex) at subject_lookup subject.c:26'
condition 1 "elide: failed: acquired > +200%: $new: 0 -> 500 (from 0)" 'acquired > +200%'
condition 1 "elide: failed: acquired <= -100%: $new: 500 -> 0 (-100.0%)" \
	'acquired <= -100%' after.data before.data
condition 0 '' 'acquired < 10' after.data before.data
condition 1 'elide: failed: elided < 1: B does not tell it' 'elided < 1' before.data profiled.data
condition 1 'elide: failed: wait > 1s: B does not tell it' 'wait > 1s' before.data killed.data
bad="elide: --fail-if="
condition 2 "$bad'abort > 5': there is no column abort, nearest is aborts at position 1" 'abort > 5'
condition 2 "$bad'total: > 5': expected a column at position 8" 'total: > 5'
condition 2 "$bad'aborts = 5': expected one of > >= < <= at position 8" 'aborts = 5'
condition 2 "$bad'aborts >> 5': expected a number at position 9" 'aborts >> 5'
condition 2 "$bad'aborts > 0x5': expected a number at position 10" 'aborts > 0x5'
condition 2 "$bad'aborts > inf': expected a number at position 10" 'aborts > inf'
condition 2 "$bad'wait > 5': expected one of ns us ms s at position 9" 'wait > 5'
condition 2 "$bad'wait > 5k': expected one of ns us ms s at position 9" 'wait > 5k'
condition 2 "$bad'aborts > 5ms': expected the end at position 11" 'aborts > 5ms'
condition 2 "$bad'': expected a column at position 1" ''
run_elide diff --fail-if 'aborts > +10%' --fail-if 'wait > 1ms' --json before.data after.data
[ $rc -eq 1 ] && [ "$(wc -l <err)" -eq 2 ] && ok 'several conditions' ||
	not_ok 'several conditions' "exit $rc: $(cat err)"
expect 'diff: one file' 2 '' 'elide: diff: needs two data files, one before and one after' \
	diff before.data
expect 'diff: no such file' 2 '' 'elide: no.data: No such file or directory' diff before.data no.data
expect 'diff: unknown column' 2 '' 'elide: --sort=abots is no column, nearest is aborts' \
	diff --sort abots before.data after.data
example elide-diff.1 "elide diff --fail-if 'aborts > +10%' before.data after.data"

# top
run_elide top --batch -i before.data
as_expected top--batch out
run_elide top --batch --totals --by lock --sort wasted -i after.data
as_expected top--totals out
run_elide top --batch -i profiled.data --top 2 --width 60
as_expected top--profiled out
run_elide top --batch -i killed.data
as_expected top--killed out
# The file that top looks at becomes another as soon as the first look is printed.
next_look() {
	tries=400
	while [ ! -s out ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.05; done
	mv server.next server.data
}
cp before.data server.data
cp after.data server.next
: >out
next_look &
example elide-top.1 'elide top -b --count 2 --interval 2 --sort acquired --width 80 -i server.data'
wait
# Another process's file: since its start, not since the other.
cp after.data server.data
"$mkdata" server.next elide 0 4243
: >out
next_look &
run_elide top -b --count 2 --interval 2 -i server.data
[ "$(sed -n '9,$p' out | grep -c '^per second of the last 3.00s')" -eq 1 ] &&
	ok 'top: a new process in the place of the old' ||
	not_ok 'top: a new process in the place of the old' "$(cat out err)"
wait
expect 'top: not a process id' 2 '' 'elide: top: 12x is not a process id' top 12x
expect 'top: no such process' 2 '' "elide: top: process $$ is running without elide's library: not started by elide run, or LD_PRELOAD was removed or replaced (env -i, sudo, a container); use elide attach PID, or elide run where it is started" top $$
expect 'top: two processes' 2 '' 'elide: top: takes one process id, or a file' top 1 2
expect 'top: no such file' 2 '' 'elide: top: no.data: No such file or directory' top -b -i no.data
expect 'top: unknown column' 2 '' 'elide: --sort=wiat is no column, nearest is wait' top --sort wiat
expect 'top: interval' 2 '' 'elide: --interval=0: not a number from 0.05 to 3600' top --interval 0
expect 'top: no terminal' 2 '' \
	'elide: top: input and output are not a terminal: elide top --batch prints text' top -i before.data
if command -v python3 >/dev/null; then
	timeout 120 python3 "$here/top.py" "$elide" before.data "$O/tests/tools/looper" \
		"$O/lib/libelide-preload.so" >out 2>err || { [ -s err ] && not_ok 'top.py' "$(tail -1 err)"; }
	cat out
	nr=$((nr + $(grep -c '^ok \|^not ok ' out)))
	failed=$((failed + $(grep -c '^not ok ' out)))
	skipped=$((skipped + $(grep -c '^skip ' out)))
else
	skip 'top on a terminal' 'python3 is not installed'
fi

# compare
sections=$O/tests/tools/sections
expect 'compare without a program' 2 '' \
	'elide: no program given: elide compare [OPTION...] -- PROGRAM [ARGUMENT...]' compare
expect 'compare: not found' 2 '' 'elide: nosuch-program: not found' compare nosuch-program
expect 'compare: no pairs' 2 '' 'elide: --runs=0: not a number from 1 to 10000' compare -n 0 true
expect 'compare: output' 2 '' 'elide: --output=firts: nearest is first' compare --output firts true
expect 'compare: setting of the emulator' 2 '' \
	'elide: --cores is a setting of the emulated machine: it needs --emulate' compare --cores 3 true
while IFS='|' read -r text message; do
	expect "compare: condition '$text'" 2 '' "elide: --fail-if='$text': $message" \
		compare --fail-if "$text" true
done <<'EOF'
slow > 2%|there is no column slow, nearest is slower at position 1
slower = 2%|expected one of > >= < <= at position 8
slower > +2%|expected a number without a sign at position 10
slower > 2ms|expected the end at position 11
total: cpu > 1|expected a column at position 1
EOF

# left COMMAND: the processes that compare has left behind. They sleep for a time of this
# script's own: others of the kind may run on this machine.
left() { ps -eo args | grep -xF "$1"; }
nap=$((100000 + $$))
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR
if [ ! -e "$O/lib/libelide-preload.so" ]; then
	skip 'compare' 'there is no preload library'
else
	run_elide compare -n 3 --output=all "$sections" 2 10 10
	[ $rc -eq 0 ] && [ "$(grep -cx 20 out)" -eq 8 ] && ok 'compare: output of all runs' ||
		not_ok 'compare: output of all runs' "exit $rc: $(cat out err)"
	run_elide compare -n 3 --output=first "$sections" 2 10 10
	[ $rc -eq 0 ] && [ "$(grep -cx 20 out)" -eq 1 ] && ok 'compare: output of the first' ||
		not_ok 'compare: output of the first' "exit $rc: $(cat out err)"
	echo word >input
	timeout 60 "$elide" compare -n 2 --output=all cat <input >out 2>err
	[ "$(grep -cx word out)" -eq 6 ] && ok 'compare: each run has the input' ||
		not_ok 'compare: each run has the input' "$(cat out err)"
	run_elide compare -n 2 "$sections" 2 10 10 elided
	[ $rc -eq 1 ] && [ "$(grep -c 'plain 0, elided 3: they did not do the same' out)" -eq 2 ] &&
		[ "$(cat err)" = 'elide: failed: the program has another exit status when it is elided' ] &&
		ok 'compare: other exit codes' || not_ok 'compare: other exit codes' "exit $rc: $(cat out err)"
	run_elide compare -n 2 "$sections" 2 10 10 5
	[ $rc -eq 1 ] && grep -qx 'exit code of pair 2: plain 5, elided 5' out &&
		[ "$(cat err)" = 'elide: failed: the program failed in 2 of 2 pairs' ] &&
		ok 'compare: a program that fails' || not_ok 'compare: a program that fails' "exit $rc: $(cat out err)"
	if ! grep -qw rtm /proc/cpuinfo; then
		run_elide compare -n 2 "$sections" 2 10 10
		[ $rc -eq 0 ] && grep -q '^what is compared is the overhead of profiling' out &&
			ok 'compare: no RTM' || not_ok 'compare: no RTM' "exit $rc: $(cat out err)"
	fi
	run_elide compare -n 1 --fail-if undecided "$sections" 2 10 10
	[ $rc -eq 1 ] && [ "$(cat err)" = 'elide: failed: undecided' ] && grep -q 'one pair has no interval' out &&
		ok 'compare: one pair' || not_ok 'compare: one pair' "exit $rc: $(cat out err)"
	run_elide compare -n 2 sh -c "sleep $nap & exit 0"
	[ $rc -eq 0 ] && [ -z "$(left "sleep $nap")" ] && ok 'compare: what a run leaves running is ended' ||
		not_ok 'compare: what a run leaves running is ended' "exit $rc: $(left "sleep $nap")"
	for sig in TERM:143 INT:130 HUP:129; do
		rm -f ready
		setsid -w timeout 100 env --default-signal "$elide" compare -n 9 sh -c \
			"echo \$PPID >ready.new; mv ready.new ready; sleep $nap; :" >out 2>err &
		pid=$!
		i=0
		while [ ! -s ready ] && [ $i -lt 1000 ]; do sleep 0.05; i=$((i + 1)); done
		kill -"${sig%:*}" "$(cat ready)"
		wait $pid
		rc=$?
		[ $rc -eq "${sig#*:}" ] && [ ! -s out ] && [ -z "$(left "sleep $nap")" ] &&
			ok "compare: ended by SIG${sig%:*}" ||
			not_ok "compare: ended by SIG${sig%:*}" "exit $rc: $(left "sleep $nap"; cat out err)"
	done
	[ -z "$(ls tmp)" ] && ok 'compare leaves no files' || not_ok 'compare leaves no files' "$(ls tmp)"
fi

# Compare, emulated: without the figures, but for their signs and units, or each change of the
# library would be one here.
unfigured() { sed -i 's/[0-9][0-9.]*/N/g; s/   *\([-+N]\)/  \1/g' "$@"; }
why=$(lacks emulator)
if [ -n "$why" ]; then
	skip 'compare emulated' "$why"
else
	ln -s "$sections" sections
	example elide-compare.1 'elide compare -n 3 --emulate --cores=4 -- ./sections 4 200 14000' unfigured
	# What does not hold, alone, and then with what does: each of these is said, and nothing else.
	# Two pairs of processor times that differ by 4 % give an interval of 90 points.
	set -- --fail-if hurts --fail-if neutral --fail-if undecided --fail-if 'faster > 80' \
		--fail-if 'slower > 2%' --fail-if 'cpu > 100%'
	run_elide compare -n 3 --emulate --cores=4 "$@" ./sections 4 50 14000
	[ $rc -eq 0 ] && [ ! -s err ] && ok 'compare --fail-if: what does not hold' ||
		not_ok 'compare --fail-if: what does not hold' "exit $rc: $(cat out err)"
	run_elide compare -n 3 --emulate --cores=4 --fail-if pays --fail-if 'faster > 25' "$@" \
		--fail-if 'slower < 1' --fail-if 'cpu < 100%' ./sections 4 50 14000
	printf 'elide: failed: %s\n' pays 'faster > 25' 'slower < 1' 'cpu < 100%' >want
	[ $rc -eq 1 ] && same 'compare --fail-if: what holds' want err ||
		not_ok 'compare --fail-if: what holds' "exit $rc: $(cat out err)"
	# Sections longer than the time between two interrupts: elision costs. Now and then a run
	# takes a tenth more than the others, which two pairs cannot tell from chance.
	run_elide compare -n 3 --emulate --cores=4 --policy=fixed:other=5 \
		--fail-if hurts ./sections 2 4 5000000
	[ $rc -eq 1 ] && grep -q '^hurts: with elision it takes .* more time' out &&
		ok 'compare: it hurts' || not_ok 'compare: it hurts' "exit $rc: $(cat out err)"
	for i in 7.1 7.2 8; do
		timeout 60 "$elide" compare -n 3 --emulate --cores=4 --seed ${i%.*} --json \
			./sections 4 20 5000 >json.$i
	done
	same 'compare: the same seed, the same times' json.7.1 json.7.2
	grep elapsed_s json.7.1 >times.7
	grep elapsed_s json.8 >times.8
	cmp -s times.7 times.8 && not_ok 'compare: another seed' 'the same times' ||
		ok 'compare: another seed'
	! command -v python3 >/dev/null && skip 'compare: JSON' 'python3 is not installed' ||
		{ python3 -c '
import json, math
d = json.load(open("json.7.1"))
assert d["schema"] == 1 and d["emulated"] and d["seed"] == 7 and d["compares"] == "elision"
assert d["verdict"] == "pays" and d["more_pairs"] == 0 and not d["exits_differ"] and len(d["pairs"]) == 3
r = [math.log(p["elided"]["elapsed_s"] / p["plain"]["elapsed_s"]) for p in d["pairs"]]
m = sum(r) / 3
half = 4.30265273 * math.sqrt(sum((x - m) ** 2 for x in r) / 2 / 3)
for name, want in ("change", m), ("low", m - half), ("high", m + half):
    assert abs(d["elapsed"][name + "_percent"] - 100 * math.expm1(want)) < 1e-3, (name, want)
assert d["elision"]["acquired"] == 80 and d["elision"]["mode"] == "elide"' 2>why &&
		ok 'compare: JSON' || not_ok 'compare: JSON' "$(tail -1 why)"; }
fi
unset TMPDIR

# C++: the call is in the function that names the guard, not in <mutex>, though inlined
# into a lambda, which lies inside of main() but is none of its code
run_elide run -q --mode=profile -o lambda.data -- "$O/tests/tools/lambda"
"$elide" report --csv lambda.data | tr -d '\r' |
	sed -n 's/^2,[0-9]*,"\(shelf\)".*::\([a-z]*\)(.*","\(main::{.*const\)",".*\(lambda.cc\)",\([0-9]*\),1,\([0-9]*\),.*/\1 \2 \3 \4:\5 \6/p' >out
cat >want <<'END'
shelf put main::{lambda()#1}::operator()() const lambda.cc:18 100
shelf look main::{lambda()#1}::operator()() const lambda.cc:24 50
END
same 'call site of C++' want out
run_elide report --width=200 lambda.data
grep -q '^shelf mutex Shelf::put in main::{lambda()#1} *100 ' out &&
	ok 'names of C++ in the table' || not_ok 'names of C++ in the table' "$(cat out)"

"$elide" report --html - lambda.data >page
grep -q '<code title="stock::Shelf&lt;std::[^"]*allocator[^"]*::put([^"]*">stock::Shelf&lt;std::string&gt;::put(std::string const&amp;)</code>' page &&
	ok 'names of C++ on the page' || not_ok 'names of C++ on the page' "$(grep -c Shelf page) lines"

# Locks of an array are one class; without symbols those beyond the first sixteen are.
# arrays NAME PROGRAM <WANT: LOCK KIND LOCKS
# ACQUIRED of its classes.
arrays() {
	cat >want
	command -v python3 >/dev/null || { skip "$1" 'python3 is not installed'; return; }
	run_elide run -q --mode=profile -o array.data -- "$O/tests/tools/$2"
	"$elide" report --by lock --json array.data | python3 -c '
import json, sys
report = json.load(sys.stdin)
for row in report["rows"]:
    print(row["lock"], row["kind"], row["locks"], row["acquired"])
print(sum(report["dropped"].values()), "dropped")' | sed 's/+0x[0-9a-f]* /+N /' | sort | uniq -c |
		sed 's/^ *//' | LC_ALL=C sort >out
	same "$1" want out
}
arrays 'an array of locks' array <<'END'
1 0 dropped
1 buckets[] mutex 1000 12000
1 single_lock mutex 1 200
1 spins[] spin 100 200
2 server+N mutex 1 200
END
arrays 'an array of locks without symbols' array-stripped <<'END'
1 0 dropped
1 made in array-stripped+N spin 84 168
1 used in array-stripped+N mutex 984 11808
16 array-stripped+N mutex 1 12
16 array-stripped+N spin 1 2
3 array-stripped+N mutex 1 200
END

# A lock is named after the caller of the function that wraps its initialisation.
# wrapped NAME WRAPPERS <WANT: what each class is named after.
wrapped() {
	cat >want
	run_elide run -q --mode=profile --set WRAPPERS="$2" -o wrapped.data -- "$O/tests/tools/wrapped"
	"$elide" report --by lock --csv wrapped.data | tr -d '\r' |
		sed -n 's/^2,[0-9]*,"made in \([a-z_]*\)[ "].*/\1/p' | sort >out
	same "$1" want out
}
wrapped 'wrappers are found' auto <<'END'
guard_make
make_queue
tree_mutex_make
END
wrapped 'wrappers are named' 'auto,guard_*' <<'END'
make_queue
make_table
tree_mutex_make
END
# And a call in a wrapper after the caller that waits. Whether it finds the lock held is up to the
# scheduler, which has 20 ms for it.
run_elide report --width=200 wrapped.data
if grep -q ' bottleneck\| contended' out; then
	grep -q '^make_queue.* pop via mutex_acquire .* contend via mutex_acquire ' out &&
		grep -q '^ *called   pop (wrapped.c:[0-9]*) ~100%$' out &&
		ok 'the caller of a wrapper' || not_ok 'the caller of a wrapper' "$(cat out)"
else
	skip 'the caller of a wrapper' 'the thread did not get a processor in 20 ms'
fi
# Where none waits, after the caller of most acquisitions: 7 of 8. The samples stand for all but the last
# acquisitions, at most a fifth. A call in no wrapper has no samples.
cat >want <<'END'
make_table ["look_up","insert"] true
tree_mutex_make [] false
END
"$elide" report --json wrapped.data | jq -r '.rows[] | select(.lock | test("make_queue") | not) | [.stacks[] |
	select(.type == "acquire").count] as $counts | (.lock | split(" ")[2]) +
	" \([.callers[].symbol] | tojson) \(($counts | add) > 0.8 * .acquired)"' | sort >json
grep -q '^make_table.* look_up via mutex_acquire ' out && cmp -s want json && ok 'the caller where none waits' ||
	not_ok 'the caller where none waits' "$(cat out json)"
wrapped 'wrappers are switched off' no <<'END'
mutex_create
tree_mutex_make
END
# Also where the caller is found without a walk of the stack: name, and number of locks.
cat >want <<'END'
make_beside 100
make_nested 100
make_plain 100
END
run_elide run -q --mode=profile -o wrapped.data -- "$O/tests/tools/wrapped" many
"$elide" report --by lock --csv wrapped.data | tr -d '\r' | awk -F , '
	split($3, word, " ") && word[1] == "\"made" { locks[word[3]] += $11 }
	END { for (name in locks) print name, locks[name] }' | sort >out
same 'many locks by wrappers' want out

# With ELIDE_STACKS=0 the view says so; that is not the same as no evidence
why=$(lacks emulator plain)
if [ -z "$why" ]; then
	run_elide run -q --emulate --stacks=0 -o quiet.data -- "$O/tests/tools/lambda"
	run_elide report --by=line quiet.data
	grep -qx 'no conflict was seen with its line: there was none, or ELIDE_STACKS is 0' out &&
		ok 'no lines, emulated' || not_ok 'no lines, emulated' "$(cat out err)"
else
	skip 'no lines, emulated' "$why"
fi

strip -o bare "$O/tests/tools/lambda"
run_elide run -q --mode=profile -o bare.data -- ./bare
"$elide" report --suggest bare.data | grep -v '^build-id' >out
cat >want <<'END'
# Settings for elide run --conf, from what was measured.
# No rule for rows that gain nothing: 1 (no symbols, or it would hit others).
END
same '--suggest without symbols' want out

# Manual pages: every long option of --help is in the page, and no page has one more
for command in diff compare merge top; do
	"$elide" $command --help | grep -o -- '--[a-z][a-z-]*' | sort -u >in-help
	grep '^\.It Fl' "$O/man/elide-$command.1" | grep -o ' -[a-z][a-z-]*' | sed 's/ -/--/' |
		sort -u >in-page
	same "manual page of $command has its options" in-help in-page
done

finish
