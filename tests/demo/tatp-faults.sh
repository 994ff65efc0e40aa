#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=45
#
# tatp_bench without memory, without room for its files, and with logs and pages that are damaged
# at random: one line that says why, an exit status, nothing half done and, where a log is
# refused, nothing written. FUZZ how many damaged logs.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/tatp_bench
fuzz=${FUZZ:-60}
log=$tmp/log

fresh() { rm -f "$log" "$log.pages"; }

# without N ARG...: tatp_bench whose allocation N fails, into $tmp/out, $tmp/err and $rc. Fails if
# it made fewer.
without() {
	rm -f "$tmp/hit"
	nth=$1
	shift
	timeout 60 env NO_MEMORY_AT="$nth" NO_MEMORY_FILE="$tmp/hit" \
		LD_PRELOAD="$O/tests/demo/no-memory.so" "$bench" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	unwarned
	[ -e "$tmp/hit" ]
}

# failed_well: it went on without, or ended with one line. It never finds the database destroyed.
failed_well() {
	case $rc in
	0) [ ! -s "$tmp/err" ] && grep -q '^  check  *ok$' "$tmp/out" ;;
	1 | 2) [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^tatp_bench: .*[a-z]$' "$tmp/err" &&
		! grep -q 'subscriber [0-9]\|index [0-9]\|page [0-9]\| is held\|is pinned' "$tmp/err" ;;
	*) false ;;
	esac
}

# recovers: the log has a whole database, or one whose population was not finished.
recovers() {
	[ -e "$log" ] || return 0
	bench_run --log="$log" --recover --json
	case $rc in
	0) grep -q '"check":"ok"' "$tmp/out" ;;
	2) grep -q -e 'population was not finished' -e 'is truncated in its header' \
		-e 'pages No such file' -e '.pages is truncated' "$tmp/err" ;;
	*) false ;;
	esac
}

# Each allocation of a run fails once; of every third one the log is in a file. Then each one of a
# recovery.
test_memory() {
	at=0 failures=0
	while at=$((at + 1)); [ $at -lt 1000 ]; do
		fresh
		if [ $((at % 3)) -eq 0 ]; then where=$log; else where=memory; fi
		without $at --subscribers=50 --operations=300 --threads=3 --log="$where" || break
		[ $rc -eq 0 ] || failures=$((failures + 1))
		failed_well && recovers && continue
		not_ok memory "allocation $at, log $where: exit $rc: $(cat "$tmp/err" "$tmp/out")"
		return
	done
	if [ $failures -gt 20 ]; then ok memory; else not_ok memory "$failures of $at failed"; fi
}

test_recovery_memory() {
	fresh
	"$bench" --log="$log" --subscribers=50 --operations=300 --helpers=off --threads=2 >"$tmp/out" ||
		{ not_ok recovery-memory 'the run failed'; return; }
	at=0
	while at=$((at + 1)); [ $at -lt 1000 ]; do
		without $at --log="$log" --recover || break
		case $rc in
		0 | 1 | 2) failed_well && continue ;;
		esac
		not_ok recovery-memory "allocation $at: exit $rc: $(cat "$tmp/err" "$tmp/out")"
		return
	done
	bench_run --log="$log" --recover --json
	if [ $at -gt 10 ] && jq -e '.check == "ok" and .subscribers == 50' "$tmp/out" >/dev/null; then
		ok recovery-memory
	else
		not_ok recovery-memory "$at: $(cat "$tmp/err" "$tmp/out")"
	fi
}

# limited KIB ARG...: with a limit on the size of files, which plays a full disk. sh counts in 512
# bytes.
limited() {
	kib=$1
	shift
	(
		trap '' XFSZ
		ulimit -f $((kib * 2))
		timeout 300 "$bench" "$@" >"$tmp/out" 2>"$tmp/err"
		echo $? >"$tmp/rc"
	)
	rc=$(cat "$tmp/rc")
	unwarned
}

# The pages have no room to grow while the log has: the operation fails and is rolled back.
test_full_pages() {
	fresh
	"$bench" --log="$log" --subscribers=9000 --operations=1 --seed=3 >"$tmp/out" 2>"$tmp/err"
	room=$(($(stat -c %s "$log.pages") / 1024))
	fresh
	limited $room --log="$log" --subscribers=9000 --seed=3 --duration=600 --threads=2 \
		--mix=insert-call-forwarding --group-commit=on
	if [ "$rc" = 1 ] && [ "$(stat -c %s "$log")" -lt $((room * 1000)) ] &&
	   [ "$(cat "$tmp/err")" = 'tatp_bench: File too large, the database is whole' ]; then
		ok full-pages
	else
		not_ok full-pages "exit $rc, log of $(stat -c %s "$log"): $(cat "$tmp/err")"
	fi
	if recovers && [ $rc -eq 0 ]; then
		ok full-pages-recovers
	else
		not_ok full-pages-recovers "$(cat "$tmp/err")"
	fi
}

# A log in memory that is full, because no helper makes checkpoints.
test_full_memory() {
	timeout 300 "$bench" --subscribers=200 --duration=600 --threads=3 --helpers=off \
		--mix=update-location >"$tmp/out" 2>"$tmp/err"
	rc=$?
	unwarned
	if [ $rc -eq 1 ] &&
	   [ "$(cat "$tmp/err")" = 'tatp_bench: No space left on device, the database is whole' ]; then
		ok full-memory
	else
		not_ok full-memory "exit $rc: $(cat "$tmp/err")"
	fi
}

# A pool that has not room for all pages.
test_pool() {
	for helpers in on off; do
		bench_run --pool=2 --subscribers=3000 --operations=20000 --threads=4 \
			--helpers=$helpers --json
		if jq -e '.check == "ok" and .pages_read > 1000' "$tmp/out" >/dev/null; then
			ok pool-$helpers
		else
			not_ok pool-$helpers "exit $rc: $(cat "$tmp/err" "$tmp/out")"
		fi
	done
	fresh
	bench_run --pool=2 --subscribers=3000 --operations=2000 --threads=2 --log="$log" --json
	bench_run --pool=2 --recover --log="$log" --json
	if jq -e '.check == "ok" and .changes_repeated > 0' "$tmp/out" >/dev/null; then
		ok pool-recovers
	else
		not_ok pool-recovers "exit $rc: $(cat "$tmp/err" "$tmp/out")"
	fi
	bench_run --subscribers=3000 --operations=1000 --json
	if jq -e '.pages_read == 0' "$tmp/out" >/dev/null; then
		ok pool-all
	else
		not_ok pool-all "exit $rc: $(cat "$tmp/err" "$tmp/out")"
	fi
	refused pool-small '--pool=1: 4 threads need 2 MiB' --pool=1 --threads=4
}

# More subscribers than memory has room for. On a machine with room for them there is nothing to see.
test_too_many() {
	if [ "$(awk '/^MemTotal/ { print int($2 / 1048576) }' /proc/meminfo)" -gt 28 ]; then
		skip too-many 'this machine has room for 10,000,000 subscribers'
		return
	fi
	bench_run --subscribers=10000000
	case $rc:$(cat "$tmp/err") in
	'2:tatp_bench: --subscribers=10000000, --operations: need up to '*' MiB of memory, and there are '*)
		ok too-many ;;
	*) not_ok too-many "exit $rc: $(cat "$tmp/err")" ;;
	esac
}

# damage SEED: a copy of the log or the pages is truncated, or has bits, bytes or a part overwritten;
# what was done is printed.
damage() {
	python3 - "$1" "$log" "$tmp/edited" <<'END'
import os, random, shutil, sys
rng = random.Random(int(sys.argv[1]))
for end in ("", ".pages"):
    shutil.copy(sys.argv[2] + end, sys.argv[3] + end)
path = sys.argv[3] + rng.choice(("", "", ".pages"))
size = os.path.getsize(path)
# The headers and the first records are small: half of the places are there.
at = rng.randrange(rng.choice((64, 2048, 8192, size, size, size)) if size > 8192 else size)
how = rng.choice(("cut", "bit", "bytes", "zeros", "copy"))
with open(path, "r+b") as file:
    data = bytearray(file.read())
    n = rng.choice((1, 8, 64, 512, 8192))
    if how == "cut":
        data = data[:at]
    elif how == "bit":
        data[at] ^= 1 << rng.randrange(8)
    elif how == "bytes":
        data[at:at + n] = rng.randbytes(len(data[at:at + n]))
    elif how == "zeros":
        data[at:at + n] = bytes(len(data[at:at + n]))
    else:
        other = rng.randrange(size)
        part = data[other:other + n]
        data[at:at + len(part)] = part
    file.seek(0)
    file.truncate()
    file.write(data)
print(how, n, "at", at, "of", path)
END
}

# Each damage is found, or changed nothing that counts: then what is recovered is a whole database,
# and once more so. A log or pages that are refused are as they were.
test_fuzz() {
	fresh
	"$bench" --log="$log" --subscribers=60 --duration=60 --threads=3 >"$tmp/out" 2>&1 &
	pid=$!
	while [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt 60000 ]; do sleep 0.05; done
	kill -KILL $pid
	wait $pid 2>/dev/null
	seed=0 found=0
	while [ $seed -lt "$fuzz" ]; do
		seed=$((seed + 1))
		what=$(damage $seed)
		before=$(cat "$tmp/edited" "$tmp/edited.pages" | cksum)
		bench_run --log="$tmp/edited" --recover --json
		case $rc in
		0)
			grep -q '"check":"ok"' "$tmp/out" && bench_run --log="$tmp/edited" --recover --json &&
				[ $rc -eq 0 ] && grep -q '"check":"ok"' "$tmp/out" && continue
			;;
		2)
			found=$((found + 1))
			[ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] &&
				grep -q "^tatp_bench: --log=$tmp/edited: .*[a-z0-9]" "$tmp/err" &&
				[ "$before" = "$(cat "$tmp/edited" "$tmp/edited.pages" | cksum)" ] && continue
			;;
		esac
		not_ok fuzz "seed $seed, $what: exit $rc: $(cat "$tmp/err" "$tmp/out")"
		return
	done
	# Much of the log is older than the checkpoint, and recovery does not read it.
	if [ $((6 * found)) -gt "$fuzz" ]; then ok fuzz; else not_ok fuzz "$found of $fuzz found"; fi
}

if [ -n "$(sanitizer)" ]; then
	skip tatp-memory 'a sanitizer has an allocator of its own'
else
	test_memory
	test_recovery_memory
fi
test_full_pages
test_full_memory
test_pool
test_too_many
test_fuzz
finish
