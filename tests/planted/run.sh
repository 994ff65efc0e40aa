#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
#
# Programs with one planted problem each, and their repaired twins: does the report say what is
# wrong and what to do, and does it say nothing of it where it was mended? What it must say is in
# tests/planted/expected. run.sh; PLANTED the names of some programs, SEED of the machine and the
# programs.
#
# Prints ok NAME, not ok NAME: why, skip NAME: reason, and how many were right.

. "$(dirname "$0")/../script.sh"
SEED=${SEED:-7}
PLANTED=${PLANTED:-}
# Longest run of one program, seconds of real time: forty times what the slowest takes.
LIMIT=240
cd "$tmp" || exit 1
no_settings
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

needs planted plain python3
# shellcheck disable=SC2086 # several names
python3 "$here/judge.py" list "$here/expected" $PLANTED >programs || exit 1
why=$(lacks emulator)
if [ -n "$why" ]; then
	skip 'planted, emulated' "$why"
	grep -P '^\w+\tnatively\t' programs >native
	mv native programs
	PLANTED=$(cut -f 1 programs)
	[ -n "$PLANTED" ] || finish
fi
while IFS=$'\t' read -r name where arguments twin_arguments options twin; do
	printf '%s\0%s\0%s\0%s\0' "$name" "$where" "$arguments" "$options" \
		"$name-repaired" "$where" "$twin_arguments" "$twin"
done <programs | xargs -0 -n 4 -P "${JOBS:-2}" bash -c 'one "$@"' one
# shellcheck disable=SC2086
python3 "$here/judge.py" judge "$here/expected" "$tmp" $PLANTED >lines
adopt lines planted $?

# shown NAME LOCK SITE WAKER: the first row of the table that is no barrier, and the page, name all three.
shown() {
	[ -e "$1.data" ] || return
	"$O/bin/elide" report --width 200 -i "$1.data" >"$1.text" 2>"$1.err" &&
		"$O/bin/elide" report --html "$1.html" -i "$1.data" 2>>"$1.err" ||
		{ not_ok "$1-shown" "$(cat "$1.err")"; return; }
	row=$(sed -n '/^LOCK/,/^$/p' "$1.text" | sed 1d | grep -vm 1 ' barrier ')
	for word in "$2" "$3" "$4"; do
		case $row in *"$word"*) ;; *) not_ok "$1-shown" "no $word in: $row"; return ;; esac
		grep -q "$word" "$1.html" || { not_ok "$1-shown" "no $word on the page"; return; }
	done
	ok "$1-shown"
}

shown semaphore connections borrow give_back
shown monitor printer_free take_printer leave_printer
shown dispatcher jobs_ready take_job dispatch
finish
