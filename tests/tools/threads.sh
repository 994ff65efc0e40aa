#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads, waits over time, and one report for all processes, of real runs.

. "$(dirname "$0")/common.sh"
named=$O/tests/tools/named

if [ ! -e "$O/lib/libelide-preload.so" ] || ! command -v python3 >/dev/null; then
	skip threads 'there is no preload library, or no python3'
	finish
fi

# check NAME CODE FILE...: python statements that must hold of the JSON of the files, f[0] and so on.
check() {
	name=$1 code=$2
	shift 2
	python3 -c 'import json, sys
f = [json.load(open(name)) for name in sys.argv[2:]]
exec(sys.argv[1])' "$code" "$@" 2>why && ok "$name" || not_ok "$name" "$(tail -1 why; cat "$1" | head -c 2000)"
}

"$elide" run -q --mode=profile -o one.data -- "$named" || not_ok 'a run' "exit $?"
"$elide" report --by thread --json one.data >threads.json
"$elide" report --by time --json one.data >time.json
"$elide" report --json one.data >rows.json
check 'threads by name, exactly' '
t = {x["name"]: x for x in f[0]["threads"]}
assert set(t) == {"holder", "waiter", "short", "first"}, t
assert (t["short"]["threads"], t["short"]["acquired"]) == (50, 150), t
assert (t["holder"]["acquired"], t["waiter"]["acquired"], t["first"]["acquired"]) == (20, 20, 3), t
assert t["first"]["tid"] == f[0]["program"]["pid"] and t["short"]["tid"] is None
assert sum(x["acquired"] for x in f[0]["threads"]) == f[1]["totals"]["acquired"]
assert sum(x["contended"] for x in f[0]["threads"]) == f[1]["totals"]["contended"]
waited = f[1]["totals"]["wait_ns"]["total"] or 0
assert abs(sum(x["wait_ns"] for x in f[0]["threads"]) - waited) <= 1000
' threads.json rows.json
check 'who held' '
t = {x["name"]: x for x in f[0]["threads"]}
assert t["holder"]["hold_ns"] > t["waiter"]["hold_ns"] + 1000000, t
' threads.json
# The waiter finds the lock held unless it gets no processor in 40 ms.
check 'waits over time are the waits' '
rows = {x["lock"]: x for x in f[1]["rows"] if x["site"]["symbol"] == "take"}
waited = sum(x["wait_ns"]["total"] or 0 for x in rows.values())
lanes = {x["lock"]: x for x in (f[0]["activity"] or {"locks": []})["locks"]}
if waited > 1000000:
    lane = lanes["slow_lock"]
    sum_ns = sum(lane["waiting"]) * f[0]["activity"]["step_s"] * 1e9
    all_ns = sum(x["wait_ns"]["total"] or 0 for x in f[1]["rows"] if x["lock"] == "slow_lock")
    assert 0.5 * all_ns < sum_ns < 1.01 * all_ns, (sum_ns, all_ns)
    assert max(lane["held"]) <= 3, lane
' time.json rows.json

# Waiting for locks is the same in each of them, and so is waiting for others.
"$elide" run -q --mode=profile -o parking.data -- "$O/tests/truth/wait" parking >out || not_ok 'a run' "exit $?"
"$elide" report --json parking.data >rows.json
"$elide" report --by thread --json parking.data >threads.json
"$elide" report --html page.html parking.data
for what in wait others; do "$elide" report --folded=$what parking.data | awk '{ n += $NF } END { print n + 0 }'; done >folded
check 'one meaning of waiting' '
def of(what): return [r for r in f[0]["rows"] if r["waits_for"] == what]
def total(rows): return sum(r["wait_ns"]["total"] or 0 for r in rows)
totals = f[0]["totals"]
assert {r["kind"] for r in of("locks")} == {"mutex", "reacquire"} and {r["kind"] for r in of("others")} == {"cond"}
assert 0 < total(r for r in of("locks") if r["kind"] == "reacquire"), f[0]
assert abs(total(of("locks")) - totals["wait_ns"]["total"]) < 10, totals
assert abs(total(of("others")) - totals["wait_others_ns"]) < 10, totals
assert abs(sum(t["wait_ns"] for t in f[1]["threads"]) - totals["wait_ns"]["total"]) < 1000, f[1]["threads"]
# Of the folded stacks, those of rows with samples.
locks, others = (int(line) for line in open("folded"))
assert 0 < locks <= totals["wait_ns"]["total"] + 10 and 0 < others <= totals["wait_others_ns"] + 10, (locks, others)
page = open("page.html").read()
def shown(name): return page.split("<dt>waiting for %s</dt><dd>" % name)[1].split("<")[0]
assert page.count("<h3>Waiting for locks") == page.count("<h3>Waiting for others") == 1
assert shown("locks").endswith("s") and shown("others").endswith("s")
' rows.json threads.json

"$elide" run -q --mode=profile --stacks=0 -o quiet.data -- "$named"
run_elide report --by time quiet.data
grep -q '^no wait and no hold was sampled with its time' out && ok 'no samples with ELIDE_STACKS=0' ||
	not_ok 'no samples with ELIDE_STACKS=0' "$(cat out)"

"$elide" run -q --mode=profile -o all.data -- "$named" 3
"$elide" report --merge --json all.data >merged.json
"$elide" report --json all.data >each.json
"$elide" report --merge --by thread --json all.data >threads.json
check 'all processes in one report' '
assert f[0]["program"]["processes"] == 3 == len(f[1]["processes"])
assert f[0]["totals"]["acquired"] == 3 * 190 + 3, f[0]["totals"]["acquired"]
rows = {}
for p in f[1]["processes"]:
    for r in p["rows"]:
        key = (r["class"], r["kind"], json.dumps(r["site"]))
        rows.setdefault(key, [0, 0])
        rows[key][0] += r["acquired"]
        rows[key][1] += r["contended"]
for r in f[0]["rows"]:
    assert rows.pop((r["class"], r["kind"], json.dumps(r["site"]))) == [r["acquired"], r["contended"]]
assert not rows
t = [x for x in f[2]["threads"] if x["name"] == "short"]
assert len(t) == 1 and t[0]["threads"] == 150 and t[0]["acquired"] == 450, t
' merged.json each.json threads.json
run_elide report all.data
[ $rc -eq 0 ] && [ "$(grep -c '^   pid ' out)" -eq 3 ] && ok 'a line for each process' ||
	not_ok 'a line for each process' "$(cat out err)"

# Files of earlier runs: those of the last run stay beside it, those before it go.
mkdir stale && cd stale || exit 1
for i in 1 2 3; do "$elide" run -q --mode=profile -o x.data -- "$named" 2; done
[ "$(ls | grep -c '^x\.data\.[0-9]*$')" -le 2 ] && [ -e x.data.old ] &&
	ok 'files of earlier runs do not pile up' || not_ok 'files of earlier runs do not pile up' "$(ls)"
"$elide" report x.data >../out 2>../err
[ "$(grep -c 'data files* of other runs' ../err)" -eq 1 ] && grep -q '(2 processes' ../out &&
	ok 'files of other runs are told, and left out' ||
	not_ok 'files of other runs are told, and left out' "$(cat ../out ../err)"
cd .. || exit 1

finish
