#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=30
#
# report --pprof, --openmetrics and --trace: that the programs these are for take them, and that
# their sums are those of the report. pprof is built from its Go module and promtool is unpacked
# from its package, both below $O/packages; nothing of the system is touched.

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

# unpack NAME PACKAGE...: to $packages/NAME; false if they cannot be had.
unpack() (
	root=$packages/$1
	shift
	[ ! -e "$root/.complete" ] || return 0
	mkdir -p "$root.new" && cd "$root.new" || return
	timeout 300 apt-get -q -o APT::Sandbox::User=root download "$@" >"$tmp/download" 2>&1 || return
	for deb in *.deb; do
		dpkg -x "$deb" . || return
	done
	rm -f ./*.deb
	touch .complete
	cd / && rm -rf "$root" && mv "$root.new" "$root"
)

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

clean_up() { umount "$tmp/full" 2>/dev/null; chmod -R u+w "$tmp"; }
"$mkdata" full.data full
"$mkdata" elide.data elide
"$mkdata" profile.data profile
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
	'elide: kept.data exists but is not a profile of elide report: it is left as it is' \
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

# Metrics
for form in prom om; do
	expect "metrics: $form" 0 '' '' report --openmetrics full.$form full.data
	expect "metrics: $form, profiled" 0 '' '' report --openmetrics profile.$form --top 1 profile.data
	expect "metrics: $form of few rows" 0 '' '' report --openmetrics few.$form --top 2 full.data
done
expect 'metrics: two runs' 2 '' \
	'elide: a file of metrics is of one process, or of several that are merged: see --merge' \
	report --openmetrics two.prom full.data other.data
[ ! -e two.prom ] && ok 'metrics: no file of two runs' || not_ok 'metrics: no file of two runs' 'it is there'
expect 'metrics: no other file is replaced' 2 '' \
	'elide: kept.data exists but is not a file of metrics of elide report: it is left as it is' \
	report --openmetrics kept.data full.data
expect 'metrics: no views' 2 '' 'elide: --by=line does not go with --openmetrics' \
	report --openmetrics - --by line full.data

# metric FILE NAME [LABELS]: the sum of the series of a name, in which LABELS occur.
metric() {
	grep -F -- "$2" "$1" | awk -v labels="${3:-}" -v name="$2" '
		!/^#/ && ($1 == name || index($0, name "{") == 1) && index($0, labels) {
			sum += $NF
		}
		END { printf "%.0f\n", sum }'
}
for name in acquisitions:acquired elided_acquisitions:elided fallback_acquisitions:fallback \
	    wasted_cycles:wasted_cycles aborts:aborts contended_acquisitions:contended; do
	want=$(jq ".totals.${name#*:}" full.json)
	for file in full few; do
		got=$(metric $file.prom "elide_${name%:*}_total")
		[ "$got" = "$want" ] && ok "metrics: ${name%:*} of $file" ||
			not_ok "metrics: ${name%:*} of $file" "$got, not $want"
	done
done
[ "$(metric few.prom elide_rows_summed)" = 8 ] &&
	[ "$(grep -c '^elide_acquisitions_total' few.prom)" = 3 ] &&
	[ "$(metric few.prom elide_acquisitions_total 'lock="(other)"')" = 21450 ] &&
	ok 'metrics: the rest is one series' || not_ok 'metrics: the rest is one series' "$(grep other few.prom)"
[ "$(metric full.om elide_wait_seconds_count)" = "$(jq .totals.contended full.json)" ] &&
	[ "$(metric full.om elide_wait_seconds_bucket 'le="+Inf"')" = "$(jq .totals.contended full.json)" ] &&
	ok 'metrics: waits' || not_ok 'metrics: waits' "$(grep wait full.om)"
[ "$(tail -1 full.om)" = '# EOF' ] && ok 'metrics: EOF' || not_ok 'metrics: EOF' "$(tail -1 full.om)"
# Very many rows: bounded, and counted.
"$mkdata" large.data large 1000 100000
"$elide" report --openmetrics large.prom large.data 2>err
[ "$(wc -l <large.prom)" -lt 1500 ] && [ "$(metric large.prom elide_rows_summed)" = 99980 ] &&
	[ "$(metric large.prom elide_acquisitions_total)" = "$("$elide" report --json --top 1 large.data |
		jq .totals.acquired)" ] && ok 'metrics: 100000 sites' ||
	not_ok 'metrics: 100000 sites' "$(wc -l large.prom; grep rows_summed large.prom; cat err)"

# A program whose name needs escaping, kept fresh while it runs.
cat >escape.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	char c;

	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return read(0, &c, 1) < 0;
}
END
hostile='a\"b'
if [ ! -e "$O/lib/libelide-preload.so" ] || ! ${CC:-cc} -g -o "$hostile" escape.c -pthread 2>cc.err; then
	skip 'metrics: kept fresh' "$(head -1 cc.err 2>/dev/null || echo no library)"
else
	mkfifo stop
	"$elide" run -q --mode=profile --metrics run.prom --every 1s -o run.data "./$hostile" <stop >run.out 2>&1 &
	launcher=$!
	exec 3>stop
	tries=600
	until [ -s run.prom ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	grep -qF 'elide_run_info{program="a\\\"b",' run.prom &&
		grep -qF 'elide_acquisitions_total{lock="lock",site="main escape.c:8",kind="mutex"} 1' run.prom &&
		ok 'metrics: written while the program runs, names escaped' ||
		not_ok 'metrics: written while the program runs, names escaped' "$(cat run.prom run.out)"
	first=$(stat -c %i run.prom)
	tries=600
	until [ "$(stat -c %i run.prom)" != "$first" ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	[ $tries -gt 0 ] && ok 'metrics: written anew' || not_ok 'metrics: written anew' 'it was not'
	exec 3>&-
	wait $launcher
	rc=$?
	[ $rc -eq 0 ] && [ ! -s run.out ] && ok 'metrics: the run is as without' ||
		not_ok 'metrics: the run is as without' "exit $rc: $(cat run.out)"
	"$elide" run -q --mode=profile --metrics kept.data -o run.data "./$hostile" </dev/null >run.out 2>&1
	[ "$(cat run.out)" = 'elide: kept.data exists but is not a file of metrics of elide report: it is left as it is' ] &&
		cmp -s kept.data full.data && ok 'metrics: a wrong file is left' ||
		not_ok 'metrics: a wrong file is left' "$(cat run.out)"
fi
expect 'metrics: --every alone' 125 '' 'elide: --every goes with --metrics only' run --every 3s true
expect 'metrics: no time' 125 '' 'elide: --every=3d: not a time from 1s to 24h' \
	run --metrics x --every 3d true
expect 'metrics: not to standard output' 125 '' "elide: --metrics=-: standard output is the program's" \
	run --metrics - true

# From Debian 13 on promtool is a package of its own.
if ! unpack promtool promtool && ! unpack promtool prometheus; then
	skip 'metrics: promtool' "package prometheus cannot be had: $(tail -1 download)"
else
	for file in full profile few large run; do
		[ -e $file.prom ] || continue
		timeout 60 "$packages/promtool/usr/bin/promtool" check metrics <$file.prom >promtool.out 2>&1 &&
			[ ! -s promtool.out ] && ok "metrics: promtool takes $file.prom" ||
			not_ok "metrics: promtool takes $file.prom" "$(cat promtool.out)"
	done
fi
if ! unpack prometheus-client python3-prometheus-client python3-decorator; then
	skip 'metrics: OpenMetrics' "package python3-prometheus-client cannot be had: $(tail -1 download)"
else
	for file in full profile few; do
		PYTHONPATH=$packages/prometheus-client/usr/lib/python3/dist-packages timeout 60 python3 -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
names = [f.name for f in parse(open(sys.argv[1]).read())]
assert "elide_acquisitions" in names and "elide_wait_seconds" in names, names' $file.om 2>om.err &&
			ok "metrics: OpenMetrics parser takes $file.om" ||
			not_ok "metrics: OpenMetrics parser takes $file.om" "$(tail -1 om.err)"
	done
fi

# Trace. A checker that finds nothing wrong in a wrong file would be of no use: it is tried on some.
# trace NAME FILE [PHASE=N ...]
trace() {
	name=$1
	shift
	python3 "$here/trace-check.py" "$@" >problems 2>&1 && ok "trace: $name" ||
		not_ok "trace: $name" "$(head -3 problems)"
}
expect 'trace: no other file is replaced' 2 '' \
	'elide: kept.data exists but is not a trace of elide report: it is left as it is' \
	report --trace kept.data full.data
expect 'trace: written' 0 '' '' report --trace full.json1 full.data
trace 'decisions' full.json1 i=3 M=1
expect 'trace: replaced' 0 '' '' report --trace full.json1 profile.data
trace 'waits and holds' full.json1 X=10
"$elide" report --trace two.json1 full.data other.data && trace 'two runs' two.json1 M=2
if [ ! -e "$O/lib/libelide-preload.so" ]; then
	skip 'trace: of a program' 'there is no library'
else
	"$elide" run -q --mode=profile -o flow.data "$O/tests/tools/named" >named.out 2>&1
	"$elide" report --trace flow.json1 flow.data
	trace 'of a program' flow.json1 X=2 M=3
	[ "$(jq -r '.traceEvents[] | select(.ph == "M" and .name == "thread_name").args.name' flow.json1 |
		sort -u | grep -c '^holder$\|^waiter$')" -eq 2 ] && ok 'trace: names of threads' ||
		not_ok 'trace: names of threads' "$(jq -c '.traceEvents[] | select(.ph == "M")' flow.json1)"
	# From the waiter to the holder, never the other way.
	jq -r '(.traceEvents | map(select(.name == "thread_name")) | map({(.tid | tostring): .args.name}) |
		add) as $n | .traceEvents[] | select(.ph == "s" or .ph == "f") |
		"\(.ph) \($n[.tid | tostring])"' flow.json1 | sort -u >ends
	{ [ ! -s ends ] || [ "$(cat ends)" = 'f holder
s waiter' ]; } && ok 'trace: waiter to holder' || not_ok 'trace: waiter to holder' "$(cat ends)"
	faults=0
	for fault in '.traceEvents |= map(del(.ts))' '.traceEvents[-1].ph = "Z"' '.traceEvents = {}' \
		     '.traceEvents |= map(if .ph == "X" then del(.dur) else . end)' \
		     '(.traceEvents |= map(if .ph == "X" then .tid = 1 else . end)) |
			.traceEvents += [.traceEvents[] | select(.ph == "X") | .ts += .dur / 2 | .dur += 1]' \
		     '.traceEvents += [{ph: "s", name: "a", cat: "a", id: 9, pid: 1, tid: 1, ts: 5}]' \
		     '.traceEvents += [{ph: "b", name: "a", cat: "a", id: 9, pid: 1, tid: 1, ts: 5}]'; do
		jq "$fault" flow.json1 >bad.json1
		python3 "$here/trace-check.py" bad.json1 >problems 2>&1 &&
			not_ok 'trace: the checker sees a fault' "$fault" || ok "trace: the checker sees fault $((faults += 1))"
	done
fi
why=$(lacks emulator)
if [ -n "$why" ]; then
	skip 'trace: aborts' "$why"
else
	"$elide" run -q --emulate --cores=4 -o aborts.data "$O/tests/tools/sections" 4 3000 1000 >sections.out 2>&1
	"$elide" report --trace aborts.json1 aborts.data
	trace 'emulated' aborts.json1 M=2
	# A record comes by chance: what is there has a cause and a length.
	[ "$(jq '[.traceEvents[] | select(.cat == "abort") | (.dur > 0) and (.args.cause | length > 0)] |
		all' aborts.json1)" = true ] && ok 'trace: aborts' || not_ok 'trace: aborts' "$(cat aborts.json1)"
fi

# A full disk: the old file stays whole, and nothing is left behind.
disk=
mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null && disk=$tmp/full
if [ -z "$disk" ]; then
	skip 'full disk' 'a file system cannot be mounted here'
else
	for form in pprof openmetrics trace html; do
		file=full/$form.prom
		"$elide" report --$form small elide.data && cp small $file
		dd if=/dev/zero of=full/filler bs=1k count=1000 2>/dev/null
		expect "full disk: $form" 2 '' "elide: $file cannot be written: No space left on device" \
			report --$form $file full.data
		cmp -s small $file && [ "$(ls -A full | wc -l)" -eq 2 ] && ok "full disk: the old $form stays" ||
			not_ok "full disk: the old $form stays" "$(ls -lA full)"
		rm -f full/* small
	done
	umount full
fi

finish
