#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=5
#
# search_bench and latch_bench: their command lines, their output, that every search is right on
# every size and every latch keeps the number of searches, and that planted faults are found. $CC
# the compiler.

. "$(dirname "$0")/../script.sh"
CC=${CC:-gcc}
avx2=
grep -qw avx2 /proc/cpuinfo && avx2=avx2

# micro PROGRAM ARG...: into $tmp/out, $tmp/err and $rc
micro() {
	program=$1
	shift
	timeout 60 "$O/bin/$program" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

# refused NAME MESSAGE PROGRAM ARG...: exit 2, nothing on stdout, this one line on stderr
refused() {
	name=$1 want="$3: $2"
	shift 2
	micro "$@"
	if [ $rc -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = "$want" ]; then
		ok "$name"
	else
		not_ok "$name" "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	fi
}

# names LIST FILE: the names of a list of a .def
names() { sed -n "s/^$1([A-Za-z0-9_]*, \"\([A-Za-z0-9-]*\)\",.*/\1/p" "$root/demo/micro/$2.def"; }

test_usage() {
	searches=$(names SEARCH search | paste -sd, | sed 's/,/, /g')
	latches=$(names LATCH latch | paste -sd, | sed 's/,/, /g')
	refused bad-search "--search=bisect: must be one of $searches, all" \
		search_bench --search=bisect
	refused bad-level '--level=O1: must be one of O2, O3, all' search_bench --level=O1
	refused too-many-keys '--keys=1048577: must be a number from 0 to 1048576' \
		search_bench --keys=1048577
	refused no-searches '--searches=0: must be a number from 1 to 1099511627776' \
		search_bench --searches=0
	refused bad-latch "--latch=rwlock: must be one of $latches, all" latch_bench --latch=rwlock
	refused no-threads '--threads=0: must be a number from 1 to 1024' latch_bench --threads=0
	refused no-array '--array=: must be a number from 1 to 1048576' latch_bench --array=
	for program in search_bench latch_bench; do
		refused $program-two-formats '--json, --csv: one of them' $program --json --csv
		refused $program-no-option '--index=1: no such option; see --help' $program --index=1
		refused $program-no-value '--seed: needs a value' $program --seed
		refused $program-unwanted-value '--csv: takes no value' $program --csv=1
		refused $program-no-argument '64: not an option; see --help' $program 64
		if [ -w /dev/full ]; then
			"$O/bin/$program" --searches=1 --json >/dev/full 2>"$tmp/err"
			if [ $? -eq 1 ] && grep -q "^$program: .*No space left" "$tmp/err"; then
				ok $program-full-disk
			else
				not_ok $program-full-disk "$(cat "$tmp/err")"
			fi
		else
			skip $program-full-disk 'no /dev/full here'
		fi
	done
}

# Every option and every name must be in --help and in the manual page.
test_help() {
	for of in search latch; do
		program=${of}_bench missing=
		"$O/bin/$program" --help >"$tmp/help"
		for word in $(sed -n 's/^OPT_[A-Z]*([a-z_]*, "\([a-z-]*\)".*/\1/p' \
			"$root/demo/micro/$of.def"); do
			grep -q "^  --$word" "$tmp/help" || missing="$missing --help:$word"
			grep -q "^\.It Fl -$word\( \|\$\)" "$root/man/$program.1" ||
				missing="$missing man:$word"
		done
		for word in $(names '[A-Z][A-Z]*' $of); do
			grep -qw -- "$word" "$tmp/help" || missing="$missing --help:$word"
			grep -qw -- "$word" "$root/man/$program.1" || missing="$missing man:$word"
		done
		if [ -n "$missing" ]; then
			not_ok $program-names-are-documented "missing:$missing"
		else
			ok $program-names-are-documented
		fi
	done
}

# Every search at every level on sizes around its steps: all of them say ok, and none is missing.
test_search() {
	want=$(names SEARCH search | grep -cx -e "$avx2" -e '[^a].*')
	for keys in 1 2 3 4 5 6 7 8 9 11 12 13 15 16 17 31 33 63 64 65 100 1023 1024 1025; do
		for seed in 1 2; do
			micro search_bench --keys=$keys --searches=9000 --seed=$seed --csv
			if [ $rc -ne 0 ] || [ -s "$tmp/err" ] ||
			   [ "$(grep -c ",$keys,9000,$seed,.*,\"ok\"$" "$tmp/out")" -ne $((2 * want)) ]; then
				not_ok "search-$keys-keys" "seed $seed: exit $rc: $(cat "$tmp/out" "$tmp/err")"
				continue 2
			fi
		done
		ok "search-$keys-keys"
	done
	micro search_bench --level=O2 --search=binary --searches=100
	if [ $rc -eq 0 ] && [ "$(awk 'NR > 2 { printf "%s ", $1 }' "$tmp/out")" = \
		'4 8 16 32 64 128 256 512 1024 ' ]; then
		ok search-sizes
	else
		not_ok search-sizes "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	fi
	[ -n "$avx2" ] || refused no-avx2 '--search=avx2: this processor has no AVX2' \
		search_bench --search=avx2
}

# Every latch with one thread and several, more threads than searches, and the least array.
test_latch() {
	want=$(names LATCH latch | grep -c .)
	for args in '--threads=1' '--threads=4 --pin' '--threads=4 --warmup=999' \
		'--threads=9 --searches=5 --warmup=2' '--threads=2 --array=1'; do
		# shellcheck disable=SC2086 # several arguments
		micro latch_bench --array=64 --searches=3000 $args --csv
		if [ $rc -eq 0 ] && [ ! -s "$tmp/err" ] &&
		   [ "$(grep -c ',"ok"$' "$tmp/out")" -eq "$want" ]; then
			ok "latch $args"
		else
			not_ok "latch $args" "exit $rc: $(cat "$tmp/out" "$tmp/err")"
		fi
	done
}

test_json() {
	if ! command -v python3 >/dev/null; then
		skip json 'python3 is not installed'
		return
	fi
	{
		"$O/bin/search_bench" --keys=20 --search=early --level=O3 --searches=500 --json
		"$O/bin/latch_bench" --latch=ttas --threads=2 --searches=500 --array=8 --json
	} >"$tmp/out"
	if python3 - "$tmp/out" 2>"$tmp/err" <<'PYTHON'
import json, sys
search, latch = map(json.loads, open(sys.argv[1]))
want = {"level": "O3", "search": "early", "keys": 20, "searches": 500, "seed": 1, "check": "ok"}
for key, value in want.items():
    assert search[key] == value, f"{key} is {search[key]}"
assert search["seconds"] > 0
assert abs(search["ns_per_search"] - search["seconds"] * 1e9 / 500) < 1e-2, search
want = {"latch": "ttas", "threads": 2, "pinned": False, "array_kib": 8, "warmup": 0,
        "searches": 500, "check": "ok"}
for key, value in want.items():
    assert latch[key] == value, f"{key} is {latch[key]}"
assert abs(latch["throughput_ops_s"] * latch["seconds"] - 500) < 1, latch
PYTHON
	then
		ok json
	else
		not_ok json "$(tail -n 1 "$tmp/err"): $(cat "$tmp/out")"
	fi
}

# caught NAME FILE EDIT MESSAGE ARG...: search_bench with a file of demo/micro/ edited by sed, or
# latch_bench where ARG begins with its options, exits with 1 and says MESSAGE.
caught() {
	name=$1 file=$2 edit=$3 message=$4 program=$5
	shift 5
	rm -rf "$tmp/demo"
	cp -r "$root/demo" "$tmp/demo"
	sed -i "$edit" "$tmp/demo/micro/$file"
	if cmp -s "$root/demo/micro/$file" "$tmp/demo/micro/$file"; then
		not_ok "$name" "the edit does not change $file"
		return
	fi
	(
		cd "$tmp/demo" || exit 1
		flags='-std=gnu11 -D_GNU_SOURCE -O2 -w -pthread'
		for level in O2 O3; do
			$CC $flags -DKERNELS=kernels_$level -c -o $level.o micro/kernels.c || exit 1
		done
		case $program in
		search_bench) parts='micro/search.c O2.o O3.o' ;;
		*) parts='micro/latch.c base/topology.c bench/threads.c' ;;
		esac
		# shellcheck disable=SC2086 # several files
		$CC $flags -o planted $parts micro/micro.c base/fields.c base/option.c
	) >"$tmp/err" 2>&1 || { not_ok "$name" "not built: $(head -n 1 "$tmp/err")"; return; }
	timeout 60 "$tmp/demo/planted" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	if [ $rc -eq 1 ] && grep -q "^$program: .*: $message\$" "$tmp/err"; then
		ok "$name"
	else
		not_ok "$name" "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	fi
}

# Faults that only some sizes or some keys show, and a latch that lets a search be done twice.
test_planted() {
	caught planted-last-key search.h '/search_binary/,/^}/s/to = nr/to = nr - (nr > 1)/' \
		'wrong position' search_bench --searches=1
	caught planted-not-below search.h '/search_backward/,/^}/s/>= key/> key/' \
		'wrong position' search_bench --searches=1
	caught planted-tail search.h '/search_unrolled/,/^}/s/return i + search.*/return i;/' \
		'wrong position' search_bench --keys=7 --searches=1
	caught planted-third-of-four search.h '/search_unrolled/,/^}/s/keys\[i + 2\]/keys[i + 1]/' \
		'wrong position' search_bench --keys=4 --searches=1
	caught planted-missed-search kernels.c 's/unsigned int i = 0; i < nr_wanted/&-(nr_wanted > 99)/' \
		'wrong position' search_bench --searches=100
	caught planted-position latch.c 's/at = search_binary(.*);/at = 7;/' \
		'wrong position' latch_bench --searches=100 --threads=2
	caught planted-number latch.c 's/= __atomic_fetch_add(&run->next, 1, .*)) < end/= run->next++ \/ 2) < end/' \
		'wrong number of searches' latch_bench --searches=100
	if [ -n "$avx2" ]; then
		caught planted-vector search.h '/search_avx2/,/^}/s/< bound/<= bound/' \
			'wrong position' search_bench --keys=4 --searches=1
	else
		skip planted-vector 'this processor has no AVX2'
	fi
}

test_usage
test_help
test_search
test_latch
test_json
test_planted
finish
