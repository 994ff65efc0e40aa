#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30
#
# report --pprof, --openmetrics and --trace: that the programs these are for take them, and that their
# sums are those of the report. pprof is built from its Go module and promtool is unpacked from its
# package, both below $O/packages; nothing of the system is touched. Prints a line a test and a count.
set -u

. "$(dirname "$0")/common.sh"
packages=$O/packages
pprof_module=github.com/google/pprof@v0.0.0-20261105003125-4bf881d7fb0b

# get_pprof: to $pprof; false, and why in $reason, if it cannot be had.
get_pprof() {
	pprof=$packages/pprof/pprof
	[ ! -x "$pprof" ] || return 0
	reason='there is no go'
	command -v go >/dev/null || return
	mkdir -p "$packages/pprof"
	reason="$pprof_module cannot be had"
	GOBIN=$packages/pprof GOFLAGS=-buildvcs=false timeout 300 go install "$pprof_module" >go.out 2>&1
}

# run_pprof ARG...: without tools that it would look for, and folders of the user.
run_pprof() { PPROF_TOOLS=/nonexistent PPROF_TMPDIR=$tmp HOME=$tmp timeout 60 "$pprof" "$@" 2>pprof.err; }

# sums FILE: of all samples: contentions, delay, hold, aborts, wasted.
sums() {
	run_pprof -raw "$1" | awk '
		/^Locations/ { exit }
		on && /^ *-?[0-9]+ .*:/ { sub(/:.*/, ""); for (i = 1; i <= 5; i++) sum[i] += $i }
		/^contentions\/count delay\/nanoseconds/ { on = 1 }
		END { printf "%d %d %d %d %d\n", sum[1], sum[2], sum[3], sum[4], sum[5] }'
}

"$mkdata" full.data full
"$mkdata" elide.data elide
"$mkdata" killed.data killed
"$mkdata" other.data elide 77 78
"$elide" report --json full.data >full.json

# pprof
expect 'pprof: unknown view' 2 '' 'elide: --pprof-view=holdr: nearest is holder' \
	report --pprof x --pprof-view holdr full.data
expect 'pprof: a view of what?' 2 '' 'elide: --pprof-view goes with --pprof only' \
	report --pprof-view holder full.data
expect 'pprof: two runs' 2 '' \
	'elide: a profile is of one process, or of several that are merged: see --merge' \
	report --pprof two.pb.gz full.data other.data
[ ! -e two.pb.gz ] && ok 'pprof: no file of two runs' || not_ok 'pprof: no file of two runs' 'it is there'
cp full.data kept.data
expect 'pprof: no profile is replaced' 2 '' \
	'elide: kept.data is there and is no profile of elide report: it is left as it is' \
	report --pprof kept.data full.data
cmp -s full.data kept.data && ok 'pprof: the data is left' || not_ok 'pprof: the data is left' changed
for view in waiter holder all thread; do
	expect "pprof: $view" 0 '' '' report --pprof $view.pb.gz --pprof-view $view full.data
done
"$elide" report --pprof - full.data | cmp -s - waiter.pb.gz && ok 'pprof: to standard output' ||
	not_ok 'pprof: to standard output' 'it differs from the file'
gzip -t waiter.pb.gz 2>gzip.err && ok 'pprof: gzip' || not_ok 'pprof: gzip' "$(cat gzip.err)"
expect 'pprof: a profile is replaced' 0 '' '' report --pprof holder.pb.gz full.data
cmp -s holder.pb.gz waiter.pb.gz && ok 'pprof: the new one' || not_ok 'pprof: the new one' 'it differs'
"$elide" report --pprof holder.pb.gz --pprof-view holder full.data
[ -z "$(ls -A | grep '\.new')" ] && ok 'pprof: nothing is left behind' ||
	not_ok 'pprof: nothing is left behind' "$(ls -A)"

if ! get_pprof; then
	skip 'pprof: opened by pprof' "$reason"
else
	want=$(jq -r '"\(.totals.contended) \(.totals.wait_ns.total)"' full.json)
	wasted=$(jq -r '"\(.totals.aborts) \(.totals.wasted_cycles)"' full.json)
	for view in waiter holder all thread; do
		got=$(sums $view.pb.gz)
		set -- $got
		[ "$1 $2" = "$want" ] && ok "pprof: waits of $view" ||
			not_ok "pprof: waits of $view" "$got, not $want: $(cat pprof.err)"
		[ $view = holder ] || [ "$4 $5" = "$wasted" ] && ok "pprof: aborts of $view" ||
			not_ok "pprof: aborts of $view" "$got, not $wasted"
	done
	run_pprof -top waiter.pb.gz >top
	grep -q '^ *250us 88.03% .* subject_insert$' top && grep -q '^Type: delay$' top &&
		grep -q '^File: mkdata$' top && ok 'pprof: -top' || not_ok 'pprof: -top' "$(cat top pprof.err)"
	id=$(readelf -n "$mkdata" | sed -n 's/.*Build ID: //p')
	run_pprof -raw waiter.pb.gz >raw
	grep -q "^1: .* $mkdata $id \[FN\]\[FL\]\[LN\]\[IN\]$" raw && ok 'pprof: mapping' ||
		not_ok 'pprof: mapping' "$(tail -3 raw)"
	grep -q 'subject_guard tests/tools/subject.c:38' raw && grep -q 'subject_user tests/tools/subject.c:44' raw &&
		ok 'pprof: inlined functions' || not_ok 'pprof: inlined functions' "$(cat raw)"
	# The stack of a sample, and its labels.
	run_pprof -traces -sample_index=aborts waiter.pb.gz >traces
	grep -A4 'lock:  *subject_index_lock' traces | grep -q '916  *subject_insert' &&
		ok 'pprof: -traces' || not_ok 'pprof: -traces' "$(cat traces pprof.err)"
	run_pprof -top -tagfocus=lock=subject_table -sample_index=contentions waiter.pb.gz >focus
	grep -q ', 24 total$\|Total samples = 24 \|of 24 total\|24, ' focus && ok 'pprof: labels' ||
		not_ok 'pprof: labels' "$(cat focus pprof.err)"
	# By who held the lock meanwhile: the calls that the report names as blockers.
	"$elide" run -q --mode=profile --stacks=1 -o named.data "$O/tests/tools/named" >named.out 2>&1
	"$elide" report --pprof named.pb.gz --pprof-view holder named.data
	"$elide" report --pprof waits.pb.gz named.data
	"$elide" report --pprof threads.pb.gz --pprof-view thread named.data
	[ "$(run_pprof -top named.pb.gz | awk '$NF ~ /^[a-z]/ && $1 ~ /ms$/ { print $NF; exit }')" = hold ] &&
		[ "$(run_pprof -top waits.pb.gz | awk '$NF ~ /^[a-z]/ && $1 ~ /ms$/ { print $NF; exit }')" = take ] &&
		ok 'pprof: who held, and who waited' || not_ok 'pprof: who held, and who waited' \
		"$(run_pprof -top named.pb.gz; run_pprof -top waits.pb.gz)"
	run_pprof -tags threads.pb.gz | grep -q '(\(9[0-9.]*\|100\|  100\)%): waiter' && ok 'pprof: threads' ||
		not_ok 'pprof: threads' "$(run_pprof -tags threads.pb.gz)"
	# More rows than are named: the rest is one sample, and is counted.
	run_elide report --pprof few.pb.gz --top 2 full.data
	[ "$(cat err)" = 'elide: 8 of 10 rows are summed up in one sample: see --top' ] &&
		[ "$(sums few.pb.gz | cut -d ' ' -f 1,2,4,5)" = "$want $wasted" ] && ok 'pprof: rows left out' ||
		not_ok 'pprof: rows left out' "$(cat err; sums few.pb.gz)"
fi

echo "$nr tests, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
