#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=5
#
# elide merge: that the joined file says what the files say together, of one build and of several;
# what does not belong together, damaged files among a thousand, a full disk.

. "$(dirname "$0")/common.sh"
clean_up() { umount "$tmp/disk" 2>/dev/null; chmod -R u+w "$tmp"; }

# numbers FILE: the counters of each row of a report as JSON.
numbers() {
	jq -S '.rows | sort_by(.lock, .kind, .site.symbol, .site.inlined_into) | map({lock, kind, site, acquired,
		elided, nested, fallback, not_attempted, attempts, commits, aborts, contended, failed,
		wasted_cycles, causes, wait_total: .wait_ns.total, waits: .wait_ns.count, locks})' "$1"
}

"$mkdata" a full 1 1
"$mkdata" b elide 2 2
"$mkdata" c later 3 3
"$mkdata" d profile 4 4
"$mkdata" e elide 5 5

# Usage
expect 'no output' 2 '' 'elide: merge: needs data files, and -o with the name of a new one' merge a b
expect 'no input' 2 '' 'elide: merge: needs data files, and -o with the name of a new one' merge -o all
expect 'unknown option' 2 '' 'elide: unknown option --ouptut, nearest is --output' merge --ouptut=all a
expect 'nothing to join' 2 '' 'elide: nosuch: No such file or directory; left out
elide: there is nothing to join' merge -o all nosuch
[ ! -e all ] && ok 'no file of nothing' || not_ok 'no file of nothing' 'it is there'

# The joined file is the report of all.
expect 'join' 0 '' 'elide: all has 5 processes of 1 host in 10 rows' merge -o all a b c d e
"$elide" report --merge --json a b c d e >want.json
"$elide" report --json all >got.json 2>err
numbers want.json >want
numbers got.json >got
same 'rows are summed exactly' want got
for key in misuse totals.acquired totals.wait_ns totals.causes dropped; do
	[ "$(jq -c ".$key" want.json)" = "$(jq -c ".$key" got.json)" ] && ok "$key" ||
		not_ok "$key" "$(jq -c ".$key" want.json got.json)"
done
[ "$(jq '.program.processes, (.program.sources | length)' got.json | xargs)" = '5 5' ] &&
	[ "$(jq '[.program.sources[].acquired] | add' got.json)" = "$(jq .totals.acquired got.json)" ] &&
	ok 'processes are listed' || not_ok 'processes are listed' "$(jq -c .program got.json)"
# jq 1.7 prints a number as it was written, 16.0, until it has calculated with it.
[ "$(jq '.program.elapsed_s + 0' got.json)" = "$(for f in a b c d e; do "$elide" report --json $f; done |
	jq -s '[.[].program.elapsed_s] | add')" ] && ok 'its time is that of all runs' ||
	not_ok 'its time is that of all runs' "$(jq .program.elapsed_s got.json)"
run_elide report --by thread all
[ $rc -eq 0 ] && ok 'threads' || not_ok 'threads' "exit $rc: $(cat err)"
"$elide" report --html all.html all && grep -q 'all 5 processes of the joined runs' all.html && ok 'page' ||
	not_ok 'page' "$(head -c 300 all.html)"
"$elide" report --pprof all.pb.gz all && "$elide" report --openmetrics all.prom all &&
	grep -q '^elide_processes 5$' all.prom && ok 'exports' || not_ok 'exports' "$(head all.prom)"
run_elide diff a all
[ $rc -eq 0 ] && grep -q subject_index_lock out && ok 'diff' || not_ok 'diff' "exit $rc: $(cat err)"

# A joined file is joined again: nothing is counted twice.
expect 'a further file' 0 '' 'elide: two has 2 processes of 1 host in 10 rows' merge -o two a b
expect 'a joined file' 0 '' 'elide: three has 5 processes of 1 host in 10 rows' merge -o three two c d e
"$elide" report --json three >got.json
numbers got.json >got
same 'joined in two steps' want got
expect 'a file twice' 1 '' 'elide: a: process 1 is in another one of the files; left out
elide: four has 5 processes of 1 host in 10 rows' merge -o four all a
cp a copy
expect 'a copy' 1 '' 'elide: copy: process 1 is in another one of the files; left out
elide: four has 2 processes of 1 host in 10 rows' merge -o four a b copy
expect 'added to itself' 0 '' 'elide: two has 3 processes of 1 host in 10 rows' merge -o two two c
"$elide" merge -q -o again three && cmp -s again three && ok 'joining one is copying it' ||
	not_ok 'joining one is copying it' "$(ls -l again three)"

# What is there already.
echo 'not ours' >kept
expect 'no other file is replaced' 2 '' 'elide: kept exists but is not a data file: it is left as it is' \
	merge -o kept a b
[ "$(cat kept)" = 'not ours' ] && ok 'it is left' || not_ok 'it is left' "$(head -c 100 kept)"

# Damaged files among a thousand: named, and left out where nothing is left.
python3 - a <<'END'
import struct, sys
# The smallest file that the library writes has 264 KiB.
data = bytearray(open(sys.argv[1], 'rb').read().ljust(264 << 10, b'\0'))
for i in range(1000):
    struct.pack_into('<I', data, 32, i + 1)
    bad = bytearray(data)
    if i == 100:
        bad = bad[:5000]
    elif i == 200:
        bad[8192 + 4 * 4096] ^= 255
    elif i == 300:
        bad = b''
    open('t.%d' % i, 'wb').write(bad)
END
[ "$(stat -c %s t.7)" -eq 270336 ] || not_ok 'the smallest file' "$(stat -c %s t.7)"
python3 - "$elide" <<'END' >measured 2>said
import os, resource, subprocess, sys, time
start = time.time()
rc = subprocess.call([sys.argv[1], 'merge', '--no-children', '-o', 'thousand'] + ['t.%d' % i for i in range(1000)])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(rc, usage.ru_maxrss // 1024, '%.2f' % (usage.ru_utime + usage.ru_stime), '%.2f' % (time.time() - start))
END
cat >want <<'END'
elide: t.300: empty (offset 0); left out
elide: t.100: ends within its header (offset 5000); left out
elide: t.200: damaged: 1 damaged place, the first: damaged chunk (offset 24576); missing: misuses 1; what is left is joined
elide: thousand has 998 processes of 1 host in 10 rows
END
sort want >want.sorted
sort said >said.sorted
same 'damaged files among a thousand' want.sorted said.sorted
read -r code mib cpu wall <measured
[ "$code" -eq 1 ] && ok 'exit code' || not_ok 'exit code' "$code"
# 200 MB; the 5 s are of processor time, which the load of the machine does not change much.
[ "$mib" -le 190 ] && [ "${cpu%.*}" -lt 5 ] && ok 'a thousand files in 5 s and 200 MB' ||
	not_ok 'a thousand files in 5 s and 200 MB' "$mib MiB, $cpu s of processor time"
echo "   a thousand files: $mib MiB, $cpu s of processor time, $wall s"
one=$("$elide" report --json a | jq .totals.acquired)
[ "$("$elide" report --json thousand | jq .totals.acquired)" = $((998 * one)) ] && ok 'their sum' ||
	not_ok 'their sum' "$("$elide" report --json thousand | jq .totals.acquired)"
ls t.* >names
"$elide" merge -q --no-children -o thousand2 --files-from names 2>/dev/null
[ "$("$elide" report --json thousand2 | jq .totals.acquired)" = $((998 * one)) ] && ok '--files-from' ||
	not_ok '--files-from' "$(ls -l thousand2)"
# The same thousand as a report, with few descriptors, each file given twice.
sum=$(ulimit -n 100; "$elide" report --merge --json t.* t.* 2>/dev/null | jq .totals.acquired)
[ "$sum" = $((998 * one)) ] && ok 'a report of a thousand files with 100 descriptors' ||
	not_ok 'a report of a thousand files with 100 descriptors' "$sum"
rm -f t.*

# A child whose number came again, found by the names of two files that are given.
"$mkdata" again elide 77 21
"$mkdata" again.22 elide 77 22
"$mkdata" again.22.2 elide 77 23
expect 'a child of two files that are given' 0 '' 'elide: joined has 3 processes of 1 host in 4 rows' \
	merge -o joined again again.22
rm -f again* joined

# A full disk: the old file stays whole, and nothing is left behind.
if ! mkdir disk || ! mount -t tmpfs -o size=256k tmpfs disk 2>/dev/null; then
	skip 'full disk' 'a file system cannot be mounted here'
else
	cp b disk/all
	dd if=/dev/zero of=disk/filler bs=1k count=1000 2>/dev/null
	expect 'full disk' 2 '' 'elide: disk/all cannot be written: No space left on device' \
		merge -o disk/all a b c d
	cmp -s b disk/all && [ "$(ls -A disk | wc -l)" -eq 2 ] && ok 'full disk: the old file stays' ||
		not_ok 'full disk: the old file stays' "$(ls -lA disk)"
	umount disk
fi

# Two builds of a program, and another program.
cat >p.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t three = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) void lock(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}
#ifdef NEW
static __attribute__((noinline)) void added(void)
{
	pthread_mutex_lock(&three);
	pthread_mutex_unlock(&three);
}
#endif
static __attribute__((noinline)) void first(void)
{
	pthread_mutex_lock(&one);
	pthread_mutex_unlock(&one);
}
static __attribute__((noinline)) void second(void)
{
	pthread_mutex_lock(&two);
	pthread_mutex_unlock(&two);
}
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		first();
		second();
		second();
	}
	lock(&three);
#ifdef NEW
	for (int i = 0; i < 7; i++)
		added();
#endif
	return 0;
}
END
mkdir old new
if [ ! -e "$O/lib/libelide-preload.so" ] ||
   ! { ${CC:-cc} -g -O1 -Wl,--build-id -o old/prog p.c -pthread &&
       ${CC:-cc} -DNEW -g -O1 -Wl,--build-id -o new/prog p.c -pthread; } 2>cc.err; then
	skip 'two builds' "$(head -1 cc.err 2>/dev/null || echo no library)"
else
	for i in 1 2; do
		"$elide" run -q --mode=profile -o old$i ./old/prog
		"$elide" run -q --mode=profile -o new$i ./new/prog
	done
	cp old/prog moved
	"$elide" run -q --mode=profile -o moved1 ./moved
	"$elide" run -q --mode=profile -o other1 "$O/tests/tools/named"
	host=$(uname -n)
	run_elide merge -o builds old1 new1 old2 new2 moved1 other1
	cat >want <<END
elide: other1: of another program, $O/tests/tools/named, not $(pwd -P)/old/prog; left out
elide: builds has 5 processes of 1 host in 4 rows
elide: they ran 2 builds of the program: 6 locks and call sites of the others are those of the first by their names, 1 stay apart
END
	same 'two builds: said' want err
	[ $rc -eq 1 ] && ok 'two builds: exit code' || not_ok 'two builds: exit code' $rc
	"$elide" report --json builds | jq -r '.rows | sort_by(.lock, .site.symbol)[] |
		"\(.lock) \(.site.symbol) \(.acquired) \(.locks)"' >got
	cat >want <<'END'
one first 5000 5
three added 14 5
three lock 5 5
two second 10000 5
END
	same 'two builds: rows by symbol' want got
	"$elide" report --json builds | jq -r '.program.sources[].host' | sort -u >got
	echo "$host" >want
	same 'hosts are listed' want got
	[ "$("$elide" report --json builds | jq -r '.program.sources[].build_id' | sort -u | wc -l)" -eq 2 ] &&
		ok 'builds are listed' || not_ok 'builds are listed' "$("$elide" report --json builds | jq .program)"
	rm new/prog
	run_elide merge -o apart old1 new1
	grep -q '0 locks and call sites of the others are those of the first by their names, 7 stay apart' err &&
		grep -q 'new/prog' err && [ "$("$elide" report --json apart 2>/dev/null | jq '.rows | length')" -eq 7 ] &&
		ok 'two builds, one gone: apart, and said' ||
		not_ok 'two builds, one gone: apart, and said' "$(cat err; "$elide" report apart)"
	# A file that a process writes.
	mkfifo stop
	"$elide" run -q --mode=profile -o live "$O/tests/tools/looper" <stop >looper.out 2>&1 &
	launcher=$!
	exec 3>stop
	tries=600
	until [ -s .live.live ] || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
	run_elide merge -o live old1 old2
	[ $rc -eq 2 ] && grep -q '^elide: live is being written by process [0-9]*: it is left as it is$' err &&
		ok 'a file in use is left' || not_ok 'a file in use is left' "exit $rc: $(cat err)"
	exec 3>&-
	wait $launcher
fi

finish
