#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=45
#
# The preloaded library around real programs; what calls answer is in tests/semantics. SEEDS the
# number of seeds of the counter test.
#
# What needs elision runs natively where RTM works, else emulated where the
# emulator is built, else it is skipped.

. "$(dirname "$0")/../script.sh"
SEEDS=${SEEDS:-3}
bin=$O/tests/preload
cd "$tmp" || exit 1

preloads preload

# with LIBRARIES MODE COMMAND...: preloaded, fresh data file $tmp/data, output in out and err.
with() {
	libraries=$1 mode=$2
	shift 2
	rm -f "$tmp"/data* "$tmp"/.data*
	# env and not timeout starts the program, or timeout would be preloaded too.
	timeout "${patience:-60}" env ELIDE_MODE="$mode" ELIDE_OUTPUT="$tmp/data" LD_PRELOAD="$first$libraries" \
		"$@" >out 2>err
	rc=$?
}

# check NAME CONDITION...: the condition is test(1)'s.
check() {
	name=$1
	shift
	if test "$@"; then
		ok "$name"
	else
		not_ok "$name" "not $*; exit $rc; $(head -c 300 err | tr '\n' ' ')$("$bin/sums" data 2>&1 | tr ' ' '\n' | grep -v '=0$' | tr '\n' ' ')"
	fi
}

# quiet NAME: exit 0 and nothing on either stream.
quiet() { check "$1" "$rc$(cat out err)" = 0; }

# The elided mode of this machine, if any: how a program is run, and words for it.
run_elided='' elided='no RTM here, and no emulator built'
with "$lib" auto "$bin/scenario" plain
if [ "$(sum mode)" = 2 ]; then
	elided=native
elif [ -z "$(lacks emulator)" ]; then
	run_elided="valgrind -q --tool=rtmgrind --trace-children=yes --deadlock=wait"
	VALGRIND_LIB=$O/libexec/elide
	export VALGRIND_LIB
	with "$lib" auto $run_elided "$bin/scenario" plain
	[ "$(sum mode)" = 2 ] && elided=emulated
fi
can_elide() { [ "$elided" = native ] || [ "$elided" = emulated ]; }
# The modes to go through; elided ones by run_elided.
modes=profile
can_elide && modes='profile auto'
# in_mode_with LIBRARIES MODE COMMAND...
in_mode_with() {
	objects=$1 mode=$2
	shift 2
	if [ "$mode" = auto ]; then
		with "$objects" auto $run_elided "$@"
	else
		with "$objects" "$mode" "$@"
	fi
}
# in_mode MODE COMMAND...
in_mode() { in_mode_with "$lib" "$@"; }

test_symbols() {
	"$bin/symbols" plain >out 2>err
	rc=$?
	check symbols-plain $rc = 0
	if [ -n "$first" ]; then
		skip symbols 'AddressSanitizer has a pthread_mutex_lock of its own in front'
		return
	fi
	# Programs of both kinds: bound when they are loaded, and at the first call.
	with "$lib" off "$bin/symbols" off
	check symbols-off "$rc $(grep -c '^not ok' out)" = '0 0'
	with "$lib" off "$bin/symbols-lazy" off
	check symbols-off-lazy "$rc $(grep -c '^not ok' out)" = '0 0'
	# Each wait is sampled: who ended it is what is seen of a signal or a post.
	export ELIDE_STACKS=1
	for m in $modes; do
		in_mode $m "$bin/symbols" "$tmp/data"
		sed "s/^\(ok\|not ok\) /&engages-$m-/" out >lines
		adopt lines "symbols-$m" $rc
	done
	unset ELIDE_STACKS
}

# evidence CASE MODE: a program that looks into its own data file.
evidence() {
	in_mode "$2" "$bin/evidence" "$1" "$tmp/data"
	sed "s/^\(ok\|not ok\) /&evidence-$2-/" out >lines
	adopt lines "evidence-$1-$2" $rc "$(head -n 1 err)"
}

test_evidence() {
	evidence waits profile
	export ELIDE_STACKS=0
	evidence silent profile
	if can_elide; then
		evidence silent auto
		evidence pauses auto
		ELIDE_STACKS=1
		evidence pauses auto
		export ELIDE_POLICY=fixed
		without=$run_elided
		[ "$elided" = emulated ] && run_elided="$run_elided --stacks=yes"
		evidence aborts auto
		run_elided=$without
		unset ELIDE_POLICY
	else
		skip evidence-aborts "$elided"
	fi
	unset ELIDE_STACKS
}

test_processes() {
	for m in $modes; do
		in_mode $m "$bin/scenario" plain
		quiet "plain-$m-quiet"
		check "plain-$m" "$(sum acquired) $(sum bad) $(sum state)" = '100 0 2'

		in_mode $m "$bin/scenario" tries
		quiet "tries-$m-quiet"
		check "tries-$m" "$(sum acquired) $(sum failed) $(sum bad)" = '3 9 0'

		in_mode $m "$bin/scenario" fork
		quiet "fork-$m-quiet"
		check "fork-$m-parent" "$(sum acquired)" = 107
		check "fork-$m-child" "$(sum acquired data.*)" = 20

		in_mode $m "$bin/scenario" fork-holding
		quiet "fork-holding-$m-quiet"
		check "fork-holding-$m" "$(sum acquired) $(sum acquired data.*)" = '11 20'
		check "fork-holding-$m-is-no-misuse" \
			"$(sum misuse_unlock_foreign data.*) $(sum misuse_unlock_free data.*)" = '0 0'

		in_mode $m "$bin/scenario" exec
		check "exec-$m" "$rc $(sum acquired) $(sum acquired data.*)" = '0 100 100'
		in_mode $m "$bin/scenario" fork-exec
		check "fork-exec-$m" "$rc $(sum acquired) $(sum acquired data.*)" = '0 100 100'
	done

	for name in vfork spawn; do
		with "$lib" profile "$bin/scenario" $name
		check $name "$rc $(sum acquired)" = '0 107'
	done
	with "$lib" auto "$bin/scenario" fork-among-threads
	quiet fork-among-threads-quiet
	check fork-among-threads "$(cat data.* >cat-of-all; ls data.* | wc -l)" = 100

	ELIDE_FOLLOW=0
	export ELIDE_FOLLOW
	with "$lib" profile "$bin/scenario" fork
	check follow-off "$rc $(sum acquired) $(ls data* | wc -l)" = '0 107 1'
	unset ELIDE_FOLLOW

	with "$lib" profile "$bin/scenario" _exit
	check _exit "$rc $(sum acquired) $(sum state)" = '0 100 1'
	with "$lib" profile "$bin/scenario" killed
	check killed "$rc $(sum acquired) $(sum state)" = '137 100 1'
	with "$lib" profile sh -c "ulimit -c 0; exec $bin/scenario crash"
	check crash "$(sum acquired) $(sum state)" = '100 1'
	with "$lib" off "$bin/scenario" plain
	quiet off-quiet
	check off-writes-nothing "$(ls data* 2>/dev/null | wc -l)" = 0
}

# totals: the acquisitions in each data file, in ascending order.
totals() {
	for file in data data.*; do
		sum acquired "$file"
	done | sort -n | tr '\n' ' '
}

# Handlers of pthread_atfork() that acquire a lock, before and after the library's own.
test_atfork() {
	for m in $modes; do
		for order in first last; do
			handlers=$lib:$bin/lib-atfork.so
			[ $order = last ] && handlers=$bin/lib-atfork.so:$lib
			in_mode_with "$handlers" $m "$bin/scenario" fork
			quiet "atfork-$m-$order-quiet"
			check "atfork-$m-$order" "$(totals)" = '21 109 '
			# A child whose handler forks takes the lock there before and after that.
			ATFORK_FORKS=1
			export ATFORK_FORKS
			in_mode_with "$handlers" $m "$bin/scenario" fork
			check "atfork-$m-$order-nested" "$rc $(totals)" = '0 1 23 109 '
			unset ATFORK_FORKS
		done
	done
}

# The report at the end of a program, which must not notice how it comes about.
test_report() {
	export ELIDE_REPORT="$tmp/report"
	for m in $modes; do
		for how in handler waits ignores; do
			# The emulator runs the report, too, which takes seconds.
			[ $m$how = autowaits ] || [ $m$how = autoignores ] && [ "$elided" = emulated ] && continue
			rm -f report
			in_mode $m "$bin/host" $how
			check "report-$m-$how" "$rc $(cat out err)" = '0 once '
			check "report-$m-$how-is-whole" "$(grep -c '^total: 1 acquisition' report)" = 1
		done
	done
	check report-is-private "$(stat -c %a report)" = 600
	ln -s "$tmp/target" link
	ELIDE_REPORT=$tmp/link
	with "$lib" profile "$bin/host" handler
	check report-follows-no-link "$rc $(cat out err)$(test -e target && echo target)" = \
		"0 once elide: cannot print the report to $tmp/link: symbolic links are not followed"
	unset ELIDE_REPORT
}

test_threads() {
	for m in profile auto; do
		with "$lib" $m "$bin/scenario" churn
		quiet "churn-$m-quiet"
		check "churn-$m" "$(sum acquired) $(sum bad) $(sum threads)" = '100000 0 10000'
		# Blocks and their rows are handed on: eight threads at a time need no more than that.
		check "churn-$m-rows" "$(sum rows)" -le 20
	done
	with "$lib" profile "$O/tests/semantics/limits" many-threads-in-turn
	check many-threads-in-turn "$(cat out) $(sum threads) $(sum dropped | tr -d 0,)" = \
		'32000 threads, 32000 32000 '
	# Whatever way they end, each acquisition is counted, and the blocks of those that have ended are used again.
	for how in 'joined 40000' 'detached 10000' 'ends 9000'; do
		# shellcheck disable=SC2086
		with "$lib" profile "$bin/births" $how
		check "births $how" "$(sum acquired) $(sum bad) $(sum threads) $(sum dropped | tr -d 0,)" = \
			"$(cat out) 0 $((${how#* } + 1)) "
		check "births $how: rows" "$(sum rows)" -le 100
	done
	for threads in 1500 10000; do
		with "$lib" profile "$bin/births" alive $threads
		if [ $rc -eq 77 ]; then
			skip "births-alive-$threads" "$(cat err)"
			continue
		fi
		check "births-alive-$threads" "$(sum acquired) $(sum threads) $(sum dropped | tr -d 0,)" = \
			"$(cat out) $((threads + 1)) "
	done
	# The calls that time out are part of the wait that ends; a half, for what is between them.
	with "$lib" profile "$bin/scenario" timed-loop
	check timed-loop "$(sum cond) $(($(sum cond_cycles) * 2 > $(cat out)))" = '1 1'
	with "$lib" profile "$bin/scenario" errno
	quiet errno-profile
	can_elide && { in_mode auto "$bin/scenario" errno; quiet errno-auto; }
	with "$lib" auto "$bin/scenario" loader
	quiet locks-under-the-loader
}

test_loading() {
	for m in profile auto; do
		with "$lib:$bin/lib-early.so" $m "$bin/scenario" plain
		quiet "early-$m-quiet"
		check "early-$m" "$(sum acquired)" -ge 100
		if [ -n "$first" ]; then
			skip "deepbind-$m" 'AddressSanitizer refuses RTLD_DEEPBIND'
			continue
		fi
		with "$lib" $m "$bin/scenario" deepbind "$bin/lib-hidden.so"
		check "deepbind-$m" "$rc$(sum bad)" = 00
	done
	if [ "$elided" = native ]; then
		GLIBC_TUNABLES=glibc.elision.enable=1
		export GLIBC_TUNABLES
		with "$lib" auto "$bin/count" mutex 1
		unset GLIBC_TUNABLES
		check glibc-elides-itself "$rc $(sum elided) $(cat err)" = "0 0 elide: elision switched off: glibc's own elision is on (GLIBC_TUNABLES): two eliders on one lock are not supported"
	else
		skip glibc-elides-itself 'glibc does so only on a processor with RTM'
	fi
	if [ -n "$first" ]; then
		skip jemalloc 'AddressSanitizer has an allocator of its own'
		return
	fi
	jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -n 1)
	if [ -z "$jemalloc" ]; then
		skip jemalloc 'libjemalloc.so.2 is not installed'
		return
	fi
	for order in "$lib:$jemalloc" "$jemalloc:$lib"; do
		for m in profile auto; do
			with "$order" $m "$bin/scenario" plain
			check "jemalloc-$m-${order##*/}" "$rc $(cat out err)$(sum bad)" = '0 0'
			with "$order" $m "$bin/scenario" churn
			check "jemalloc-$m-${order##*/}-churn" "$rc$(sum bad)" = 00
			# Its own locks are locks like others.
			check "jemalloc-$m-${order##*/}-counted" "$(sum acquired)" -gt 100000
			with "$order" $m "$bin/scenario" fork-among-threads
			check "jemalloc-$m-${order##*/}-fork" "$rc$(cat out err)" = 0
			with "$order" $m "$bin/scenario" fork
			check "jemalloc-$m-${order##*/}-child" "$(sum acquired data.*)" -ge 20
		done
	done
}

# What is true of reload.c: each plugin's calls acquire three locks as often.
reload_truth() {
	for row in alpha:22 beta:1001 delta:200 gamma:1000; do
		name=${row%:*} file=lib-plugin-${row%:*}.so
		for class in "init $file" "static $file" "static reload"; do
			echo "$class,$file,lock_by_$name,${row#*:}"
		done
	done | sort
}

# The locks and calls of a library are its own, also at the addresses of one that was unloaded.
test_unloading() {
	if [ -n "$first" ]; then
		skip unloading 'AddressSanitizer keeps what was loaded at those addresses'
		return
	fi
	reload_truth >truth
	export ELIDE_STACKS=1
	for m in $modes; do
		for how in '' relative; do
			in_mode $m "$bin/reload" "$bin" $how
			"$O/bin/elide" report --csv data 2>&1 | tail -n +2 | tr -d '"' |
				sed 's/+0x[0-9a-f]*//' | cut -d, -f 4,6,7,12 | sort >found
			check "unloading-$m-quiet${how:+-$how}" "$rc $(cat out err)" = '0 '
			check "unloading-$m${how:+-$how}" "$(diff truth found)" = ''
		done
		# Nor has a stack frames of two plugins, nor of none.
		"$O/bin/elide" report --by stack --top 0 data >stacks 2>&1
		check "unloading-$m-stacks" "$(grep -c '+0x.*plugin\|??' stacks)" = 0
	done
	unset ELIDE_STACKS
}

kinds='mutex nested trylock timedlock spin mtx rwlock readers'

# exact KIND SEED POLICY: in auto mode; the totals and the invariants of the file.
exact() {
	ELIDE_POLICY=$3
	export ELIDE_POLICY
	in_mode auto "$bin/count" "$1" "$2"
	unset ELIDE_POLICY
	[ "$rc $(sum acquired) $(sum bad)" = "0 $(cat out) 0" ] && [ ! -s err ]
}

test_exactness() {
	for kind in $kinds; do
		with "$lib" profile "$bin/count" $kind 1
		check "exact-profile-$kind" "$rc $(sum acquired) $(sum bad)" = "0 $(cat out) 0"
	done
	if ! can_elide; then
		skip exact-elided "$elided"
		return
	fi
	[ $elided = emulated ] && { COUNT_ROUNDS=500; export COUNT_ROUNDS; }
	for kind in $kinds; do
		for policy in adaptive fixed glibc damon hpca; do
			seed=1 bad=0 elisions=0
			while [ $seed -le "$SEEDS" ]; do
				exact $kind $seed $policy || { bad=$seed; why="exit $rc, $(cat out err | tr '\n' ' ')$("$bin/sums" data | tr ' ' '\n' | grep -v '=0$' | tr '\n' ' ')"; }
				elisions=$((elisions + $(sum elided)))
				seed=$((seed + 1))
			done
			if [ $bad -ne 0 ]; then
				not_ok "exact-$policy-$kind" "seed $bad: $why"
			elif [ $elisions -eq 0 ]; then
				not_ok "exact-$policy-$kind" 'nothing was elided'
			else
				ok "exact-$policy-$kind ($SEEDS seeds, $elisions elided)"
			fi
		done
	done
	# The known-broken subjects must be found.
	sound=$lib
	lib=$bin/ignores-holder.so
	seed=1
	while [ $seed -le 20 ] && exact mutex $seed damon; do seed=$((seed + 1)); done
	check broken-ignores-holder-is-caught "$rc" = 1
	lib=$sound
	if [ -n "$first" ]; then
		skip broken-commits-changed-is-caught 'AddressSanitizer refuses RTLD_DEEPBIND'
		return
	fi
	lib=$bin/commits-changed.so
	ELIDE_POLICY=fixed
	export ELIDE_POLICY
	# It publishes a lock that nobody releases: it hangs.
	patience=5
	with "$lib" auto $run_elided "$bin/scenario" deepbind "$bin/lib-hidden.so"
	unset ELIDE_POLICY patience
	check broken-commits-changed-is-caught "$rc" -ne 0
	lib=$sound
}

test_memory() {
	if [ -n "$first" ]; then
		skip memory 'AddressSanitizer takes much of its own'
		return
	fi
	"$bin/scenario" memory >out
	without=$(cat out)
	with "$lib" profile "$bin/scenario" memory
	locks=$(sum locks)
	kib=$(($(cat out) - without))
	check memory-locks "$locks" -ge 99900
	check "memory ($kib KiB for 100,000 locks and 64 threads)" $kib -le 16384
	# Their look-up caches grow as far as they may.
	"$bin/scenario" memory all >out
	without=$(cat out)
	with "$lib" profile "$bin/scenario" memory all
	kib=$(($(cat out) - without))
	check "memory-all ($kib KiB where each thread takes all)" $kib -le 16384
}

# An allocator-heavy program of somebody else's.
# shellcheck disable=SC2016
words='my (%seen, @all); srand(1);
	for (1 .. 30000) { my $w = "x" x (1 + int(rand(300))); $seen{$w . $_ % 700}++; push @all, $w if $_ % 3; }
	splice(@all, 0, 5000); print join(",", map { length } sort @all), scalar(keys %seen), "\n"'

# heap_cases NAME LIBRARIES: the table says what was allocated where, whatever happens to it.
heap_cases() {
	for case in find realloc functions bound threads fork; do
		with "$2" profile "$bin/heap" $case
		quiet "heap-$1-$case"
	done
	with "$2" profile perl -e "$words"
	check "heap-$1-same-output" "$rc $(cat out err | cksum)" = "0 $(perl -e "$words" | cksum)"
}

test_heap() {
	heap=$O/lib/libelide-heap.so
	if [ -n "$first" ]; then
		skip heap 'AddressSanitizer has an allocator of its own'
		return
	fi
	with "$heap" profile "$bin/heap" find
	check heap-off-knows-nothing "$rc $(grep -c 'known(p)' out)" != '0 0'
	ELIDE_HEAP=1
	export ELIDE_HEAP
	heap_cases alone "$heap"
	heap_cases with-locks "$lib:$heap"
	jemalloc=$(ls /usr/lib/*/libjemalloc.so.2 2>/dev/null | head -n 1)
	if [ -n "$jemalloc" ]; then
		heap_cases jemalloc "$lib:$heap:$jemalloc"
	else
		skip heap-jemalloc 'libjemalloc.so.2 is not installed'
	fi
	if can_elide; then
		for case in txn find threads; do
			with "$lib:$heap" auto $run_elided "$bin/heap" $case
			quiet "heap-elided-$case"
		done
	else
		skip heap-elided "$elided"
	fi
	# With one allocation in N sampled other blocks are not known, which the program finds.
	ELIDE_HEAP=1000
	with "$heap" profile "$bin/heap" find
	check heap-one-in-many "$rc" = 1
	with "$heap" profile "$bin/heap" threads
	quiet heap-one-in-many-threads
	unset ELIDE_HEAP
}

# adapted NAME ACQUIRED ARGUMENT...: the program finds nothing wrong, and that many acquisitions are counted, most of
# them elided where that works.
adapted() {
	case=$1 acquired=$2
	shift 2
	"$bin/adapted" "$@" >out 2>err
	rc=$?
	quiet "adapters-$case-plain"
	for m in $modes; do
		in_mode $m "$bin/adapted" "$@"
		check "adapters-$case-$m" "$rc$(cat out err) $(sum acquired) $(sum misuse_unlock_free)" = "0 $acquired 0"
		[ $m != auto ] || check "adapters-$case-elided" $((2 * $(sum elided))) -ge "$acquired"
	done
}

# Libraries other than libc, which are loaded while the program runs. 8000 acquisitions of one lock.
test_adapters() {
	adapted glib 8000 count libglib-2.0.so.0
	adapted openmp 8000 count libgomp.so.1
	# Signals, forks, waits for a GCond, trylocks that fail.
	for library in libglib-2.0.so.0 libgomp.so.1; do
		for m in $modes; do
			in_mode $m "$bin/adapted" torture $library
			check "adapters-torture-$library-$m" "$rc$(cat out err) $(($(sum acquired) + $(sum failed)))" = '0 8000'
		done
	done
	# A mutex that is not GLib's word is left to its library; each library is verified, also the second one.
	fake=$bin/lib-gmutex
	adapted same-rule 8000 count "$fake-1.so"
	adapted other-value 0 count "$fake-2.so"
	adapted other-word 0 count "$fake-3.so"
	adapted one-after-another 8000 count "$fake-3.so" "$fake-1.so" "$fake-2.so"
	# Where the verification sees too little, the program or the report shows that.
	patience=1
	with "$lib" profile "$bin/adapted" count "$fake-4.so"
	unset patience
	check adapters-misjudged "$rc $(sum misuse_unlock_free)" != '0 0'
}

test_symbols
test_adapters
test_evidence
test_processes
test_atfork
test_report
test_threads
test_loading
test_unloading
test_exactness
test_memory
test_heap
finish
