#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=20
#
# Operation files of index_bench: what is written, that each tree and scheme runs it, that each
# outcome is verified, and what is said of bad files.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/index_bench
cd "$tmp" || exit 1

# text NAME MESSAGE TEXT: a text file that is refused.
text() {
	rm -rf text
	mkdir text
	printf "$3" >text/0.txt
	refused "$1" "$2" --replay=text
}

# outcome NAME CHECK TEXT: a text file whose operations run, and the result of the check.
outcome() {
	rm -rf text
	mkdir text
	printf "$3" >text/0.txt
	bench_run --replay=text --json
	case $2 in ok) want=0 ;; *) want=1 ;; esac
	if [ $rc -eq $want ] && grep -q "\"check\":\"$2\"" out; then
		ok "$1"
	else
		not_ok "$1" "exit $rc: $(cat out err)"
	fi
}

test_text() {
	outcome text-ok ok '# a comment\n\nI 5 6\n  S 5 6\r\nD 5 6\nI 5 7'
	outcome text-borders ok "I -9223372036854775808 18446744073709551615\nS \
-9223372036854775808 18446744073709551615\nI 9223372036854775807 0\n"
	outcome insert-twice 'file 0, operation 1: I 5 6 did not succeed, 1 in all' 'I 5 6\nI 5 6\n'
	outcome search-of-nothing 'file 0, operation 0: S 4 4 did not succeed, 1 in all' 'S 4 4\n'
	outcome other-value 'file 0, operation 1: S 4 5 did not succeed, 1 in all' 'I 4 4\nS 4 5\n'
	outcome delete-twice 'file 0, operation 2: D 4 4 did not succeed, 2 in all' \
		'I 4 4\nD 4 4\nD 4 4\nD 4 4\n'
}

test_bad_text() {
	text unknown-letter 'text/0.txt:2: X is none of the letters I, S and D' 'I 1 1\nX 5 6\n'
	text long-letter 'text/0.txt:1: Insert is none of the letters I, S and D' 'Insert 5 6\n'
	range='must be a number from -9223372036854775808 to 9223372036854775807'
	for key in 9223372036854775808 -9223372036854775809 0x1 1e3 +1; do
		text "key-$key" "text/0.txt:1: key $key: $range" "I $key 1\n"
	done
	for value in 18446744073709551616 -1 x; do
		text "value-$value" \
			"text/0.txt:1: value $value: must be a number from 0 to 18446744073709551615" \
			"I 1 $value\n"
	done
	for line in 'I' 'I 5' 'I 5 6 7'; do
		text "line-$line" 'text/0.txt:1: must be a letter, a key and a value' "$line\n"
	done
	text empty 'text/0.txt: empty' ''
	text comments-alone 'text/0.txt: has no operation' '# nothing\n\n'
	text another-format 'text/0.txt: of another format' '\177ELF\001'
}

test_bad_folders() {
	refused no-folder '--replay=nothing: has no file 0.ops or 0.txt' --replay=nothing
	refused empty-name '--replay=: must not be empty' --replay=
	refused generate-twice '--generate=small: has operation files already' --generate=small
	refused both '--generate, --replay: one of them' --generate=a --replay=b
	refused deal-and-generate '--deal: not with --generate' --generate=x --deal=share
	for option in preload=5 ops=5 updates=1 update-rate=1 seed=1 keys=zipf latency unsafe; do
		refused "replay-$option" "--${option%%=*}: not with --replay" --replay=small \
			--$option
	done
	refused no-lock '--scheme=none: 2 threads that write would destroy the index; possible: '"$(
		"$bench" --list | awk '$1 == "variant" && $2 == "blink" {
			gsub(/none, /, ""); sub(/.*blink */, ""); print }'
	)"', or --unsafe to see it happen' --replay=small --index=blink --scheme=none --threads=2
}

# binary NAME MESSAGE: bad/0.ops is refused.
binary() {
	refused "$1" "bad/0.ops: $2" --replay=bad
}

test_bad_binary() {
	rm -rf bad
	mkdir bad
	for bytes in 1 23; do
		head -c $bytes small/0.ops >bad/0.ops
		binary "truncated-$bytes" "truncated: $bytes bytes"
	done
	size=$(wc -c <small/0.ops)
	for bytes in 24 47 $((size - 1)); do
		head -c "$bytes" small/0.ops >bad/0.ops
		binary "truncated-$bytes" \
			"truncated or too long: $bytes bytes do not fit its 500 operations"
	done
	{ cat small/0.ops; printf x; } >bad/0.ops
	binary too-long "truncated or too long: $((size + 1)) bytes do not fit its 500 operations"
	{ head -c 15 small/0.ops; printf '\007'; tail -c +17 small/0.ops; } >bad/0.ops
	binary byte-order 'of a machine with another byte order'
	{ head -c 48 small/0.ops; printf Q; tail -c +50 small/0.ops; } >bad/0.ops
	binary binary-letter 'operation 1: 0x51 is none of the letters I, S and D'
	# A comment, so text.
	printf '#bin' >bad/0.ops
	binary comment-of-4 'has no operation'
	printf '\0\0\0\0' >bad/0.ops
	binary zeros 'of another format'
	rm -rf bad
	mkdir -p bad/0.ops
	binary directory 'not a regular file'
	# A later file that is bad: nothing is run.
	rm -rf bad
	mkdir bad
	cp small/0.ops bad
	printf 'I 1 1\nQ 1 1\n' >bad/1.txt
	refused later-file 'bad/1.txt:2: Q is none of the letters I, S and D' --replay=bad
}

# Every tree and scheme, by both ways to deal.
test_variants() {
	"$bench" --list | awk '$1 == "variant" { gsub(",", ""); for (i = 3; i <= NF; i++) print $2, $i }' \
		>variants
	while read -r index scheme; do
		case $scheme in
		none) threads=1 ;;
		*) threads=4 ;;
		esac
		case $scheme in
		hle | latch-hle)
			if nm "$bench" | grep -q __tsan_init; then
				skip "$index-$scheme" 'ThreadSanitizer does not see this lock'
				continue
			fi
			;;
		esac
		attempts=$(without_rtm "$scheme")
		bench_run --index="$index" --scheme="$scheme" $attempts --preload=1 --ops=1
		if [ $rc -eq 2 ]; then
			skip "$index-$scheme" "$(cat err)"
			continue
		fi
		for deal in counter share; do
			bench_run --replay=files --index="$index" --scheme="$scheme" $attempts \
				--deal=$deal --threads=$threads --json
			if [ $rc -eq 0 ] && [ ! -s err ] && grep -q '"check":"ok"' out &&
			   grep -q '"ops":9000,' out; then
				ok "$index-$scheme-$deal"
			else
				not_ok "$index-$scheme-$deal" "exit $rc: $(cat out err)"
			fi
		done
	done <variants
}

# The same seed writes the same files, another one others; half of the updates are deletes.
test_generate() {
	"$bench" --generate=again --preload=3000 --ops=9000 --update-rate=50 --seed=3 &&
		"$bench" --generate=other --preload=3000 --ops=9000 --update-rate=50 --seed=4
	if [ "$(ls files)" = "$(printf '%s\n' 0.ops 1.ops 2.ops 3.ops)" ] &&
	   diff -r files again >/dev/null && ! cmp -s files/1.ops other/1.ops; then
		ok seed
	else
		not_ok seed "$(ls files again other)"
	fi
	bench_run --replay=files --json
	if python3 - out 2>err <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
done = {kind: run[kind]["done"] for kind in ("searches", "inserts", "deletes")}
assert sum(done.values()) == run["ops"] == 9000 and run["files"] == 4, run
assert run["load"]["ops"] == 3000 and run["load"]["seconds"] > 0, run
assert run["load"]["cpu_seconds"] > 0 and run["cpu_seconds"] > 0, run
assert all(2000 < done[kind] < 2500 for kind in ("inserts", "deletes")), done
PYTHON
	then
		ok shares
	else
		not_ok shares "$(cat out err)"
	fi
	for rate in 0 100; do
		for preload in 1 2 7; do
			rm -rf few
			bench_run --generate=few --preload=$preload --ops=60 --update-rate=$rate
			[ $rc -ne 0 ] || bench_run --replay=few --index=blink --scheme=latch --threads=3
			if [ $rc -eq 0 ]; then
				ok "few-keys-$preload-rate-$rate"
			else
				not_ok "few-keys-$preload-rate-$rate" "exit $rc: $(cat out err)"
			fi
		done
	done
}

# A disk that is full leaves no file behind.
test_full_disk() {
	mkdir full
	(
		ulimit -f 8
		trap '' XFSZ
		timeout 60 "$bench" --generate=full --preload=3000 --ops=9000 >out 2>err
	)
	rc=$?
	if [ $rc -eq 1 ] && [ -z "$(ls full)" ] && [ "$(wc -l <err)" -eq 1 ] &&
	   grep -q '^index_bench: full/0.ops: File too large$' err; then
		ok full-disk
	else
		not_ok full-disk "exit $rc: $(ls full) $(cat err)"
	fi
}

[ -x "$bench" ] || { not_ok replay "$bench is not built"; finish; }
if ! "$bench" --generate=small --preload=500 --ops=1 ||
   ! "$bench" --generate=files --preload=3000 --ops=9000 --update-rate=50 --seed=3; then
	not_ok replay 'no files'
	finish
fi
test_text
test_bad_text
test_bad_folders
test_bad_binary
test_variants
if command -v python3 >/dev/null; then test_generate; else skip generate 'python3 is not installed'; fi
test_full_disk
finish
