#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, it runs the others
#
# Runs every test and sums up: the cmocka programs $O/tests/unit/test_* and every script, which
# is each file below tests/ that ends in .sh, or is executable and begins with "#!"; JOBS of them
# at a time. What they print appears in the order of their names, the text of each whole, and the
# seconds that each took go to $O/tests/seconds.
#
# A script prints "ok NAME", "not ok NAME: why", "skip NAME: reason", and "note TEXT", which is
# also shown of a success. One that prints none of these, or ends with another status than 0, has
# failed. A line "# check: WORD..." among its first ten lines says how it is run:
#   no, REASON   it is no test and is not run
#   seconds=N    what it takes on an idle processor: what takes longest is started first
#   parts=N      it is run N times at once, with PART=1/N to N/N, and divides its tests: part.sh
# A skip that several parts print counts once.
#
# The last line is "N passed, N failed, N skipped". Must never end a process that no test of this
# run has started: those have CHECK_JOB in their environment.
set -u

O=${O:-build}
JOBS=${JOBS:-$(nproc)}
# Seconds for one script: one that hangs is a failure. The slowest takes a twentieth of this.
LIMIT=${LIMIT:-1800}
# Seconds that a process has to end after SIGTERM.
GRACE=5
export O
tmp=$(mktemp -d) || exit 1
# Programs of another user than this one run in there, too.
chmod 755 "$tmp"
mark=${tmp##*/}.
passed=0 failed=0 skipped=0
: >"$tmp/skips" && : >"$tmp/queue" && : >"$tmp/seconds"

# It takes the accesses of transactions that run beside each other for races.
case ${SAN:-} in
*thread*)
	export ELIDE_MODE=profile
	skipped=1
	echo '  elided sections: ThreadSanitizer does not know transactions' >>"$tmp/skips"
	;;
esac

# end_marked MARK: the processes with such a CHECK_JOB get SIGTERM, and those that stay are
# killed. Twice none is there: one that has been forked gets its environment a moment later.
end_marked() {
	local signal=TERM tries=$((GRACE * 10)) none=0 pids

	while [ $none -lt 2 ]; do
		mapfile -t pids < <(grep -lsz "^CHECK_JOB=.*/$1" /proc/[0-9]*/environ | cut -d / -f 3)
		none=$((none + 1))
		[ ${#pids[@]} -eq 0 ] || none=0
		[ $((tries--)) -gt 0 ] || signal=KILL
		[ $none -gt 0 ] || kill -s $signal "${pids[@]}" 2>/dev/null
		sleep 0.1
	done
}

# stop SIGNAL: nothing stays of what was begun.
stop() {
	trap '' INT TERM HUP
	# Nor is it of interest which of them the shell sees killed.
	exec 2>/dev/null
	# shellcheck disable=SC2046 # several ids
	kill -KILL $(jobs -p)
	end_marked "$mark"
	rm -rf "$tmp"
	trap - "$1"
	kill -s "$1" $$
}
trap 'rm -rf "$tmp"' EXIT
for signal in INT TERM HUP; do
	trap "stop $signal" $signal
done

# What there is to run: its name, the number of its parts, and a line "SECONDS ITEM PART" of
# each part in the queue.
items=() parts=()

# add NAME SECONDS PARTS
add() {
	local part

	for ((part = 1; part <= $3; part++)); do
		echo "$(($2 / $3)) ${#items[@]} $part"
	done >>"$tmp/queue"
	items+=("$1") parts+=("$3")
}

# add_script FILE: as its line "# check:" says.
add_script() {
	local seconds=0 nr=1 word says

	says=$(sed -n '1,10s/^# check: *//p' "$1")
	case $says in
	no | no,*) return ;;
	esac
	for word in $says; do
		case $word in
		seconds=[0-9]*) seconds=${word#*=} ;;
		parts=[1-9]*) nr=${word#*=} ;;
		*) fail "$1" "its line \"# check:\" says $word" ;;
		esac
	done
	add "$1" "$seconds" "$nr"
}

# fail NAME WHY: a failure that the test has not named itself.
fail() {
	failed=$((failed + 1))
	echo "not ok $1: $2"
}

# run ITEM PART: its output goes to a file, then its exit status to another.
run() {
	local file=${items[$1]} at=$tmp/$1.$2 rc TIMEFORMAT='%R %U %S' command

	case $file in
	*.sh)
		read -r command <"$file"
		case $command in
		*bash*) command=(bash "$file") ;;
		*) command=(sh "$file") ;;
		esac
		;;
	*) command=("$file") ;;
	esac
	mkdir "$at.tmp"
	[ "${parts[$1]}" -eq 1 ] || export PART=$2/${parts[$1]}
	export JOBS=1 TMPDIR=$at.tmp CMOCKA_MESSAGE_OUTPUT=stdout
	# A shell has what it starts in the background ignore the signals of the keyboard.
	{
		time env --default-signal=INT,QUIT "CHECK_JOB=${CHECK_JOB:-}/$mark$1.$2/" \
			timeout -k $GRACE "$LIMIT" "${command[@]}" >"$at.out" 2>&1 </dev/null
		rc=$?
	} 2>"$at.time"
	[ $rc -eq 0 ] || end_marked "$mark$1.$2/"
	rm -rf "$at.tmp"
	echo $rc >"$at.rc.new"
	mv "$at.rc.new" "$at.rc"
}

# What cmocka says, as scripts do, without its list of the failed ones at the end.
from_cmocka() {
	sed '/^\[==========\] .* run\.$/,$d
		s/^\[       OK \] /ok /
		s/^\[  FAILED  \] \([a-z_0-9]*\)$/not ok \1/'
}

# gather ITEM: what its parts have printed, to out, and their worst status, to the caller's rc;
# fails if they are not all done.
gather() {
	local part at=$tmp/$1 n=${parts[$1]}

	for ((part = 1; part <= n; part++)); do
		[ -e "$at.$part.rc" ] || return
	done
	rc=$(sort -n "$at".*.rc | tail -n 1)
	for ((part = 1; part <= n; part++)); do
		awk -v name="${items[$1]}" -v part="$([ "$n" -eq 1 ] || echo " $part/$n")" \
			'END { printf "%8.1f %8.1f %s%s\n", $1, $2 + $3, name, part }' \
			"$at.$part.time" >>"$tmp/seconds"
		cat "$at.$part.out"
	done | case ${items[$1]} in
	"$O"/tests/unit/*) from_cmocka ;;
	*) awk -v n="$n" 'n == 1 || !/^skip / || !seen[$0]++' ;;
	esac >"$tmp/out"
}

# show ITEM: what came of it
show() {
	local name=${items[$1]} rc ok bad skips

	gather "$1" || return
	ok=$(grep -c '^ok ' "$tmp/out") bad=$(grep -c '^not ok ' "$tmp/out")
	skips=$(grep -c '^skip ' "$tmp/out")
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skips))
	sed -n 's/^skip /  /p' "$tmp/out" >>"$tmp/skips"
	if [ "$rc" -eq 0 ] && [ "$bad" -eq 0 ] && [ $((ok + skips)) -gt 0 ]; then
		echo "${name#"$O"/tests/unit/}: ok"
		sed -n 's/^note /  /p' "$tmp/out"
		return
	fi
	grep -v '^ok ' "$tmp/out"
	case $bad/$rc in
	0/0) fail "$name" 'it ran no test' ;;
	0/124 | 0/137) fail "$name" "exit $rc, after $LIMIT s it is ended" ;;
	0/*) fail "$name" "exit $rc" ;;
	esac
}

for test in "$O"/tests/unit/test_*; do
	# Before the scripts: they take no time, and what is wrong is known early.
	if [ -x "$test" ] && [ ! -d "$test" ]; then add "$test" 9999 1; fi
done
while read -r test; do
	case $test/$(head -c 2 "$test" | tr -d '\0') in
	*.sh/* | *'/#!') add_script "$test" ;;
	esac
done < <(find tests -type f \( -name '*.sh' -o -perm -u+x \) | LC_ALL=C sort)
running=0 shown=0

# await_one: until one of those that run is done, and what can be shown is shown.
await_one() {
	wait -n
	running=$((running - 1))
	while [ $shown -lt ${#items[@]} ] && show $shown; do shown=$((shown + 1)); done
}

while read -r _ item part; do
	while [ $running -ge "$JOBS" ]; do await_one; done
	run "$item" "$part" &
	running=$((running + 1))
done < <(sort -s -k 1,1nr "$tmp/queue")
while [ $running -gt 0 ]; do await_one; done

if [ -s "$tmp/skips" ]; then
	echo 'skipped:'
	cat "$tmp/skips"
fi
{
	echo 'seconds processor test'
	cat "$tmp/seconds"
} >"$O/tests/seconds"
# Where somebody else has ended what runs a part, the rest is not shown.
[ $shown -eq ${#items[@]} ] || fail "${items[shown]}" 'what ran it was ended'
# No test at all is a broken build, not a success.
[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
