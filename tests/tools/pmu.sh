#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Evidence from the hardware: --pmu, --pcm, --perf, and why there is none.

. "$(dirname "$0")/common.sh"
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR

# says NAME WANT FILE: a whole line of a file.
says() {
	grep -qxF -- "$2" "$3" && ok "$1" || not_ok "$1" "no line \"$2\" in: $(cat "$3")"
}

cat >subject.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long n;
static void section(void) { for (int i = 0; i < 200; i++) n++; }
void locked(void) { pthread_mutex_lock(&lock); section(); pthread_mutex_unlock(&lock); }
static void *run(void *arg) { for (long i = 0; i < *(long *)arg; i++) locked(); return NULL; }
int main(int argc, char **argv)
{
	long rounds = argc > 1 ? 200000 : 300;
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, run, &rounds);
	for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
	return printf("%ld\n", n) < 0;
}
EOF
${CC:-cc} -O0 -g -fno-omit-frame-pointer -o subject subject.c -pthread

# doctor: a machine as its files show it, and what is in the way of its counters
machine() { # FLAGS MODEL PARANOID PMU
	rm -rf root
	mkdir -p root/proc/sys/kernel
	printf 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: %s\nmodel name\t: 7\nflags\t\t: fpu %s\n' \
		"$2" "$1" >root/proc/cpuinfo
	[ -z "$3" ] || echo "$3" >root/proc/sys/kernel/perf_event_paranoid
	[ -z "$4" ] || { mkdir -p root/sys/bus/event_source/devices/cpu; echo 4 >root/sys/bus/event_source/devices/cpu/type; }
}
diagnose() { # NAME WANT
	run_elide doctor --sysroot root
	says "doctor: counters: $1" "hardware counters      $2" out
}
machine rtm 85 2 pmu
diagnose ready 'ready: elide run --pmu=stat'
machine rtm 85 3 pmu
diagnose paranoid 'perf_event_paranoid is 3, it must be 2 or less: sysctl kernel.perf_event_paranoid=2'
machine rtm 42 2 pmu
diagnose 'unknown processor' \
	'the events of this processor are not known: GenuineIntel family 6, model 0x2a'
machine 'rtm hypervisor' 85 2 ''
diagnose 'virtual machine' 'the kernel found no PMU: the hypervisor gives the virtual machine none'
machine rtm 85 '' ''
diagnose 'no perf' 'the kernel has no perf events'
machine avx2 85 2 pmu
diagnose 'no RTM' 'no transactions to count: this processor has no RTM'
run_elide doctor
pmu=$(sed -n 's/^hardware counters  *//p' out)
[ -n "$pmu" ] && ok 'doctor: this machine' || not_ok 'doctor: this machine' "$(cat out err)"

# --pmu on this machine: counters, or the one line that doctor has too
run_elide run -q --pmu=stat -o stat.data ./subject
case $pmu in
ready*)
	"$elide" report stat.data >report
	grep -q '^  RTM_RETIRED.START ' report && ok '--pmu=stat' || not_ok '--pmu=stat' "$(cat err report)"
	;;
*)
	[ "$(cat out)" = 120000 ] && [ "$(cat err)" = "elide: --pmu: $pmu" ] &&
		ok '--pmu=stat: why not' || not_ok '--pmu=stat: why not' "$(cat out err)"
	"$elide" report stat.data >report
	grep -q 'hardware counters' report && not_ok 'no counters, no table' "$(cat report)" ||
		ok 'no counters, no table'
	;;
esac
run_elide run -q --pmu=sta -o stat.data ./subject
grep -q 'nearest is stat' err && ok '--pmu: unknown' || not_ok '--pmu: unknown' "$(cat err)"

# --pcm: a stand-in that behaves as pcm-tsx does; why it cannot be run
mkdir bin
PATH=$tmp/bin:$PATH run_elide run -q --pcm -o pcm.data ./subject
pcm=$(cat err)
case $pmu$pcm in
*': package pcm') says '--pcm: not installed' 'elide: --pcm: pcm-tsx is not installed: package pcm' err ;;
*) skip '--pcm: not installed' 'pcm-tsx is installed' ;;
esac
cat >bin/pcm-tsx <<'EOF'
#!/bin/sh
for a; do shift; case $a in -csv=*) csv=${a#-csv=} ;; --) break ;; esac; done
"$@" || exit
printf 'Time elapsed: 20 ms\nEvent0: RTM_RETIRED.START x\nEvent1: RTM_RETIRED.COMMIT x\n\nCore,Event0,Event1\n0,70,60,\n*,71,61,\n\n' >$csv
EOF
chmod +x bin/pcm-tsx
PATH=$tmp/bin:$PATH run_elide run -q --pcm -o pcm.data ./subject
if [ "$(id -u)" -ne 0 ]; then
	says '--pcm: not root' "elide: --pcm: pcm-tsx reads the processor's registers: only root may do so" err
elif [ ! -w /dev/cpu/0/msr ]; then
	says '--pcm: no registers' 'elide: --pcm: /dev/cpu/0/msr is missing: modprobe msr' err
else
	"$elide" report pcm.data >report
	says '--pcm: counters' '  RTM_RETIRED.START   pcm              71' report
	says '--pcm: of the whole machine' '  pcm has counted all that ran on this machine' report
fi
[ "$(cat out)" = 120000 ] && ok '--pcm: the program runs' || not_ok '--pcm: the program runs' "$(cat out)"
run_elide run -q --emulate --pcm --seed 1 -o pcm.data true
says '--pcm: emulated' "elide: --pcm: the processor does not see an emulated machine's transactions" err

# --pmu=stat of an emulated machine: to the last transaction
# value EVENT COLUMN: of the report's table; 1 counted, 2 elide's, 3 difference
value() { awk -v e="$1" -v c="$2" '$1 == e && ($2 == "pmu" || $2 == "pcm") {print $(2 + c)}' report; }
run_elide run -q --emulate --seed 5 --pmu=stat -o emu.data ./subject
"$elide" report emu.data >report
[ "$(value RTM_RETIRED.ABORTED 3)" = +0 ] && [ "$(value RTM_RETIRED.ABORTED 1)" -gt 0 ] &&
	ok 'emulated: aborts are equal' || not_ok 'emulated: aborts are equal' "$(cat err report)"
[ "$(value RTM_RETIRED.COMMIT 3)" = "+$(value probe.commits 1)" ] &&
	[ "$(value RTM_RETIRED.START 3)" = "+$(value probe.starts 1)" ] &&
	ok 'emulated: begins and commits differ by the probe' ||
	not_ok 'emulated: begins and commits differ by the probe' "$(cat report)"
[ "$(value TX_MEM.ABORT_CONFLICT 3)" = +0 ] && ok 'emulated: conflicts are equal' ||
	not_ok 'emulated: conflicts are equal' "$(cat report)"
# The example of elide(7): the same lines, whatever the numbers.
example() { sed -n '/^hardware counters/,/^  probe.commits/p' "$1" | sed 's/[0-9][0-9]*/N/g; s/  */ /g'; }
example report >example.out
example "$O/man/elide.7" >example.man
cmp -s example.out example.man && [ -s example.man ] && ok 'emulated: as elide(7) shows it' ||
	not_ok 'emulated: as elide(7) shows it' "$(diff example.out example.man)"
[ -z "$(ls tmp)" ] && ok 'emulated: nothing is left behind' ||
	not_ok 'emulated: nothing is left behind' "$(ls tmp)"
run_elide run -q --emulate --seed 5 --pmu=stat --counters=mine.%p -o own.data ./subject
"$elide" report own.data | grep '^  [A-Z]*_' >report.own
grep '^  [A-Z]*_' report >report.emu
cmp -s report.own report.emu && [ -s report.own ] && ls mine.* >/dev/null && ok 'emulated: a file of our own' ||
	not_ok 'emulated: a file of our own' "$(cat err report.own)"
run_elide run -q --emulate --seed 5 --pmu=stat --counters=yes -o own.data ./subject
says 'emulated: to standard error' "elide: --pmu: the emulator's counters go to standard error, as --counters=yes says, and not to the data file" err

# report --perf
echo 'nothing of perf' >nothing.txt
run_elide report emu.data --perf nothing.txt
[ $rc -eq 2 ] && [ "$(cat err)" = 'elide: nothing.txt: no sample in it that has an address: it takes the output of perf script' ] &&
	ok '--perf: of another form' || not_ok '--perf: of another form' "exit $rc: $(cat out err)"
run_elide report emu.data --perf nosuch.txt
[ $rc -eq 2 ] && [ "$(cat err)" = 'elide: nosuch.txt: No such file or directory' ] && ok '--perf: no file' ||
	not_ok '--perf: no file' "exit $rc: $(cat err)"
run_elide report emu.data --json --perf nothing.txt
[ $rc -eq 2 ] && [ "$(cat err)" = 'elide: --perf goes with the table only' ] && ok '--perf: with JSON' ||
	not_ok '--perf: with JSON' "exit $rc: $(cat err)"

# A real recording, with an event that every machine has.
if ! command -v perf >/dev/null; then
	skip '--perf: a recording' 'perf is not installed'
elif ! timeout 60 perf record -q -g -F 999 -e cpu-clock:u -W --transaction -o perf.data \
	"$elide" run -q -o real.data ./subject long >out 2>err; then
	skip '--perf: a recording' "perf record: $(tail -n 1 err), perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid)"
else
	known=0
	for fields in '' '-D' '-F comm,pid,tid,time,event,weight,ip,sym,symoff,dso'; do
		timeout 60 perf script -i perf.data $fields >script.txt 2>/dev/null
		run_elide report real.data --perf script.txt
		n=$(sed -n 's/.*by its function alone: \([0-9]*\);.*/\1/p' out)
		grep -q '| lock (mutex) at locked subject.c:6$' out && [ "${n:-0}" -gt 10 ] &&
			ok "--perf: a recording, perf script $fields" ||
			not_ok "--perf: a recording, perf script $fields" "$(cat err out)"
	done
	timeout 60 "$elide" report real.data --perf - <script.txt >out2 2>err
	grep -q '^perf: [0-9]* samples of cpu-clock:u' out2 && ok '--perf: standard input' ||
		not_ok '--perf: standard input' "$(cat err out2)"
fi

finish
