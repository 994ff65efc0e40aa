#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# What a program may take from itself: system calls by a seccomp filter, the time-stamp counter, a
# standard error that can be written to. The library does no harm there, and counts on.

. "$(dirname "$0")/../script.sh"
bin=$O/tests/preload
cd "$tmp" || exit 1

if ldd "$lib" 2>/dev/null | grep -q 'lib[a-z]*san\.so'; then
	skip filter 'a sanitizer makes system calls of its own'
	finish
fi

# try NAME WANTED SETTINGS... -- COMMAND...: its output is WANTED, its status 0.
try() {
	name=$1 wanted=$2
	shift 2
	settings=
	while [ "$1" != -- ]; do
		settings="$settings $1"
		shift
	done
	shift
	rm -f data*
	# shellcheck disable=SC2086
	timeout 60 env ELIDE_OUTPUT="$tmp/data" LD_PRELOAD="$lib" $settings "$@" >out 2>err
	rc=$?
	text=$(tr '\n' ' ' <out)
	if [ $rc = 0 ] && [ "$text" = "$wanted" ]; then
		ok "$name"
	else
		not_ok "$name" "exit $rc, printed $text$(head -c 300 err)"
	fi
}

# Without the library, so that what fails below is the library's.
"$bin/filter" seccomp first >out 2>err
[ "$(cat out)" = ended ] || { skip filter "no seccomp filters here, $(head -c 200 err)"; finish; }

for settings in 'ELIDE_MODE=profile' 'ELIDE_MODE=elide' 'ELIDE_MODE=elide ELIDE_STACKS=1 ELIDE_ORDER=1'; do
	short=$(echo "$settings" | sed 's/ELIDE_//g; s/ /-/g')
	for how in 'seccomp' 'prctl first' 'seccomp kill' 'prctl jump' 'seccomp fails'; do
		# shellcheck disable=SC2086
		try "filter-$(echo "$how" | tr ' ' -)-$short" 'ended ' $settings -- "$bin/filter" $how
	done
	# shellcheck disable=SC2086
	try "filter-fork-$short" 'ended ended ' $settings -- "$bin/filter" seccomp fork
	lost=$(sum dropped | cut -d, -f10)
	[ "$lost" = 1 ] && ok "filter-fork-counted-$short" || not_ok "filter-fork-counted-$short" "lost=$lost"
	for how in strict tsc; do
		# shellcheck disable=SC2086
		try "$how-$short" 'ended ' $settings -- "$bin/filter" $how
	done
done

# Each acquisition, and each call of a semaphore, barrier or condition variable, is in a row, or among those
# said not to be counted.
try filter-counts 'ended ' ELIDE_MODE=profile -- "$bin/filter" seccomp
all=$(sum dropped | sed 's/.*,//')
for kind in acquired sem barrier cond reacquire; do
	all=$((all + $(sum $kind)))
done
[ $all = 57644 ] && ok filter-counts-all || not_ok filter-counts-all "$all of 57644"

for how in gone full socket stopped "limit $tmp/file" "own $tmp/file"; do
	# The line is that the data file cannot be written.
	# shellcheck disable=SC2086
	try "stderr-${how%% *}" live ELIDE_MODE=profile ELIDE_OUTPUT=/proc/x -- "$bin/stderr" $how
done
[ "$(cat file)" = own ] && ok stderr-own-file || not_ok stderr-own-file "$(head -c 100 file)"
try stderr-cancel '' ELIDE_MODE=profile -- "$bin/stderr" cancel

# Filters that are there before the program starts, and so before the library.
all_counted() {
	all=$(($(sum acquired) + 0))
	[ $all = 52812 ] && ok "$1-all" || not_ok "$1-all" "$all of 52812, $(head -c 300 err)"
}
inherited() { # ACTION LIST SETTINGS...
	action=$1 list=$2
	shift 2
	try "inherited-$action-$list-$(echo "$*" | sed 's/ELIDE_//g; s/ /-/g')" 'ended ' "$@" LD_PRELOAD= \
		INHERIT_PRELOAD="$lib" -- "$bin/inherit" "$action" "$list" "$bin/filter" none
}
for settings in 'ELIDE_MODE=profile' 'ELIDE_MODE=elide ELIDE_STACKS=1 ELIDE_ORDER=1'; do
	for list in all needs alone nowait; do
		for action in kill errno trap allow; do
			# shellcheck disable=SC2086
			inherited $action $list $settings
			case $action-$list in
			*-all | *-nowait | allow-needs) all_counted "inherited-$action-$list" ;;
			esac
		done
	done
	# Neither a call of its own, nor a line, where it is not to be used.
	# shellcheck disable=SC2086
	inherited kill needs $settings ELIDE_MODE=off
	[ -s err ] && not_ok inherited-off "$(head -c 300 err)" || ok inherited-off
done
inherited kill nowait ELIDE_MODE=profile
grep -q 'kills for 1 of the system calls that the library makes, as wait4:' err && ok inherited-said ||
	not_ok inherited-said "$(head -c 300 err)"
# Each call of the library alone, where the program can do without it.
for call in $("$bin/inherit" names); do
	"$bin/inherit" kill "but:$call" "$bin/filter" none >plain 2>&1 || continue
	inherited kill "but:$call" ELIDE_MODE=elide ELIDE_STACKS=1 ELIDE_ORDER=1
	# Without its id a thread has no place.
	[ "$call" = gettid ] || all_counted "inherited-but-$call"
done 2>killed

# The list of system calls in elide(7) is that of lib/base/syscalls.def, whose names the compiler demands.
"$bin/inherit" names | sort >names
# Made where no filter could have been asked before, and so not in that list.
clone=56
echo clone >>names
sort -o names names
sed -n '/table of system calls/,/^\.El/p' "$O/man/elide.7" | sed -n 's/^\.It Cm //p; s/^\.Cm \(.*,\)/\1/p' |
	tr -d ' .' | tr ',' '\n' | sort -u >rows
[ -s rows ] && cmp -s names rows && ok table-names || not_ok table-names "$(comm -3 names rows | tr '\n' ' ')"

# Each is made, and no other. Not by every run, or not here: CHANCE REASON.
cat >chance <<'END'
futex_lock_pi two global-lock paths at the same time, before Linux 5.14
futex_lock_pi2 two global-lock paths at the same time
futex_unlock_pi two global-lock paths at the same time
nanosleep two global-lock paths at the same time, and a refusal of these
sched_getscheduler a thread is about to be parked
sched_yield a contended spinlock at a restricted site
clock_gettime a vDSO without a clock
perf_event_open a processor with RTM
poll no /proc
mremap elide detach
membarrier a table of locks that is made anew beside other threads
futex_requeue the end of a thread that has used a lock outside of the program's own data
tgkill a thread that begins with a robust mutex that the library does not know of
flock a process that elides, and has learnt something of its locks
geteuid a parent whose memory map cannot be read
END
record() { # SETTINGS... -- COMMAND...
	set -- env LD_PRELOAD="$lib" ELIDE_OUTPUT=data "$@"
	[ -f untraced ] && return
	timeout 60 "$bin/record" libelide-preload "$@" 2>err >>recorded
	case $? in
	0) ;;
	77) : >untraced ;;
	*) not_ok table-record "$* $(head -c 300 err)" ;;
	esac
}
: >recorded
rm -f data*
record ELIDE_MODE=elide ELIDE_STACKS=1 ELIDE_ORDER=1 ELIDE_REPORT=report ELIDE_LEARNED=learned \
	"ELIDE_LOCKS=elide:late" "$bin/filter" none fork
record ELIDE_MODE=profile "$bin/filter" none fork
record ELIDE_MODE=profile ELIDE_OUTPUT=/proc/x "$bin/filter" none few
record ELIDE_MODE=profile ELIDE_OUTPUT=/proc/x "$bin/stderr" socket
rm -f data*
# Twice: an older data file is there.
for how in 'errno but:fallocate' 'kill but:renameat2' 'kill but:renameat2'; do
	# shellcheck disable=SC2086
	record ELIDE_MODE=profile INHERIT_PRELOAD="$lib" LD_PRELOAD= "$bin/inherit" $how "$bin/filter" none few
done
if [ -f untraced ]; then
	skip table-calls 'no tracing here'
else
	sort -u recorded | sed "s/^number $clone\$/clone/" | sort >made
	more=$(comm -23 made rows | tr '\n' ' ')
	[ -z "$more" ] && ok table-complete || not_ok table-complete "not in elide(7): $more"
	sed 's/ .*//' chance | sort >rare
	none=$(comm -13 made rows | comm -23 - rare | tr '\n' ' ')
	[ -z "$none" ] && ok table-made || not_ok table-made "no run makes: $none"
fi

finish
