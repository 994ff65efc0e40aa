#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, it runs the others
#
# Runs every test and sums up: the cmocka programs $O/tests/unit/test_* and every script, which
# is each file below tests/ that ends in .sh, or is executable and begins with "#!"; JOBS of them
# at a time. What they print appears in the order of their names, the text of each whole, and the
# seconds that each took go to $O/tests/seconds, with FORM=quick to $O/tests/seconds-quick.
#
# ONLY is a list of shell patterns: a test runs if one of them matches a part of its path, which is
# tests/unit/test_NAME or that of the script. A pattern that matches no test is an error.
#
# Progress goes to standard error: one line that is rewritten, if that and standard output are a
# terminal, else a line every 30 s. The time left is the sum of what each remaining test took the
# last time, or of its seconds=N where that is not known, multiplied by the ratio of what the tests that have ended
# took in this run to that sum of theirs.
#
# A script prints "ok NAME", "not ok NAME: why", "skip NAME: reason", and "note TEXT", which is
# also shown of a success. One that prints none of these, or ends with another status than 0, has
# failed. A line "# check: WORD..." among its first ten lines says how it is run:
#   no, REASON   it is no test and is not run
#   seconds=N    what it takes on an idle processor: what takes longest, or took longest the last
#                time, is started first
#   parts=N      it is run N times at once, with PART=1/N to N/N, and divides its tests: script.sh
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
: >"$tmp/skips" && : >"$tmp/first" && : >"$tmp/queue" && : >"$tmp/seconds"

kept=$O/tests/seconds${FORM:+-$FORM}
read -ra only <<<"${ONLY:-}"
# Tests have settings of these names, too.
unset ONLY FORM
terminal='' every=30
if [ -t 1 ] && [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then terminal=yes every=1; fi
# Seconds from one line of progress to the next.
PROGRESS=${PROGRESS:-$every}

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

# erase: the line of progress on the terminal
erase() {
	[ -z "$terminal" ] || printf '\r\033[K' >&2
}

# stop SIGNAL: nothing stays of what was begun.
stop() {
	trap '' INT TERM HUP
	erase
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

# Tenths of a second that each part took the last time.
declare -A took=()
if [ -e "$kept" ]; then
	while read -r tenths part; do
		took[$part]=$tenths
	done < <(awk 'NR > 1 { print int($1 * 10), $3, $4 }' "$kept")
fi

# What there is to run: its name, the number of its parts, and a line "TENTHS ITEM PART" of
# each part in the queue.
items=() parts=()

# part_name ITEM PART
part_name() {
	echo "${items[$1]}$([ "${parts[$1]}" -eq 1 ] || echo " $2/${parts[$1]}")"
}

# wanted NAME: is it one of those to be run?
matched=()
wanted() {
	local i no=1

	[ ${#only[@]} -gt 0 ] || return 0
	for i in "${!only[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		if [[ ${1#"$O"/} == *${only[i]}* ]]; then matched[i]=yes no=0; fi
	done
	return $no
}

# add NAME SECONDS PARTS QUEUE
add() {
	local part item=${#items[@]}

	items+=("$1") parts+=("$3")
	for ((part = 1; part <= $3; part++)); do
		echo "${took[$(part_name "$item" $part)]:-$(($2 * 10 / $3))} $item $part"
	done >>"$tmp/$4"
}

# add_script FILE: as its line "# check:" says.
add_script() {
	local seconds=0 nr=1 word says

	says=$(sed -n '1,10s/^# check: *//p' "$1")
	case $says in
	no | no,*) return ;;
	esac
	wanted "$1" || return
	for word in $says; do
		case $word in
		seconds=[0-9]*) seconds=${word#*=} ;;
		parts=[1-9]*) nr=${word#*=} ;;
		*) fail "$1" "its line \"# check:\" says $word" ;;
		esac
	done
	add "$1" "$seconds" "$nr" queue
}

# fail NAME WHY: a failure that the test has not named itself.
fail() {
	failed=$((failed + 1))
	echo "not ok $1: $2"
}

# from_cmocka FILE: what cmocka says, as scripts do, without its list of the failed ones at the end.
from_cmocka() {
	sed -i '/^\[==========\] .* run\.$/,$d
		s/^\[       OK \] /ok /
		s/^\[  FAILED  \] \([a-z_0-9]*\)$/not ok \1/' "$1"
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
	[ "${file#"$O"/tests/unit/}" = "$file" ] || from_cmocka "$at.out"
	rm -rf "$at.tmp"
	echo $rc >"$at.rc.new"
	mv "$at.rc.new" "$at.rc"
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
		awk -v name="$(part_name "$1" $part)" \
			'END { printf "%8.1f %8.1f %s\n", $1, $2 + $3, name }' \
			"$at.$part.time" >>"$tmp/seconds"
		cat "$at.$part.out"
	done | awk -v n="$n" 'n == 1 || !/^skip / || !seen[$0]++' >"$tmp/out"
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
	if [ -x "$test" ] && [ ! -d "$test" ] && wanted "$test"; then add "$test" 0 1 first; fi
done
while read -r test; do
	case $test/$(head -c 2 "$test" | tr -d '\0') in
	*.sh/* | *'/#!') add_script "$test" ;;
	esac
done < <(find tests -type f \( -name '*.sh' -o -perm -u+x \) | LC_ALL=C sort)
for i in "${!only[@]}"; do
	if [ -z "${matched[i]:-}" ]; then
		echo "check: ONLY: no test has ${only[i]} in its path" >&2
		exit 2
	fi
done

# What runs: by the id of its process, a line "ITEM PART TENTHS BEGAN NAME".
declare -A busy=()
shown=0 total=$(cat "$tmp/first" "$tmp/queue" | wc -l)
# Parts that have ended, and what they have printed; what those took whose time was known, and that
# time; the known time of those that have not begun. All times are tenths of a second.
ended=0 ok_seen=0 bad_seen=$failed needed=0 expected=0
waiting=$(awk '{ sum += $1 } END { print sum + 0 }' "$tmp/first" "$tmp/queue")

# begin TENTHS ITEM PART
begin() {
	local name

	name=$(part_name "$2" "$3")
	run "$2" "$3" &
	busy[$!]="$2 $3 $1 $SECONDS ${name#"$O"/}"
	waiting=$((waiting - $1))
}

# end ID
end() {
	local item part tenths began ok bad

	read -r item part tenths began _ <<<"${busy[$1]}"
	unset "busy[$1]"
	read -r ok bad <<<"$(awk -v rc="$(cat "$tmp/$item.$part.rc" 2>/dev/null)" -v n="${parts[item]}" '
		{ seen[/^not ok / ? "bad" : $1]++ }
		END {
			none = n == 1 && !seen["ok"] && !seen["skip"]
			print seen["ok"] + 0, seen["bad"] ? seen["bad"] : rc != "0" || none
		}' "$tmp/$item.$part.out")"
	ended=$((ended + 1)) ok_seen=$((ok_seen + ok)) bad_seen=$((bad_seen + bad))
	[ "$tenths" -eq 0 ] || needed=$((needed + (SECONDS - began) * 10)) expected=$((expected + tenths))
}

# progress: one line. The time left is that of JOBS at a time, or of the longest part that runs.
progress() {
	local id tenths began name names='' rest=$waiting longest=0 line width

	for id in "${!busy[@]}"; do
		read -r _ _ tenths began name <<<"${busy[$id]}"
		names="$names, $name"
		tenths=$((tenths - (SECONDS - began) * 10))
		[ $tenths -le 0 ] || rest=$((rest + tenths))
		[ $tenths -le $longest ] || longest=$tenths
	done
	rest=$((rest / JOBS > longest ? rest / JOBS : longest))
	# From 10 s on, as slow as this run has been.
	[ $expected -lt 100 ] || rest=$((rest * needed / expected))
	printf -v line '%d of %d, %d passed, %d failed, %d:%02d' $ended "$total" $ok_seen $bad_seen \
		$((SECONDS / 60)) $((SECONDS % 60))
	[ $rest -eq 0 ] || line="$line, about $(((rest + 599) / 600)) min left"
	line="$line: ${names#, }"
	if [ -z "$terminal" ]; then
		echo "$line" >&2
		return
	fi
	width=$(stty size <&2)
	width=${width#* }
	[ "${width:-0}" -gt 0 ] || width=80
	printf '\r%s\033[K' "${line:0:width-1}" >&2
}

# tick: the time to the next line of progress
tick() {
	sleep "$PROGRESS" >/dev/null 2>&1 &
	ticker=$!
}
tick

# await_one: until one of those that run is done, and what can be shown is shown.
await_one() {
	local id item part nr=${#busy[@]}

	while [ ${#busy[@]} -eq "$nr" ]; do
		[ -z "$terminal" ] || progress
		wait -n
		if ! kill -0 $ticker 2>/dev/null; then
			[ -n "$terminal" ] || progress
			tick
		fi
		for id in "${!busy[@]}"; do
			read -r item part _ <<<"${busy[$id]}"
			if [ -e "$tmp/$item.$part.rc" ] || ! kill -0 "$id" 2>/dev/null; then end "$id"; fi
		done
	done
	erase
	while [ $shown -lt ${#items[@]} ] && show $shown; do shown=$((shown + 1)); done
}

while read -r tenths item part; do
	while [ ${#busy[@]} -ge "$JOBS" ]; do await_one; done
	begin "$tenths" "$item" "$part"
done < <(cat "$tmp/first"; sort -s -k 1,1nr "$tmp/queue")
while [ ${#busy[@]} -gt 0 ]; do await_one; done
# Not TERM: until the shell that becomes sleep has reset the traps above, it would follow them.
# Disowned, as of a job that a signal ends the shell may print a line, whenever it sees that.
disown $ticker 2>/dev/null
kill -KILL $ticker 2>/dev/null

if [ -s "$tmp/skips" ]; then
	echo 'skipped:'
	cat "$tmp/skips"
fi
# What ONLY has left out took what it took before.
{
	echo 'seconds processor test'
	if [ ${#only[@]} -gt 0 ] && [ -e "$kept" ]; then
		awk 'NR == FNR { new[$3, $4]; print; next } FNR > 1 && !(($3, $4) in new)' \
			"$tmp/seconds" "$kept" | LC_ALL=C sort -s -k 3
	else
		cat "$tmp/seconds"
	fi
} >"$tmp/all" && cp "$tmp/all" "$kept"
# Where somebody else has ended what runs a part, the rest is not shown.
[ $shown -eq ${#items[@]} ] || fail "${items[shown]}" 'what ran it was ended'
# No test at all is a broken build, not a success.
[ $((passed + failed)) -gt 0 ] || failed=1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
