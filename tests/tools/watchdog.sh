#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=12
# elide run --watchdog: what is a hang, how often it is written, and refusals.

. "$(dirname "$0")/common.sh"
hang=$O/tests/tools/hang

# watch KIND: into out, err and $rc; the files of stacks in $files, the lines about hangs in $lines.
watch() {
	rm -f elide.data*
	run_elide run --watchdog=200ms -- "$hang" "$1"
	files=$(ls | grep -c 'stacks$')
	lines=$(grep -c '^elide: process [0-9]* hangs: ' err)
}

# Yama, or a filter of system calls, may deny what the test needs.
watch twice
if grep -q 'cannot be stopped' err; then
	skip watchdog "$(grep 'cannot be stopped' err)"
	finish
fi
if [ "$rc $files $lines" = '0 1 2' ] && [ "$(grep -c ' hangs: a thread has waited for a lock for ' elide.data.stacks)" = 2 ] &&
	[ "$(grep -c 'waits for the mutex lock .*, held by thread [0-9]* "hang"' elide.data.stacks)" = 2 ] &&
	grep -q 'hangs: a thread has waited for a lock for [0-9.]*m*s; the stacks are in elide.data.stacks$' err; then
	ok 'two hangs: each is written once'
else
	not_ok 'two hangs: each is written once' "$rc, $files files, $lines lines: $(cat err elide.data.stacks)"
fi
watch idle
[ "$rc $files $lines" = '0 0 0' ] && ok 'a thread that waits for work is no hang' ||
	not_ok 'a thread that waits for work is no hang' "$rc, $files files, $lines lines: $(cat err)"
watch all
if [ "$rc $files $lines" = '142 1 1' ] && grep -q 'hangs: all its threads wait, for [0-9.]*m*s' err &&
	[ "$(grep -c 'waits for the semaphore' elide.data.stacks)" = 2 ]; then
	ok 'all threads wait'
else
	not_ok 'all threads wait' "$rc, $files files, $lines lines: $(cat err elide.data.stacks)"
fi
watch child
name=$(ls | grep 'stacks$')
if [ "$rc $files $lines" = '0 1 1' ] && pid=$(sed -n 's/^elide: process \([0-9]*\) hangs.*/\1/p' err) &&
	grep -q "^process $pid (hang)" "$name" && [ -e "${name%.stacks}" ]; then
	ok 'a child hangs'
else
	not_ok 'a child hangs' "$rc, $files files, $lines lines: $(cat err)"
fi
rm -f elide.data*
run_elide run -q --watchdog=200ms -- "$hang" twice
[ "$rc" = 0 ] && [ ! -s err ] && [ -s elide.data.stacks ] && ok 'quiet' || not_ok quiet "$rc: $(cat err)"

for time in 5ms 25h 1d 1e9 -3s '' none; do
	expect "not a time: '$time'" 125 '' "elide: --watchdog=$time: not a time from 10ms to 24h" \
		run --watchdog="$time" -- true
done
expect 'emulated' 125 '' "elide: --watchdog goes without --emulate only: the stacks would be the emulator's" \
	run --emulate --watchdog=1m -- true
expect 'mode off' 125 '' 'elide: --watchdog goes without --mode=off only: no wait is known then' \
	run --mode=off --watchdog=1m -- true
finish
