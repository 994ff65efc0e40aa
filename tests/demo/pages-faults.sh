#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=20
#
# page_bench without memory, on a disk that is full, killed, and with files that are damaged at
# random: one line that says why, an exit status, nothing half done, and nothing written to a file
# that is refused. FUZZ how many damaged files, KILLS how many runs that are killed, SEED the
# first seed of both.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/page_bench
fuzz=${FUZZ:-40}
kills=${KILLS:-10}
seed=${SEED:-1}
# Files in memory, if there is such a folder: a disk that others use is slow.
in_memory=$(mktemp -d -p /dev/shm 2>/dev/null) && rmdir "$tmp" && tmp=$in_memory
file=$tmp/file

# What all runs have: a pool of 64 pages, and a file system that need not have direct I/O.
small="--pool-mib=1 --io=buffered"

# made: a clean file of some 110 pages.
made() {
	rm -f "$file"
	# shellcheck disable=SC2086 # several words
	bench_run --file="$file" $small --operations=10000 --threads=2
	[ $rc -eq 0 ] || not_ok made "exit $rc: $(cat "$tmp/err")"
}

# one_line: stderr is one line of the program, which ends a sentence.
one_line() {
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "^page_bench: .*[a-z0-9]$" "$tmp/err"
}

# look FILE: read it and verify all.
look() {
	# shellcheck disable=SC2086
	bench_run --file="$1" --open --read-only $small --workload=lookups --operations=2000 --json
}

# Each allocation fails once.
test_memory() {
	at=0 failures=0
	while at=$((at + 1)); [ $at -lt 300 ]; do
		rm -f "$file" "$tmp/hit"
		# shellcheck disable=SC2086
		NO_MEMORY_AT=$at NO_MEMORY_FILE=$tmp/hit LD_PRELOAD=$O/tests/demo/no-memory.so \
			timeout 60 "$bench" --file="$file" $small --operations=3000 --threads=2 \
			>"$tmp/out" 2>"$tmp/err"
		rc=$?
		unwarned
		[ -e "$tmp/hit" ] || break
		case $rc in
		0) [ ! -s "$tmp/err" ] && grep -q '^  check  *ok$' "$tmp/out" && continue ;;
		1 | 2)
			failures=$((failures + 1))
			# What is left is no file, a whole one, or one that is refused.
			one_line && { [ ! -e "$file" ] ||
				"$bench" --check --file="$file" >"$tmp/out" ||
				grep -q 'not clean$' "$tmp/out"; } && continue
			;;
		esac
		not_ok memory "allocation $at: exit $rc: $(cat "$tmp/err" "$tmp/out")"
		return
	done
	if [ $failures -gt 5 ]; then ok memory; else not_ok memory "$failures of $at failed"; fi
}

# A limit on the size of files plays a full disk: the insert fails, and the file is whole.
test_full() {
	rm -f "$file"
	(
		trap '' XFSZ
		# sh counts in 512 bytes: 2 MiB.
		ulimit -f 4096
		# shellcheck disable=SC2086
		timeout 60 "$bench" --file="$file" $small --operations=100000 --threads=2 \
			>"$tmp/out" 2>"$tmp/err"
		echo $? >"$tmp/rc"
	)
	rc=$(cat "$tmp/rc")
	unwarned
	if [ "$rc" -eq 1 ] && one_line &&
	   grep -q 'File too large, the trees are whole$' "$tmp/err" &&
	   "$bench" --check --file="$file" >"$tmp/out" && look "$file" && [ $rc -eq 0 ]; then
		ok full
	else
		not_ok full "exit $rc: $(cat "$tmp/err" "$tmp/out")"
	fi
}

# A run that reads writes nothing.
test_read_only() {
	made
	before=$(cksum <"$file")
	chmod 400 "$file"
	look "$file"
	if [ $rc -eq 0 ] && jq -e '.check == "ok" and .io.writes == 0 and .io.reads > 100' \
		"$tmp/out" >/dev/null && [ "$before" = "$(cksum <"$file")" ]; then
		ok read-only
	else
		not_ok read-only "exit $rc: $(cat "$tmp/err" "$tmp/out")"
	fi
	chmod 600 "$file"
}

test_refused() {
	made
	refused no-file "$tmp/none: No such file or directory" --file="$tmp/none" --open
	refused exists "$file: File exists" --file="$file"
	refused folder "$tmp: Is a directory" --file="$tmp" --open --io=buffered
	refused check-folder "$tmp: is not a regular file" --file="$tmp" --check
	refused device '/dev/null: is not a regular file' --file=/dev/null --open --io=buffered
	head -c 100000 /dev/zero >"$tmp/zeros"
	refused not-ours "$tmp/zeros: is not a file of page_bench" --file="$tmp/zeros" --open \
		--io=buffered
	exec 9<"$file"
	flock -s 9
	refused locked "$file: is open in another process" --file="$file" --open --io=buffered
	exec 9<&-
	cp "$file" "$tmp/other"
	printf '\002' | dd of="$tmp/other" bs=1 seek=8 conv=notrunc 2>/dev/null
	printf '\002' | dd of="$tmp/other" bs=1 seek=16392 conv=notrunc 2>/dev/null
	refused version "$tmp/other: has version 2, and this program has version 1" \
		--file="$tmp/other" --open --io=buffered
	truncate -s 1000000 "$file"
	bench_run --file="$file" --open --io=buffered
	case $rc:$(cat "$tmp/err") in
	"2:page_bench: $file: is truncated: it has 61 of "*" pages") ok truncated ;;
	*) not_ok truncated "exit $rc: $(cat "$tmp/err")" ;;
	esac
	rm -f "$tmp/other" "$tmp/zeros"
}

# What is left of a run that is killed is whole or refused; what is whole has no wrong data.
test_killed() {
	i=0 whole=0 unclean=0
	while [ $i -lt "$kills" ]; do
		i=$((i + 1))
		rm -f "$file"
		# shellcheck disable=SC2086
		"$bench" --file="$file" $small --operations=40000 --threads=2 >"$tmp/out" 2>&1 &
		pid=$!
		sleep "$(awk -v seed=$((seed + i)) 'BEGIN { srand(seed); print rand() * 0.4 }')"
		kill -KILL $pid
		wait $pid 2>/dev/null
		[ -e "$file" ] || continue
		look "$file"
		case $rc in
		0) whole=$((whole + 1)); grep -q '"check":"ok"' "$tmp/out" && continue ;;
		# A file that was made and has no trees yet is clean.
		2)
			one_line && case $(cat "$tmp/err") in
			*': was not closed: of '* | *': superblock '*' is torn: of '*) ;;
			*': is truncated'* | *' no whole superblock') ;;
			*': is not a file of page_bench') ;;
			*': was made by another workload' | *' its load was interrupted') ;;
			*) false ;;
			esac && unclean=$((unclean + 1)) && continue
			;;
		esac
		not_ok killed "seed $((seed + i)): exit $rc: $(cat "$tmp/err" "$tmp/out")"
		return
	done
	echo "note killed: of $kills runs $whole left a whole file and $unclean one that is refused"
	ok killed
}

# damage SEED: a copy of the file is truncated, or has bits, bytes or a part overwritten; what was
# done is printed.
damage() {
	python3 - "$1" "$file" "$tmp/edited" <<'END2'
import random, shutil, sys
rng = random.Random(int(sys.argv[1]))
data = bytearray(open(sys.argv[2], "rb").read())
size = len(data)
# The superblocks are small: a third of the places are there.
at = rng.randrange(rng.choice((32768, size, size)))
how = rng.choice(("cut", "bit", "bytes", "zeros", "copy", "page"))
n = rng.choice((1, 8, 64, 512, 8192))
if how == "cut":
    data = data[:at]
elif how == "bit":
    data[at] ^= 1 << rng.randrange(8)
elif how == "bytes":
    data[at:at + n] = rng.randbytes(len(data[at:at + n]))
elif how == "zeros":
    data[at:at + n] = bytes(len(data[at:at + n]))
elif how == "copy":
    other = rng.randrange(size)
    part = data[other:other + n]
    data[at:at + len(part)] = part
else:
    # A whole page at the place of another one.
    to, other = (rng.randrange(size // 16384) * 16384 for i in range(2))
    data[to:to + 16384] = data[other:other + 16384]
open(sys.argv[3], "wb").write(data)
print(how, n, "at", at)
END2
}

# Each damage is found by --check and by the run, or changed nothing. No file is written.
test_fuzz() {
	made
	i=0 found=0
	while [ $i -lt "$fuzz" ]; do
		i=$((i + 1))
		what=$(damage $((seed + i)))
		before=$(cksum <"$tmp/edited")
		"$bench" --check --file="$tmp/edited" >"$tmp/check" 2>"$tmp/check-err"
		check=$?
		look "$tmp/edited"
		if [ "$before" != "$(cksum <"$tmp/edited")" ]; then
			not_ok fuzz "seed $((seed + i)), $what: the file was written"
			return
		fi
		case $check:$rc in
		0:0) grep -q '"check":"ok"' "$tmp/out" && continue ;;
		[12]:[12]) found=$((found + 1)); one_line && continue ;;
		esac
		not_ok fuzz "seed $((seed + i)), $what: --check $check, exit $rc: $(cat "$tmp/err" \
			"$tmp/check-err" "$tmp/check" | head -n 3)"
		return
	done
	if [ $((2 * found)) -gt "$fuzz" ]; then
		ok fuzz
	else
		not_ok fuzz "$found of $fuzz found"
	fi
}

if [ -n "$(sanitizer)" ]; then
	skip pages-memory 'a sanitizer has an allocator of its own'
else
	test_memory
fi
test_full
test_read_only
test_refused
test_killed
test_fuzz
finish
