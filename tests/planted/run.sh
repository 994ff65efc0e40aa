#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
#
# Programs with one planted problem each, and their repaired twins: does the report
# say what is wrong and what to do, and does it say nothing of it where it was
# mended? What it must say is in tests/planted/expected. run.sh; O is the build
# directory, PLANTED the names of some programs, SEED of the machine and the programs.
#
# Prints ok NAME, not ok NAME: why, skip NAME: reason, and how many were right.

O=$(realpath "${O:-build}") || exit 1
here=$(realpath "$(dirname "$0")")
SEED=${SEED:-7}
# Longest run of one program, seconds of real time: forty times what the slowest takes.
LIMIT=240
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LD_PRELOAD GLIBC_TUNABLES DEBUGINFOD_URLS
# shellcheck disable=SC2046 # several names
unset $(env | sed -n 's/^\(ELIDE_[A-Z_]*\)=.*/\1/p')
export O SEED LIMIT

# one PROGRAM WHERE ARGUMENTS OPTIONS: into PROGRAM.json, or why not into PROGRAM.why
one() {
	local name=$1 arguments options

	read -ra arguments <<<"$3"
	read -ra options <<<"$4"
	if [ "$2" = natively ]; then
		options=(--mode=profile "${options[@]}")
	else
		options=(--emulate --cores=4 "--seed=$SEED" "${options[@]}")
	fi
	timeout -k 5 "$LIMIT" "$O/bin/elide" run -q -o "$name.data" "${options[@]}" -- \
		"$O/tests/planted/$name" "${arguments[@]}" "$SEED" >"$name.out" 2>"$name.err" ||
		{ echo "exit $?: $(tail -n 2 "$name.err")" >"$name.why"; return; }
	timeout "$LIMIT" "$O/bin/elide" report --json "$name.data" >"$name.json" 2>"$name.err" ||
		{ echo "report: $(cat "$name.err")" >"$name.why"; rm -f "$name.json"; }
}
export -f one

if [ -n "${SAN:-}" ]; then
	echo "skip planted: a sanitizer's runtime and Valgrind want the same addresses"
	exit 0
fi
if ! command -v python3 >/dev/null; then
	echo 'skip planted: python3 is not installed'
	exit 0
fi
# shellcheck disable=SC2086 # several names
python3 "$here/judge.py" list "$here/expected" $PLANTED >programs || exit 1
if [ ! -x "$O/libexec/elide/rtmgrind-amd64-linux" ]; then
	echo 'skip planted, emulated: rtmgrind was not built (no supported valgrind)'
	grep -P '^\w+\tnatively\t' programs >native
	mv native programs
	PLANTED=$(cut -f 1 programs)
	[ -n "$PLANTED" ] || exit 0
fi
while IFS=$'\t' read -r name where arguments options twin; do
	printf '%s\0%s\0%s\0%s\0' "$name" "$where" "$arguments" "$options" \
		"$name-repaired" "$where" "$arguments" "$twin"
done <programs | xargs -0 -n 4 -P "${JOBS:-2}" bash -c 'one "$@"' one
# shellcheck disable=SC2086
python3 "$here/judge.py" judge "$here/expected" "$work" $PLANTED
status=$?

# shown NAME LOCK SITE WAKER: the first row of the table that is no barrier, and the page, name all three.
shown() {
	[ -e "$1.data" ] || return
	"$O/bin/elide" report --width 200 -i "$1.data" >"$1.text" 2>"$1.err" &&
		"$O/bin/elide" report --html "$1.html" -i "$1.data" 2>>"$1.err" ||
		{ echo "not ok $1-shown: $(cat "$1.err")"; status=1; return; }
	row=$(sed -n '/^LOCK/,/^$/p' "$1.text" | sed 1d | grep -vm 1 ' barrier ')
	for word in "$2" "$3" "$4"; do
		case $row in *"$word"*) ;; *) echo "not ok $1-shown: no $word in: $row"; status=1; return ;; esac
		grep -q "$word" "$1.html" ||
			{ echo "not ok $1-shown: no $word on the page"; status=1; return; }
	done
	echo "ok $1-shown"
}

shown semaphore connections borrow give_back
shown monitor printer_free take_printer leave_printer
shown dispatcher jobs_ready take_job dispatch
exit $status
