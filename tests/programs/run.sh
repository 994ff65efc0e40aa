#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=20
#
# Programs that nobody here wrote, and programs on libraries that nobody here wrote: their output
# with the library is compared with what they print without. run.sh [NAME...]; Prints ok NAME, not
# ok NAME: why, skip NAME: reason, a line for each program and mode, and a count.

. "$(dirname "$0")/../script.sh"
own=$O/tests/programs
LIMIT=480 # seconds, forty times the slowest
server=
clean_up() { [ -z "$server" ] || kill "$server"; }
cd "$tmp" || exit 1
unset GLIBC_TUNABLES

# Modes, and the options that make them.
modes='profile elided adaptive emulated emulated-30 emulated-100'
options() {
	case $1 in
	profile) echo --mode=profile ;;
	elided) echo --policy=fixed ;;
	adaptive) echo --policy=adaptive ;;
	emulated) echo --emulate --cores=4 --policy=fixed ;;
	emulated-*) echo --emulate --cores=4 --policy=fixed "--abort-rate=${1#*-}" ;;
	esac
}

# Why a mode cannot be had here; nothing if it can.
lacks_mode() {
	case $1 in
	elided | adaptive) grep -qw rtm /proc/cpuinfo || echo 'this processor has no RTM' ;;
	emulated*) lacks emulator ;;
	esac
}

# What of a program's output does not vary from run to run.
steady() {
	case $1 in
	kc*) grep -E '^(ok|error)|FAILED|mismatch' ;;
	*) cat ;;
	esac
}

# compare NAME MODES COMMAND: the output of COMMAND, plain and in each mode.
compare() {
	local name=$1 wanted=$2 mode why

	shift 2
	if ! command -v "$1" >/dev/null && [ ! -x "$1" ]; then
		skip "$name" "${1##*/} is not installed"
		return
	fi
	if ! timeout $LIMIT "$@" 2>plain.err >plain.raw; then
		not_ok "$name" "plain: exit $?: $(tail -n 1 plain.err)"
		return
	fi
	steady "$name" <plain.raw >plain
	for mode in $wanted; do
		why=$(lacks_mode "$mode")
		if [ -n "$why" ]; then
			skip "$name $mode" "$why"
			continue
		fi
		rm -f elide.data*
		# shellcheck disable=SC2046 # several options
		timeout $LIMIT "$elide" run -q $(options "$mode") -- "$@" 2>err >raw
		status=$?
		steady "$name" <raw >out
		if [ $status -ne 0 ]; then
			why="exit $status: $(tail -n 1 err)"
		elif ! cmp -s plain out; then
			why="another output: $(cmp plain out 2>&1)"
		elif ! [ -s plain ]; then
			why='no output to compare'
		elif ! "$elide" report --json >report.json 2>report.err; then
			why="report: $(cat report.err)"
		fi
		if [ -n "$why" ]; then
			not_ok "$name $mode" "$why"
		else
			ok "$name $mode"
		fi
	done
}

# memcached serves memcaslap a bounded load on the loopback interface, then is stopped.
serve() {
	# A port that is free, and in the file when the server listens there.
	local mode=$1 command='memcached -u root -l 127.0.0.1 -p -1 -U 0 -t 4' port why
	local tries=$((LIMIT * 10))

	rm -f elide.data* port
	# shellcheck disable=SC2046,SC2086 # several options, a program and its arguments
	if [ "$mode" = plain ]; then
		MEMCACHED_PORT_FILENAME=$tmp/port $command 2>server.err &
	else
		MEMCACHED_PORT_FILENAME=$tmp/port "$elide" run -q $(options "$mode") -- \
			$command 2>server.err &
	fi
	server=$!
	until [ -s port ] || [ $tries -eq 0 ] || ! kill -0 "$server" 2>/dev/null; do
		sleep 0.1
		tries=$((tries - 1))
	done
	port=$(sed -n 's/^TCP INET: //p' port 2>/dev/null)
	if [ -z "$port" ]; then
		kill "$server" 2>/dev/null
		wait "$server"
		echo "memcached: no port: $(tail -n 1 server.err)"
		return
	fi
	timeout $LIMIT memcaslap -s "127.0.0.1:$port" -T 2 -c 8 -x "$2" >load 2>load.err
	why=$?
	kill "$server"
	wait "$server"
	server=
	[ $why -eq 0 ] || { echo "memcaslap: exit $why: $(tail -n 1 load.err)"; return; }
	grep -q '^get_misses: 0$' load || echo "misses: $(grep misses load | tr '\n' ' ')"
}

memcached_modes() {
	local mode why

	if ! command -v memcached >/dev/null || ! command -v memcaslap >/dev/null; then
		skip memcached 'memcached or memcaslap is not installed'
		return
	fi
	for mode in plain profile elided adaptive; do
		why=$(lacks_mode "$mode")
		if [ -n "$why" ]; then
			skip "memcached $mode" "$why"
			continue
		fi
		why=$(serve "$mode" 20000)
		if [ -n "$why" ]; then
			not_ok "memcached $mode" "$why"
		else
			ok "memcached $mode"
		fi
	done
}

seq 1 60000 >numbers
# Not a script that looks for one of several versions: the emulator would run that, too.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
tests=${*:-kccachetest kcprototest pigz pbzip2 python cxx c11 crypto gmutex memcached}
for test in $tests; do
	case $test in
	kccachetest) compare kccachetest "$modes" kccachetest wicked -th 4 2000 ;;
	kcprototest) compare kcprototest "$modes" kcprototest wicked -th 4 2000 ;;
	pigz) compare pigz 'profile elided adaptive emulated' pigz -p4 -c numbers ;;
	pbzip2) compare pbzip2 'profile elided adaptive emulated' pbzip2 -p4 -b1 -c numbers ;;
	python) compare python "$modes" "${python:-python3}" "$here/threads.py" ;;
	memcached) memcached_modes ;;
	*) compare "$test" "$modes" "$own/$test" ;;
	esac
done
finish
