#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=5
# Runs without a data file say why, and a program has the name that it was started by.

. "$(dirname "$0")/common.sh"
CC=${CC:-gcc}
named=$O/tests/tools/named

# says NAME PATTERN COMMAND...: the command ends well and a line of its errors matches.
says() {
	local name=$1 pattern=$2 rc

	shift 2
	timeout 60 "$@" >out 2>err </dev/null
	rc=$?
	if [ $rc -ne 0 ]; then
		not_ok "$name" "exit $rc: $(cat out err)"
	elif ! grep -qE -- "$pattern" err; then
		not_ok "$name" "$(cat err)"
	else
		ok "$name"
	fi
}

ln -s "$named" another-name
run_elide run -q --mode=profile -o named.data -- ./another-name
"$elide" report -i named.data | grep -q '^another-name (pid ' && ok 'a link' ||
	not_ok 'a link' "$("$elide" report -i named.data | head -n 1)"
"$elide" report -i named.data | grep -qE ', (1 thread|[0-9]{2,} threads|[2-9] threads) on ' &&
	ok 'one thread is no threads' ||
	not_ok 'one thread is no threads' "$("$elide" report -i named.data | sed -n 1p)"

echo 'int main(void) { return 0; }' >static.c
if $CC -static -o static static.c 2>err; then
	says 'a static program' '^elide: no data file was written: the program is statically linked: ' \
		"$elide" run --mode=profile -- ./static
else
	skip 'a static program' "$(tail -n 1 err)"
fi

# It ends by itself when the test has ended.
says 'a daemon' '^elide: no data file was written: process [0-9]+ of the run goes on in the background' \
	"$elide" run --mode=profile -- env -u LD_PRELOAD sh -c 'sleep 2 >&- 2>&- &'

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mkdir -m 755 root-only
	chmod 755 "$tmp"
	if setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$named"; then
		says 'a directory of another user' '^elide: no data file was written: .*Permission denied' \
			setpriv --reuid=65534 --regid=65534 --clear-groups \
			sh -c "cd root-only && '$elide' run --mode=profile -- '$named'"
	else
		skip 'a directory of another user' 'the build directory is closed to others'
	fi
else
	skip 'a directory of another user' 'needs root and setpriv'
fi

if unshare -m true 2>/dev/null && mkdir full && unshare -m mount -t tmpfs -o size=16k none full 2>/dev/null; then
	says 'a full disk' '^elide: no data file was written: no space is left on the device$' \
		unshare -m sh -c "mount -t tmpfs -o size=16k none full && cd full &&
			{ dd if=/dev/zero of=filler bs=1k count=100 2>/dev/null
			'$elide' run --mode=profile -- '$named'; }"
else
	skip 'a full disk' 'needs to mount one'
fi

if bwrap --dev-bind / / --tmpfs /proc true 2>/dev/null; then
	bwrap --dev-bind / / --tmpfs /proc "$elide" run --mode=profile -- "$named" >out 2>err
	grep -q '^elide: .*: /proc is not mounted' err && ok 'no /proc' || not_ok 'no /proc' "$(cat err)"
else
	skip 'no /proc' 'bwrap does not run here'
fi
finish
