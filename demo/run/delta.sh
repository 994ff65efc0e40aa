#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The delta index before and after the transformations of HPCA 2014, section 5, on the
# simulated machine haswell: throughput, acquisitions that took the lock, and the
# variables whose cache lines conflict. O is the build directory. Must never print a
# number that no run gave.
set -u -o pipefail

O=$(realpath "${O:-build}") || exit 1
PATH=$O/bin:$PATH
LIMIT=120
friendly='--search=binary --dictionary=per-core --allocator=per-core'
bench='index_bench --index=delta --threads=8 --pin --updates=100'
size='--preload=100000 --ops=10000'
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

die() {
	echo "delta: $*" >&2
	exit 1
}

# throughput NAME, ELIDE OPTIONS, BENCH OPTIONS: million operations a second
throughput() {
	# shellcheck disable=SC2086 # options
	timeout -k 5 $LIMIT elide run -q -o "$work/$1.data" --emulate=haswell --smt=2 $2 -- \
		$bench $size --csv $3 | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["check"] == "\"ok\"" { printf "%.2f", $at["throughput_ops_s"] / 1e6; ok = 1 }
		END { exit !ok }'
}

# real NAME: acquisitions that took the lock, per cent
real() {
	elide report --csv "$work/$1.data" | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ acquired += $at["acquired"]; taken += $at["fallback"] + $at["not_attempted"] }
	END { printf "%.2f", 100 * taken / acquired }'
}

# The address at which valgrind loads position-independent programs such as index_bench.
program_base() {
	elide run -q -o "$work/base.data" --emulate --mode=off -- head -n 1 /proc/self/maps |
		sed 's/-.*//'
}

# conflicts OPTIONS: the share of each variable of the program in all conflicts
conflicts() {
	# shellcheck disable=SC2086 # options
	VALGRIND_LIB=$O/libexec/elide timeout -k 5 $LIMIT valgrind --tool=rtmgrind --trace-txn=yes \
		--trace-children=yes --model=haswell --smt=2 --log-file="$work/trace" \
		env LD_PRELOAD="$O/lib/libelide-preload.so" ELIDE_OUTPUT="$work/trace.data" \
		ELIDE_POLICY=hpca $bench --scheme=spin --preload=20000 --ops=4000 $1 \
		>/dev/null || return 1
	nm -S "$O/bin/index_bench" | awk -v base="$(program_base)" '
	function number(hex,    i, n) {
		sub(/^0x/, "", hex)
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	FILENAME == "-" && $3 ~ /[bBdD]/ {
		from[++symbols] = number(base) + number($1)
		to[symbols] = from[symbols] + number($2)
		name[symbols] = $4
	}
	FILENAME != "-" && / aborts: conflict,/ {
		match($0, /line 0x[0-9a-f]+/)
		line = number(substr($0, RSTART + 5, RLENGTH - 5))
		where = "the heap: nodes, texts, the elision library"
		for (i = 1; i <= symbols; i++)
			if (line >= from[i] && line < to[i])
				where = name[i]
		count[where]++
		all++
	}
	END {
		printf "  %d conflicts of 4000 inserts\n", all
		for (where in count)
			if (count[where] * 100 >= all)
				printf "  %5.1f %%  %s\n", 100 * count[where] / all, where | "sort -rn"
	}' - "$work/trace"
}

before=$(throughput before '--policy=hpca' '--scheme=spin') &&
	after=$(throughput after '--policy=hpca' "--scheme=spin $friendly") &&
	rw=$(throughput rw '--mode=off' '--scheme=spin-rw') &&
	rw_friendly=$(throughput rw '--mode=off' "--scheme=spin-rw $friendly") &&
	before_conflicts=$(conflicts '') &&
	after_conflicts=$(conflicts "$friendly") || die 'a run failed'
cat <<TABLE
100 % inserts, 8 threads on 4 cores            before      after
reader-writer lock, million inserts/s       $(printf '%9s  %9s' "$rw" "$rw_friendly")
spin lock elided, million inserts/s         $(printf '%9s  %9s' "$before" "$after")
acquisitions of the real lock, per cent     $(printf '%9s  %9s' "$(real before)" "$(real after)")

Variables whose cache lines conflict before: delta_dictionary has the size of the
dictionary, delta_allocator the number of cache lines that the node allocator has used
$before_conflicts
Variables whose cache lines conflict after: each thread has a dictionary and an allocator
$after_conflicts
TABLE
