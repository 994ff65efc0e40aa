#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=80
#
# tatp_bench: its command line, its output, that its database is exact under every option, and
# recovery after a kill and of logs that are damaged.

. "$(dirname "$0")/bench.sh"
bench=$O/bin/tatp_bench
log=$tmp/log

# exact NAME ARG...: exit 0, check "ok", nothing on stderr, all transactions.
exact() {
	name=$1
	shift
	bench_run "$@" --subscribers=1000 --operations=8000 --json
	if [ $rc -eq 0 ] && [ ! -s "$tmp/err" ] && grep -q '"check":"ok"' "$tmp/out" &&
	   grep -q '"transactions":8000[,}]' "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$* : exit $rc: $(cat "$tmp/out" "$tmp/err")"
	fi
}

# holds NAME EXPRESSION: of the JSON object of the last run.
holds() {
	if [ "$(jq "$2" "$tmp/out" 2>"$tmp/err")" = true ]; then
		ok "$1"
	else
		not_ok "$1" "not $2: $(cat "$tmp/out" "$tmp/err")"
	fi
}

fresh() { rm -f "$log" "$log.pages"; }

test_usage() {
	refused unknown-option '--threads-count: no such option; see --help' --threads-count
	refused unknown-letter '-x: no such option; see --help' -x
	refused not-an-option 'tatp: not an option; see --help' tatp
	refused no-value '--mix: needs a value' --mix
	refused unwanted-value '--json: takes no value' --json=1
	refused bad-mix "--mix=tpcc: must be one of $(in_words mix)" --mix=tpcc
	refused bad-keys "--keys=zipf: must be one of uniform, nurand" --keys=zipf
	refused bad-sli '--sli=1: must be one of off, on' --sli=1
	for value in 0 -1 1025 4x '' 99999999999999999999; do
		refused "threads=$value" "--threads=$value: must be a number from 1 to 1024" \
			"--threads=$value"
	done
	refused subscribers=0 '--subscribers=0: must be a number from 1 to 10000000' --subscribers=0
	refused subscribers=10000001 \
		'--subscribers=10000001: must be a number from 1 to 10000000' --subscribers=10000001
	refused operations=0 '--operations=0: must be a number from 1 to 1099511627776' \
		--operations=0
	refused empty-log '--log=: must not be empty' --log=
	refused json-csv '--json, --csv: one of them' --json --csv
	refused duration-operations '--duration, --milliseconds, --operations: one of them' \
		--duration=1 --operations=5
	refused duration-milliseconds '--duration, --milliseconds, --operations: one of them' \
		--duration=1 --milliseconds=5
	refused interval '--interval: needs --timeline=FILE' --interval=10
	refused recover-warmup '--warmup: not with --recover' --recover --log="$log" --warmup=1
	refused bad-locks '--locks=none: not plain, selected, all or tree' --locks=none
	refused bad-role "--latch=pages=mcs: there is no such role; there are $(in_words role)" \
		--latch=pages=mcs
	refused bad-kind "--latch=page=ticket: there is no such kind of latch; there are $(in_words kind)" \
		--latch=page=ticket
	refused none '--latch=page=none: several threads would destroy the database' \
		--latch=page=none
	refused no-kind '--latch=page: not ROLE=KIND' --latch=page
	refused bad-means '--means=preload: not inline or api' --means=preload
	refused bad-fences '--fences=half: not full or none' --fences=half
	refused bad-latch-stats '--latch-stats=none: not shared or thread' --latch-stats=none
	refused recover-memory '--recover: needs --log=FILE' --recover --log=memory
	refused recover-mix '--mix: not with --recover' --recover --log="$log" --mix=tatp
	refused no-folder "--log=$tmp/none/log: No such file or directory" --log="$tmp/none/log"
	bench_run --operations=1099511627776
	case $rc:$(cat "$tmp/err") in
	'2:tatp_bench: --subscribers=80000, --operations: need up to '*' MiB of memory, and there are '*)
		ok too-large ;;
	*) not_ok too-large "exit $rc: $(cat "$tmp/err")" ;;
	esac
}

test_options() {
	for mix in $(names mix); do exact "mix-$mix" --mix="$mix"; done
	for sli in on off; do
		for keys in uniform nurand; do
			exact "sli-$sli-$keys" --sli=$sli --keys=$keys --threads=4
		done
	done
	for locks in plain selected all tree; do
		exact "locks-$locks" --locks=$locks --threads=4 --latch-stats=thread
	done
	for kind in $(names kind | grep -v '^none$'); do
		for role in $(names role); do set -- "$@" "--latch=$role=$kind"; done
		exact "all-roles-$kind" --threads=4 "$@"
		set --
	done
	exact none --latch=page=none --latch=log_insert=none --helpers=off
	exact fences --fences=full --means=api --locks=all
	exact helpers-off --helpers=off --threads=2
	exact pin --pin --threads=2
	exact one-subscriber-seed --seed=99 --threads=3
	for group in on off; do
		fresh
		exact "file-group-$group" --log="$log" --group-commit=$group --threads=4 \
			--mix=update-location
	done
	bench_run --subscribers=100 --duration=1 --threads=2 --json
	holds duration '.seconds > 0.5 and .seconds < 60 and .check == "ok" and .transactions > 100'
}

# placeholder OPTION VALUE: what --help calls the value of an option
placeholder() {
	if grep -q "^  --$1=$2 " "$tmp/help"; then
		ok "help-$1"
	else
		not_ok "help-$1" "$(grep -- "--$1" "$tmp/help")"
	fi
}

test_help() {
	"$bench" --help >"$tmp/help"
	placeholder locks NAME
	placeholder latch ROLE=KIND
	placeholder means NAME
	placeholder log FILE
}

# What a database engineer asks of a run besides its throughput. Operations of the warm-up are in no
# number, but the content of the database is compared with them, too.
test_measures() {
	bench_run --subscribers=500 --threads=3 --operations=9000 --warmup=3001 --latency --json \
		--timeline="$tmp/timeline" --interval=1
	holds warmup '.transactions == 9000 and .warmup == 3001 and .check == "ok" and
		([.. | .done? // empty] | add) == 9000'
	holds warmup-sections '.sections.checkpoint_gate >= 9000 and .sections.checkpoint_gate < 18000'
	holds latency '[.. | select(.p50_ns?)] | length == 7 and
		all(.[]; 0 < .p50_ns and .p50_ns <= .p90_ns and .p90_ns <= .p95_ns and
			.p95_ns <= .p99_ns and .p99_ns <= .p999_ns and .p999_ns <= .max_ns)'
	holds fairness '.thread_tps | 0 < .least and .least <= .mean and .mean <= .most'
	holds processor-time '.cpu_user_seconds + .cpu_system_seconds > 0'
	if [ "$(awk -F, 'NR == 1 { print $1, $2 } NR > 1 { n += $2 } END { print n }' "$tmp/timeline" |
		xargs)" = 'ms transactions 9000' ]; then
		ok timeline
	else
		not_ok timeline "$(cat "$tmp/timeline")"
	fi
	bench_run --subscribers=500 --threads=2 --milliseconds=50 --latency
	[ $rc -eq 0 ] && grep -q '^    p50 [0-9]*, p90 .* ns$' "$tmp/out" && ok milliseconds-text ||
		not_ok milliseconds-text "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	refused timeline-refused '--timeline=/no/such/file: No such file or directory' \
		--timeline=/no/such/file
	# A latch that is free costs no clock reading; one that is held is waited for.
	bench_run --subscribers=500 --operations=5000 --helpers=off --json
	holds no-waits '([.waits[]] | add) == 0 and ([.wait_ns[]] | add) == 0'
	bench_run --subscribers=500 --milliseconds=50 --json
	holds milliseconds '.seconds > 0.04 and .seconds < 30 and .check == "ok"'
}

# More threads than processors: one line says so.
test_warning() {
	timeout 60 taskset -c "$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" "$bench" --subscribers=10 \
		--operations=100 --threads=2 >"$tmp/out" 2>"$tmp/err"
	if [ "$(cat "$tmp/err")" = \
		'tatp_bench: warning: --threads=2 on 1 processor: threads also wait for a processor' ]; then
		ok warning
	else
		not_ok warning "$(cat "$tmp/err")"
	fi
}

# Helpers that sleep are woken at the end: the cleaner alone would sleep for 50 ms.
test_end() {
	least=999999999
	for _ in 1 2 3 4 5; do
		begin=$(date +%s%N)
		"$bench" --subscribers=10 --operations=10 --json >"$tmp/out"
		took=$((($(date +%s%N) - begin) / 1000000))
		[ $took -lt $least ] && least=$took
	done
	if [ $least -lt 45 ]; then ok end; else not_ok end "the fastest of five took $least ms"; fi
}

# The same seed gives the same transactions; another one gives others.
test_seed() {
	for seed in 1 1 2; do
		bench_run --subscribers=500 --operations=5000 --seed=$seed --csv
		sed 1d "$tmp/out" | cut -d, -f 14-35 >>"$tmp/seeds"
	done
	if [ "$(sed -n 1p "$tmp/seeds")" = "$(sed -n 2p "$tmp/seeds")" ] &&
	   [ "$(sed -n 2p "$tmp/seeds")" != "$(sed -n 3p "$tmp/seeds")" ]; then
		ok seed
	else
		not_ok seed "$(cat "$tmp/seeds")"
	fi
}

# The critical sections of an update of one row: about 70 by Cervini et al., section 3, without
# inheritance; with it those of the locks above pages go.
test_sections() {
	for sli in on off; do
		bench_run --mix=update-location --operations=20000 --helpers=off --sli=$sli --json
		holds "sections-sli-$sli" '.sections_each >= 50 and .sections_each <= 90'
	done
	bench_run --mix=getsub --operations=20000 --helpers=off --json
	holds size '.page_bytes >= 110000000 and .page_bytes <= 130000000'
	holds getsub-logs-nothing '.log_bytes == 0 and .sections.log_insert == 0'
	holds inherits '.locks.reused > 59000 and .locks.waits == 0'
	bench_run --mix=getsub --operations=20000 --helpers=off --json --sli=off
	holds no-sli '.locks.inherited == 0 and .locks.reused == 0'
}

# What a run that is over has left is what recovery finds.
test_recover() {
	fresh
	bench_run --log="$log" --subscribers=300 --operations=3000 --threads=3 --json
	holds file-run '.check == "ok"'
	refused exists "--log=$log: it or its .pages exists; --recover reads it" --log="$log"
	for time in 1 2; do
		bench_run --log="$log" --recover --json
		holds "recover-$time" '.check == "ok" and .subscribers == 300 and .rolled_back == 0'
	done
	bench_run --log="$log" --recover
	grep -q 'recovered 300 subscribers, seed 1' "$tmp/out" && ok recover-text ||
		not_ok recover-text "$(cat "$tmp/out" "$tmp/err")"
}

# A process that is killed while it runs: each commit that was durable is in the log, and the
# database is whole. The unit test compares its content.
test_kill() {
	for round in 1 2 3; do
		fresh
		"$bench" --log="$log" --subscribers=300 --duration=60 --threads=4 --seed=$round \
			>"$tmp/out" 2>&1 &
		pid=$!
		while [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt 200000 ]; do sleep 0.05; done
		kill -KILL $pid
		wait $pid 2>/dev/null
		bench_run --log="$log" --recover --json
		holds "kill-$round" '.check == "ok" and .committed > 0'
	done
}

# The signal of Ctrl-C ends the run early; its results and its log are whole.
test_interrupt() {
	fresh
	"$bench" --log="$log" --subscribers=300 --duration=60 --threads=2 --json \
		>"$tmp/out" 2>"$tmp/err" &
	pid=$!
	while [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt 100000 ]; do sleep 0.05; done
	kill -INT $pid
	wait $pid
	rc=$?
	if [ $rc -eq 130 ]; then ok interrupt-status; else not_ok interrupt-status "exit $rc"; fi
	holds interrupt '.interrupted and .check == "ok" and .transactions > 0 and .seconds < 60'
	bench_run --log="$log" --recover --json
	holds interrupt-recovers '.check == "ok"'
}

# edit NAME MESSAGE PYTHON: a copy of the log and the pages is edited; the message is said.
edit() {
	cp "$log" "$tmp/edited"
	cp "$log.pages" "$tmp/edited.pages"
	python3 - "$tmp/edited" <<END
import os, sys
path = sys.argv[1]
log = open(path, "r+b")
pages = open(path + ".pages", "r+b")
def flip(file, at):
    file.seek(at)
    byte = file.read(1)[0]
    file.seek(at)
    file.write(bytes([byte ^ 16]))
$3
END
	bench_run --log="$tmp/edited" --recover
	if [ $rc -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
	   grep -q "^tatp_bench: --log=$tmp/edited: $2" "$tmp/err"; then
		ok "$1"
	else
		not_ok "$1" "exit $rc: $(cat "$tmp/out" "$tmp/err")"
	fi
}

# A killed run, so that the log has records after its last checkpoint.
test_damage() {
	fresh
	"$bench" --log="$log" --subscribers=100 --duration=60 --mix=update-location --helpers=off \
		>"$tmp/out" 2>&1 &
	pid=$!
	while [ "$(stat -c %s "$log" 2>/dev/null || echo 0)" -lt 30000 ]; do sleep 0.05; done
	kill -KILL $pid
	wait $pid 2>/dev/null
	edit truncated-header 'is truncated in its header' 'log.truncate(20)'
	edit truncated-checkpoint 'is truncated before its last checkpoint' 'log.truncate(4096)'
	edit cut-checkpoint 'is damaged or truncated at its last checkpoint' 'log.truncate(4100)'
	edit not-a-log 'is not a log of tatp_bench' 'flip(log, 0)'
	edit version 'is a log of another version' 'flip(log, 8)'
	edit header 'has a damaged header' 'flip(log, 17)'
	edit no-checkpoint 'has no checkpoint: its population was not finished' \
		'flip(log, 1024); flip(log, 1536)'
	edit flipped 'is damaged at byte ' 'flip(log, 20000)'
	edit pages-version '.pages has pages of another version' 'flip(pages, 8)'
	edit no-pages '.pages No such file or directory' 'os.unlink(path + ".pages")'
	edit other-database 'belongs to another database than its .pages' '
import struct, zlib
log.seek(16); identity = bytearray(log.read(24)); identity[16] ^= 1
log.seek(12); log.write(struct.pack("<I", zlib.crc32(bytes(identity))) + identity)'
	fresh
	refused no-log "--log=$log: No such file or directory" --log="$log" --recover
}

# A disk that is full, played by a limit on the size of files.
test_full() {
	fresh
	(
		trap '' XFSZ
		ulimit -f 6000
		timeout 300 "$bench" --log="$log" --subscribers=300 --duration=600 --threads=2 \
			--mix=update-location --helpers=off >"$tmp/out" 2>"$tmp/err"
		echo $? >"$tmp/rc"
	)
	unwarned
	if [ "$(cat "$tmp/rc")" = 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
	   grep -q 'File too large; what was committed is in the log' "$tmp/err"; then
		ok full
	else
		not_ok full "exit $(cat "$tmp/rc"): $(cat "$tmp/err")"
	fi
	bench_run --log="$log" --recover --json
	holds full-recovers '.check == "ok" and .committed > 0'
	fresh
	(
		trap '' XFSZ
		ulimit -f 2000
		timeout 60 "$bench" --log="$log" --subscribers=3000 >"$tmp/out" 2>"$tmp/err"
		echo $? >"$tmp/rc"
	)
	if [ "$(cat "$tmp/rc")" = 1 ] &&
	   [ "$(cat "$tmp/err")" = 'tatp_bench: population: File too large' ]; then
		ok full-population
	else
		not_ok full-population "exit $(cat "$tmp/rc"): $(cat "$tmp/err")"
	fi
	if "$bench" --subscribers=10 --operations=10 >/dev/full 2>"$tmp/err"; then
		not_ok full-output 'exit 0'
	else
		ok full-output
	fi
}

# On simulated cores, with elided latches of which none, half or all abort.
test_elided() {
	for locks in selected all tree; do
		for rate in 0 50 100; do
			timeout 120 "$O/bin/elide" run -q --emulate --cores=4 --seed=1 \
				--abort-rate=$rate -o "$tmp/data" -- "$bench" --subscribers=100 \
				--threads=3 --operations=900 --locks=$locks --latch-stats=thread \
				--json >"$tmp/out" 2>"$tmp/err"
			holds "elided-$locks-$rate" '.check == "ok" and .transactions == 900 and
				(.elision | startswith("inline"))'
		done
	done
}

test_usage
documented demo/tatp/bench/options.def demo/tatp/bench/transactions.def
test_help
test_options
test_measures
test_warning
test_end
test_seed
test_sections
test_recover
test_kill
test_interrupt
test_damage
test_full
test_elided
finish
