#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Crash safety: crash.sh [SEED...]. A process that is killed, exits at once, aborts or crashes at
# a moment drawn from the seed leaves a data file that opens and holds what was completed; one
# whose file gets no room runs on. CRASHES the number of ends (four to a seed).

. "$(dirname "$0")/../script.sh"
CRASHES=${CRASHES:-40}
crash=$O/tests/torture/crash
clean_up() { umount "$tmp/disk" 2>/dev/null; }
# Who ends the test does not leave a file system mounted.
trap 'exit 143' INT TERM
cd "$tmp" || exit 1
# The programs that are to crash need leave no core.
ulimit -c 0

# Where the parts of a whole row are given, they add up to it.
sums_hold() {
	jq -e '[.totals, .rows[]] | all(
		.acquired == .elided + .fallback + .not_attempted and
		.attempts == .commits + .aborts and
		.aborts == ([.causes[]] | add))' report >/dev/null
}

# after HOW SEED RC WANTED: what is wrong with what is left, if anything.
after() {
	[ "$3" = "$4" ] || echo "exit $3 and not $4"
	"$crash" compare log data 2>&1 >/dev/null
	[ -e data ] || [ -e .data.live ] || return
	timeout 20 "$elide" report --json -i data >report 2>err ||
		{ echo "the report fails: $(cat err)"; return; }
	! command -v jq >/dev/null || sums_hold || echo 'the sums of the report do not hold'
}

# dies HOW WANTED SEED...
dies() {
	how=$1 wanted=$2
	shift 2
	bad='' nr_bad=0
	for seed; do
		case $seed in
		*[05]) policy=adaptive ;;
		*) policy=fixed ;;
		esac
		rm -f data* .data*
		# In a shell of its own, which says on its stderr how the program ended.
		sh -c 'timeout 20 env ELIDE_POLICY="$1" ELIDE_OUTPUT=data LD_PRELOAD="$2" \
			"$3" die log "$4" "$5"' sh $policy "$lib" "$crash" "$seed" "$how" >out 2>err
		why=$(after "$how" "$seed" $? "$wanted" | tr '\n' ' ')
		[ -z "$why" ] && continue
		nr_bad=$((nr_bad + 1))
		replay="ELIDE_POLICY=$policy LD_PRELOAD=$lib $crash die log $seed $how"
		bad=${bad:-"seed $seed: $why; replay: $replay"}
	done
	if [ $nr_bad -eq 0 ]; then
		ok "crash-$how ($# times)"
	else
		not_ok "crash-$how" "$nr_bad of $#, $bad"
	fi
}

sections=2000

# lives NAME FILE WORDS: the program ends well, and one line with WORDS says what is amiss.
lives() {
	timeout 20 env ELIDE_OUTPUT="$2" LD_PRELOAD="$lib" "$crash" live log 1 $sections >out 2>err
	rc=$?
	if [ $rc -ne 0 ] || [ "$(cat out)" != $((sections * 4)) ]; then
		not_ok "$1" "exit $rc, $(cat out err | head -c 300)"
	elif [ "$(wc -l <err)" -ne 1 ] || ! grep -q "^elide: .*$3" err; then
		not_ok "$1" "no single line with \"$3\" but: $(head -c 300 err)"
	else
		ok "$1"
	fi
}

# leaves NAME FILE: the part that was saved can be read, and does not count too much; what is lost is said.
leaves() {
	timeout 20 "$elide" report --json -i "$2" >report 2>err
	if [ $? -ne 1 ] || ! grep -q 'bytes are lost.*what is left is reported' err; then
		not_ok "$1" "$(cat err)"
	elif command -v jq >/dev/null && ! sums_hold; then
		not_ok "$1" 'the sums of the report do not hold'
	elif "$crash" compare log "$2" >/dev/null 2>&1; then
		not_ok "$1" 'all was saved: the file was not too small'
	else
		ok "$1"
	fi
}

# disk OPTIONS: mount a small file system at ./disk.
disk() {
	umount disk 2>/dev/null
	mkdir -p disk
	mount -t tmpfs -o "$1" none disk 2>/dev/null
}

test_crashes() {
	seeds=${*:-$(seq 1 $(((CRASHES + 3) / 4)))}
	# shellcheck disable=SC2086 # several words
	dies kill 137 $seeds
	dies _exit 3 $seeds
	dies abort 134 $seeds
	dies segv 139 $seeds
	command -v jq >/dev/null || skip crash-sums 'jq is not installed'
}

test_no_room() {
	if disk size=16k; then
		lives full-disk disk/data 'No space left on device; nothing is saved'
		if [ -e disk/data ]; then
			not_ok full-disk-leaves-nothing "$(ls -l disk/data)"
		else
			ok full-disk-leaves-nothing
		fi
		disk size=400k
		lives disk-fills disk/data 'No space left on device; what follows is not saved'
		leaves disk-fills-report disk/data
		disk ro
		lives read-only disk/data 'Read-only file system; nothing is saved'
		umount disk
	else
		skip full-disk 'a file system can be mounted here by root only, or not at all'
	fi
	lives no-directory none/data 'No such file or directory; nothing is saved'
	# In a subshell: the limit cannot be raised again. Units of 512 bytes.
	rm -f data* .data*
	(ulimit -f 100 && lives size-limit data 'File too large; nothing is saved') >lines
	rm -f data* .data*
	(ulimit -f 600 && lives size-limit-later data 'File too large; what follows is not saved') \
		>>lines
	adopt lines size-limit 0
	leaves size-limit-report data
}

test_crashes "$@"
test_no_room
finish
