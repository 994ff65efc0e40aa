#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, figures of make bench
#
# What the library and the emulator cost, and what eliding gains: each case
# with and without, in turn, medians side by side; in the section pairs the best
# turns. Figures only, no test: a missed limit is printed and does not fail. Text
# to stdout, CSV to $O/bench.csv. O is the build directory, ROUNDS the runs of
# each kind, the arguments the sections wanted: pairs cycles program emulator
# native index report start crowds; without arguments all but crowds.
#
# PAIRS chooses rows and columns of the section pairs (tests/bench/turns.c), for
# example: make bench BENCH=pairs PAIRS="kind=mutex n=1,1000 mode=profile"
# Words: kind=LIST n=LIST classes=LIST mode=LIST seconds=NUMBER; kinds: mutex
# mutex-alone mutex-trylock mutex-recursive mutex-errorcheck mutex-nested rdlock
# wrlock spin spin-trylock, and the whole programs threads alive life many trees;
# modes: off profile restrict, with RTM elide fixed. CSV: $O/bench-pairs.csv.
set -u

O=$(cd "${O:-build}" && pwd) || exit 1
ROUNDS=${ROUNDS:-9}
lib=$O/lib/libelide-preload.so
index_bench=$O/bin/index_bench
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
samples=$tmp/samples
: >"$samples"

die() { echo "bench: $*" >&2; exit 1; }

# Runs the next command and prints what it took, if not empty.
measured=

# with HOW COMMAND...: a command in one of the ways that are compared. Two
# minutes: ten times what the longest takes.
with() {
	how=$1
	shift
	case $how in
	plain) set -- "$@" ;;
	profile) set -- env LD_PRELOAD="$lib" ELIDE_MODE=profile "$@" ;;
	fixed) set -- env LD_PRELOAD="$lib" ELIDE_MODE=elide ELIDE_POLICY=fixed "$@" ;;
	adaptive) set -- env LD_PRELOAD="$lib" ELIDE_MODE=elide ELIDE_POLICY=adaptive "$@" ;;
	none) set -- valgrind -q --tool=none "$@" ;;
	cachegrind) set -- valgrind -q --tool=cachegrind --cache-sim=yes \
		--cachegrind-out-file=/dev/null "$@" ;;
	rtmgrind) set -- env VALGRIND_LIB="$O/libexec/elide" valgrind -q --tool=rtmgrind "$@" ;;
	haswell) set -- env VALGRIND_LIB="$O/libexec/elide" valgrind -q --tool=rtmgrind \
		--model=haswell "$@" ;;
	esac
	# shellcheck disable=SC2086 # nothing, or a program that runs the rest
	ELIDE_OUTPUT=$tmp/elide.data timeout 120 $measured "$@" >"$tmp/out" 2>"$tmp/err" ||
		die "$how: $*: exit $?: $(tail -n 3 "$tmp/err")"
}

# in_turn NR HOW HOW SAMPLER ARG...: NR rounds, the one that goes first changing.
in_turn() {
	left=$1 a=$2 b=$3
	shift 3
	while [ "$left" -gt 0 ]; do
		if [ $((left % 2)) -eq 0 ]; then
			"$@" "$a" && "$@" "$b"
		else
			"$@" "$b" && "$@" "$a"
		fi
		left=$((left - 1))
	done
}

# Samplers. ... HOW: run once, append lines "case,unit,how,value" to $samples.
sample_kccachetest() {
	with "$1" kccachetest wicked -th 4 200000
	awk -v how="$1" '/^time:/ { s += $2 } END {
		printf "kccachetest wicked -th 4 200000,s,%s,%f\n", how, s
	}' "$tmp/out" >>"$samples"
}

# RocksDB, 8 threads: the log's queue of writers, and the cache of blocks.
sample_rocksdb() {
	rm -rf "$tmp/rocksdb"
	with "$1" db_bench --benchmarks=fillrandom,readrandom --threads=8 --num=15000 \
		--db="$tmp/rocksdb"
	awk -v how="$1" '$4 == "micros/op" {
		printf "db_bench %s --threads=8,us,%s,%f\n", $1, how, $3
	}' "$tmp/out" >>"$samples"
}

# A server with 4 threads, for 2 s, and its load, which is not preloaded.
memcached_run='port=$(env -u LD_PRELOAD python3 -c "import socket
s = socket.socket()
s.bind((\"127.0.0.1\", 0))
print(s.getsockname()[1])")
memcached -u "$(id -un)" -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 64 >/dev/null &
server=$!
unset LD_PRELOAD
tries=50
until memcping --servers="127.0.0.1:$port" >/dev/null 2>&1 || [ $((tries -= 1)) -eq 0 ]; do
	sleep 0.1
done
memcaslap -s "127.0.0.1:$port" -T 2 -c 32 -t 2s
kill "$server"
wait "$server"
exit 0'
sample_memcached() {
	with "$1" sh -c "$memcached_run"
	awk -v how="$1" '/TPS:/ { for (i = 1; i < NF; i++) if ($i == "TPS:") tps = $(i + 1) } END {
		if (tps) printf "memcached -t 4,us,%s,%f\n", how, 1000000 / tps
	}' "$tmp/out" >>"$samples"
}

emulated_args='--threads=1 --preload=100000 --ops=4000000 --updates=20'
# The guest's clock is simulated, so the host's is read here; starting up is part of it.
sample_emulator() {
	start=$(date +%s%N)
	# shellcheck disable=SC2086 # several arguments
	with "$1" "$index_bench" $emulated_args
	end=$(date +%s%N)
	echo "index_bench $emulated_args,s,$1,$(((end - start) / 1000))e-6" >>"$samples"
	start=$(date +%s%N)
	with "$1" xz -T1 -1 -k -c "$tmp/plain"
	end=$(date +%s%N)
	echo "xz -1 of 3 MB,s,$1,$(((end - start) / 1000))e-6" >>"$samples"
}

# Programs of four threads that hardly meet; the file comes behind. Processor time, as the host's
# other work does not count then.
sample_threads() {
	for command in "lbzip2 -n4 -k -c" "pigz -p4 -k -c" "xz -T4 -1 --block-size=262144 -k -c" \
		"zstd -q -T4 -9 -B262144 -k -c"; do
		command -v "${command%% *}" >/dev/null || continue
		measured=$O/tests/bench/peak
		# shellcheck disable=SC2086 # several arguments
		with "$1" $command "$tmp/large"
		measured=
		echo "$command,CPU-s,$1,$(cut -d ' ' -f 3 "$tmp/out")" >>"$samples"
	done
}

# spawned CASE HOW NR PROGRAM...: per start, by the clock and in processor time.
spawned() {
	what=$1 by=$2 starts=$3
	shift 3
	timeout 120 "$O/tests/bench/spawn" "$starts" "ELIDE_OUTPUT=$tmp/elide.data" "$@" \
		>"$tmp/out" 2>"$tmp/err" || die "$what: $(tail -n 3 "$tmp/err")"
	# The last line, as the program may have printed, too.
	awk -v what="$what" -v by="$by" -v nr="$starts" 'END {
		printf "%s,us,%s,%f\n%s (CPU),us,%s,%f\n", what, by, $1 / nr, what, by, $2 / nr
	}' "$tmp/out" >>"$samples"
}

# How long a program takes that does nothing.
sample_start() {
	many="$O/tests/bench/spawn 200 true"
	case $1 in
	plain)
		spawned 'elide run true' plain 10 true
		spawned 'true with the library' plain 10 true
		# shellcheck disable=SC2086 # a command and its arguments
		spawned '200 programs of a run' plain 1 $many
		;;
	*)
		spawned 'elide run true' ours 10 "$O/bin/elide" run -q -o "$tmp/run.data" -- true
		spawned 'true with the library' ours 10 "LD_PRELOAD=$lib" true
		# shellcheck disable=SC2086
		spawned '200 programs of a run' ours 1 "$O/bin/elide" run -q -o "$tmp/run.data" -- $many
		;;
	esac
}

# sample_index SCHEME UPDATES HOW
sample_index() {
	with "$3" "$index_bench" --scheme="$1" --updates="$2" --threads=2 --ops=1000000 --json
	grep -q '"check":"ok"' "$tmp/out" || die "$3: $(cat "$tmp/out")"
	sed "s|.*\"throughput_ops_s\":\([0-9]*\).*|$1 $2 % updates,ops/s,$3,\1|" "$tmp/out" \
		>>"$samples"
}

# table NAME BASE OURS BETTER LIMITS: print the samples as a table and forget
# them. BETTER is "less" or "more". LIMITS: lines "case<=ratio".
table() {
	rounds=$(cut -d, -f1,3 "$samples" | sort | uniq -c | awk 'NR == 1 { print $1 }')
	printf '\n%s (%s rounds)\n' "$1" "$rounds"
	awk -F, -v name="$1" -v base="$2" -v ours="$3" -v better="$4" -v limits="$5" \
		-v csv="$O/bench.csv" '
	function median(key, n, i, j, t, v) {
		n = count[key]
		for (i = 1; i <= n; i++)
			v[i] = sample[key, i]
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j - 1] > v[j]; j--) {
				t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
			}
		return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
	}
	function show(x) { return x < 100 ? sprintf("%.2f", x) : sprintf("%.0f", x) }
	BEGIN {
		n = split(limits, line, "\n")
		for (i = 1; i <= n; i++)
			if (split(line[i], part, "<=") == 2)
				limit[part[1]] = part[2]
		printf "%-68s %5s %10s %10s %6s %6s  %s\n", "case", "unit", base, ours,
			"ratio", "limit", "verdict"
	}
	{
		if (!(($1) in unit))
			order[++cases] = $1
		unit[$1] = $2
		sample[$1, $3, ++count[$1, $3]] = $4 + 0
	}
	END {
		for (i = 1; i <= cases; i++) {
			c = order[i]
			a = median(c SUBSEP base)
			b = median(c SUBSEP ours)
			ratio = b / a
			l = c in limit ? limit[c] : "-"
			# Without a limit, 5 % is what medians of a few runs differ by anyway.
			gain = better == "more" ? ratio : 1 / ratio
			if (l != "-")
				verdict = ratio <= l + 0 ? "reached" : "missed"
			else
				verdict = gain > 1.05 ? "faster" : gain < 0.95 ? "slower" : "same"
			printf "%-68s %5s %10s %10s %6.2f %6s  %s\n",
				c, unit[c], show(a), show(b), ratio, l, verdict
			printf "%s,%s,%s,%s,%.6g,%s,%.6g,%.4f,%s,%s,%d\n",
				name, c, unit[c], base, a, ours, b, ratio, l, verdict,
				count[c, base] >>csv
		}
	}' "$samples"
	: >"$samples"
}

# Natively: nanoseconds of processor time, the best of turns.
bench_pairs() {
	printf '\nUncontended pairs, and programs that do little else: best turns, processor time\n'
	# shellcheck disable=SC2086 # several words
	"$O/tests/bench/turns" "$O/tests/bench/pairs" "$O/tests/bench/programs" "$index_bench" \
		"$lib" "$tmp" "$O/bench-pairs.csv" ${PAIRS:-} || die 'pairs: no table'
	echo "CSV of this table: $O/bench-pairs.csv"
}

# The policies' names in the table of virtual cycles; glibc's own elision is without the library.
ways='plain glibc-own never fixed adaptive'

# cycles_of WAY: "case,unit,way,cycles" in virtual time, the same in each run.
cycles_of() {
	emulated="$O/bin/elide run -q --emulate=flat --cores=1 -o $tmp/elide.data"
	case $1 in
	plain) set -- "$1" env VALGRIND_LIB="$O/libexec/elide" valgrind -q --tool=rtmgrind ;;
	glibc-own) set -- "$1" env GLIBC_TUNABLES=glibc.elision.enable=1 \
		VALGRIND_LIB="$O/libexec/elide" valgrind -q --tool=rtmgrind ;;
	# shellcheck disable=SC2086 # a command and its arguments
	*) set -- "$1" $emulated "--policy=$1" -- ;;
	esac
	way=$1
	shift
	timeout 120 "$@" "$O/tests/bench/pairs" >"$tmp/out" 2>"$tmp/err" ||
		die "$way: exit $?: $(tail -n 3 "$tmp/err")"
	sed "s/^\(.*\),\([0-9]*\),\([0-9.]*\)$/\1 of \2,cycles,$way,\3/" "$tmp/out" >>"$samples"
}

# A cycle is a nanosecond on the flat machine, which runs at 1 GHz.
bench_cycles() {
	title='Uncontended pairs in virtual cycles, flat machine, one thread'
	if [ ! -e "$O/libexec/elide/rtmgrind-amd64-linux" ] || ! command -v valgrind >/dev/null; then
		printf '\n%s: left out, rtmgrind is not built or valgrind not installed\n' "$title"
		return
	fi
	for way in $ways; do
		cycles_of "$way"
	done
	printf '\n%s\n' "$title"
	awk -F, -v ways="$ways" -v title="$title" -v csv="$O/bench.csv" '
	BEGIN {
		n = split(ways, way, " ")
		printf "%-30s", "case"
		for (i = 1; i <= n; i++)
			printf " %10s", way[i]
		printf "  %s\n", "fixed beyond glibc-own"
	}
	!($1 in seen) { seen[$1]; order[++cases] = $1 }
	{ cycles[$1, $3] = $4 }
	END {
		for (c = 1; c <= cases; c++) {
			printf "%-30s", order[c]
			for (i = 1; i <= n; i++) {
				printf " %10.1f", cycles[order[c], way[i]]
				if (i > 1)
					printf "%s,%s,cycles,plain,%.1f,%s,%.1f,%.4f,-,-,1\n", title,
						order[c], cycles[order[c], "plain"], way[i],
						cycles[order[c], way[i]],
						cycles[order[c], way[i]] / cycles[order[c], "plain"] >>csv
			}
			printf "  %10.1f\n", cycles[order[c], "fixed"] - cycles[order[c], "glibc-own"]
		}
	}' "$samples"
	: >"$samples"
}

bench_program() {
	if ! command -v kccachetest >/dev/null; then
		printf '\nA whole program in profile mode: left out, kccachetest is not installed\n'
		return
	fi
	# Its keys differ from run to run, and its time by a tenth: many short runs.
	in_turn $((5 * ROUNDS)) plain profile sample_kccachetest
	table 'A whole program in profile mode' plain profile less \
		'kccachetest wicked -th 4 200000<=1.05'
}

bench_emulator() {
	if [ ! -e "$O/libexec/elide/rtmgrind-amd64-linux" ] || ! command -v valgrind >/dev/null; then
		printf '\nThe emulator: left out, rtmgrind is not built or valgrind not installed\n'
		return
	fi
	# The same input for all.
	cat "$O"/bin/* "$O"/lib/*.so /bin/bash | head -c 3000000 >"$tmp/plain"
	in_turn $(((ROUNDS + 1) / 2)) none rtmgrind sample_emulator
	table 'The emulator outside transactions, without caches, not elided' none rtmgrind less \
		"index_bench $emulated_args<=1.3
xz -1 of 3 MB<=1.3"
	cat "$O"/bin/* "$O"/lib/*.so /bin/bash /usr/lib/x86_64-linux-gnu/libc.so.6 |
		head -c 8000000 >"$tmp/large"
	in_turn $(((ROUNDS + 1) / 2)) none rtmgrind sample_threads
	awk -F, '{ s[$1, $3] += $4; names[$1] } END {
		for (c in names) { n++; sum += log(s[c, "rtmgrind"] / s[c, "none"]) }
		if (n) printf "\nFour threads that hardly meet: geometric mean %.2f, limit 2\n", exp(sum / n)
	}' "$samples"
	table 'The emulator with four threads that hardly meet, not elided' none rtmgrind less \
		'lbzip2 -n4 -k -c<=2
pigz -p4 -k -c<=2
xz -T4 -1 --block-size=262144 -k -c<=2
zstd -q -T4 -9 -B262144 -k -c<=2'
	in_turn $(((ROUNDS + 1) / 2)) cachegrind haswell sample_emulator
	table 'The emulator with caches, not elided' cachegrind haswell less \
		"index_bench $emulated_args<=2
xz -1 of 3 MB<=2"
}

bench_start() {
	in_turn "$ROUNDS" plain ours sample_start
	table 'How long a program takes that does nothing' plain ours less \
		'elide run true<=4
elide run true (CPU)<=4
true with the library<=1.5
true with the library (CPU)<=1.5
200 programs of a run<=1.2
200 programs of a run (CPU)<=1.2'
}

bench_native() {
	if ! grep -qw rtm /proc/cpuinfo; then
		printf '\nElided on this processor: left out, it has no RTM\n'
		return
	fi
	schemes=$("$index_bench" --list | awk '$1 == "scheme" && /one global pthread / { print $2 }')
	for policy in fixed adaptive; do
		for scheme in $schemes; do
			for updates in 0 5 20 100; do
				in_turn "$ROUNDS" plain $policy sample_index "$scheme" $updates
			done
		done
		table "index_bench, 2 threads, elided on this processor, policy $policy" \
			plain $policy more ''
	done
}

# Threads that want the same lock. In a session of its own a program has the same part of the
# processors beside other sessions, whatever the number of its threads: see autogroup in sched(7).
crowd_cases='mutex-short mutex-medium mutex-hash mutex-long rwlock-write rwlock-mixed spin-short spin-medium'
sample_crowd() {
	measured='setsid -w'
	with "$3" "$O/tests/bench/crowdbench" "$1" "$2" "${CROWD_MS:-200}"
	measured=
	awk -F, -v how="$3" '{
		printf "%s %d threads,sections/ms,%s,%s\n", $1, $2, how, $3
		printf "%s %d threads (CPU),sections/CPU-ms,%s,%s\n", $1, $2, how, $4
	}' "$tmp/out" >>"$samples"
}

# Without RTM --mode=elide restricts the threads; with it, this has the gain of elision, too.
bench_crowds() {
	title='Threads that want the same lock in mode elide'
	# Case by case: what else the machine does changes within seconds.
	for case in $crowd_cases; do
		for threads in 2 4 8 16 32 64; do
			in_turn "$ROUNDS" plain adaptive sample_crowd $case $threads
		done
	done
	table "$title" plain adaptive more ''
	# A row without a section at all is the worst, and has no logarithm.
	awk -F, -v title="$title" '$1 == title {
		if ($2 ~ /CPU/) { c++; cpu += log($8 > 0.001 ? $8 : 0.001); next }
		if (!n++ || $8 < worst) { worst = $8; at = $2 }
		if ($2 ~ /^mutex/) { m++; sum += log($8 > 0.001 ? $8 : 0.001); if ($8 > best) { best = $8; where = $2 } }
	} END {
		printf "worst row %.2f (%s; goal 0.98), mutex rows: geometric mean %.2f (goal 1.1), best %.2f (%s; goal 1.3)\n",
			worst, at, exp(sum / m), best, where
		printf "by processor time: geometric mean of all rows %.2f\n", exp(cpu / c)
	}' "$O/bench.csv"
	! command -v kccachetest >/dev/null || in_turn "$ROUNDS" plain adaptive sample_kccachetest
	! command -v db_bench >/dev/null || in_turn "$ROUNDS" plain adaptive sample_rocksdb
	! command -v memcaslap >/dev/null || ! command -v memcached >/dev/null ||
		in_turn "$ROUNDS" plain adaptive sample_memcached
	[ ! -s "$samples" ] || table 'Whole programs in mode elide' plain adaptive less ''
}

# Both run in one process, the one that goes first changing from round to round.
bench_index() {
	if [ ! -x "$O/tests/bench/index" ]; then
		printf '\nThe trees beside absl::btree_map: left out, libabsl-dev is not installed\n'
		return
	fi
	"$O/bin/index_bench" --list | awk '$1 == "variant" && $2 != "delta" {
		gsub(",", ""); print $2, / none/ ? "none" : $3 }' >"$tmp/trees"
	while read -r tree scheme; do
		timeout 600 "$O/tests/bench/index" 4000000 "$ROUNDS" "$tree" "$scheme" \
			>"$tmp/out" 2>"$tmp/err" || die "index: exit $?: $(tail -n 3 "$tmp/err")"
		awk -F, -v tree="$tree" '{
			printf "%s %s 4000000 random keys,ops/s,absl,%s\n", tree, $1, $3
			printf "%s %s 4000000 random keys,ops/s,tree,%s\n", tree, $1, $2
		}' "$tmp/out" >>"$samples"
	done <"$tmp/trees"
	table 'Trees beside absl::btree_map, one thread' absl tree more ''
}

# What the report on a large file takes: seconds and MiB, each with the limit it has.
bench_report() {
	title='The report on 100,000 locks and 1,000,000 call sites'
	"$O/tests/tools/mkdata" "$tmp/large.data" large 100000 1000000 || die 'no room for the large file'
	printf '\n%s, a file of %s MiB\n%-28s %8s %8s %8s\n' "$title" \
		$(($(wc -c <"$tmp/large.data") >> 20)) '' seconds CPU-s MiB
	for options in '' '--by lock' '--sort aborts' '--json --top 20'; do
		: >"$tmp/peaks"
		for round in $(seq "$ROUNDS"); do
			# shellcheck disable=SC2086 # several options
			timeout 120 "$O/tests/bench/peak" "$O/bin/elide" report --width 120 $options \
				"$tmp/large.data" >>"$tmp/peaks" || die "report $options: round $round"
		done
		seconds=$(cut -d ' ' -f 1 "$tmp/peaks" | sort -n | sed -n "$(((ROUNDS + 1) / 2))p")
		peak=$(cut -d ' ' -f 2 "$tmp/peaks" | sort -n | tail -n 1)
		cpu=$(cut -d ' ' -f 3 "$tmp/peaks" | sort -n | sed -n "$(((ROUNDS + 1) / 2))p")
		printf '%-28s %8s %8s %8s\n' "report $options" "$seconds" "$cpu" "$peak"
		for figure in "s,$seconds,2" "MiB,$peak,300"; do
			unit=${figure%%,*} limit=${figure##*,} value=${figure#*,}
			value=${value%,*}
			verdict=$(awk -v v="$value" -v l="$limit" 'BEGIN { print v <= l ? "ok" : "MISSED" }')
			[ "$verdict" = ok ] || printf '  more than %s %s\n' "$limit" "$unit"
			echo "$title,report $options,$unit,,,ours,$value,,<=$limit,$verdict,$ROUNDS" |
				sed 's/100,000/100000/; s/1,000,000/1000000/' >>"$O/bench.csv"
		done
	done
	rm "$tmp/large.data"
}

[ -e "$lib" ] || die "$lib is not built"
echo "table,case,unit,base,base_median,ours,ours_median,ratio,limit,verdict,rounds" >"$O/bench.csv"
echo "Medians of runs in turn, on $(nproc) processors."
[ $# -gt 0 ] || set -- pairs cycles program emulator native index report start
for section; do
	case $section in
	pairs | cycles | program | emulator | native | index | report | start | crowds) "bench_$section" ;;
	*) die "$section is no section: pairs, cycles, program, emulator, native, index, report, start, crowds" ;;
	esac
done
printf '\nThe same figures as CSV: %s\n' "$O/bench.csv"
