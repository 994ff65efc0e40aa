#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The names of data files: while their process runs, when it is killed, and for the readers.

. "$(dirname "$0")/../script.sh"
said=$tmp/said
mkdir "$tmp/files" && cd "$tmp/files" || exit 1

# is NAME GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "\"$2\" and not \"$3\""; fi; }

# files: names of all files here, in a line
files() { ls -A | tr '\n' ' '; }

# of FILE: the process whose data file a reader finds by the name
of() { "$elide" report --json --no-children -i "$1" 2>/dev/null | sed -n 's/^  "pid": \([0-9]*\).*/\1/p'; }

# start: a program that counts until standard input ends, in a process $pid
start() {
	coproc LOOPER { LD_PRELOAD=$lib exec "$O/tests/tools/looper" 2>"$said"; }
	pid=$LOOPER_PID
	exec {from}<&"${LOOPER[0]}" {to}>&"${LOOPER[1]}"
	eval "exec ${LOOPER[1]}>&-"
	sections=0
	# The file is complete once a lock call has returned.
	while [ "$sections" -eq 0 ]; do
		echo >&"$to"
		read -r sections <&"$from" || break
	done
}

# end: of that program; its exit status in $rc
end() {
	exec {to}>&- {from}<&-
	wait "$pid" 2>/dev/null
	rc=$?
}
clean_up() { kill "$pid" 2>/dev/null; }

start
first=$pid
is 'a live file has a name of its own' "$(files)" '.elide.data.live '
is 'readers find it by the final name' "$(of elide.data)" "$pid"
is 'elide stacks finds it by the process' "$("$elide" stacks "$pid" >/dev/null 2>&1; echo $?)" 0
"$elide" ctl "$pid" reset 2>err && "$elide" ctl "$pid" snapshot 2>>err
is 'what elide ctl writes has the final name' "$(files)" '.elide.data.live elide.data.base elide.data.snapshot err '
rm -f elide.data.* err
: >elide.data
LD_PRELOAD=$lib /bin/true
echo >&"$to"
read -r sections <&"$from"
is 'a live name is not taken' "$(files)" '.elide.data.live elide.data '
end
is 'truncating the final name does no harm' "$rc $(files)$(of elide.data)" "0 elide.data $first"
LD_PRELOAD=$lib /bin/true
is 'a command without locks displaces nothing' "$(files)$(of elide.data)" "elide.data $first"

start
second=$pid
is 'the older file is old at once' "$(files)$(of elide.data.old) $(of elide.data)" \
	".elide.data.live elide.data.old $first $second"
kill -KILL "$pid"
end
is 'a killed process leaves its file' "$(files)" '.elide.data.live elide.data.old '
cp .elide.data.live kept
is 'a reader finds it' "$(of elide.data)" "$second"
is 'and gives it its name' "$(files)" 'elide.data elide.data.old kept '
cmp -s elide.data kept && ok 'without a change' || not_ok 'without a change' differs
rm -f kept

start
kill -KILL "$pid"
end
third=$pid
LD_PRELOAD=$lib /bin/true
is 'so does the next process' "$(files)$(of elide.data) $(of elide.data.old)" \
	"elide.data elide.data.old $third $second"
"$elide" run -q -o run.data -- sh -c "LD_PRELOAD=$lib $O/tests/preload/scenario killed" 2>/dev/null
is 'and the launcher' "$(ls -A | grep -c '^run\.data') $(ls -A | grep -c live)" '1 0'
rm -f elide.data* run.data*

# What was backed and is not used goes when the launcher sees the end; the file is still whole.
for way in killed _exit; do
	"$elide" run -q -o run.data -- "$O/tests/preload/scenario" $way 2>/dev/null
	[ "$(stat -c %s run.data)" -lt 65536 ] && "$elide" report -i run.data >said 2>&1 && ! grep -q damaged said &&
		ok "a short process leaves a small file, $way" ||
		not_ok "a short process leaves a small file, $way" "$(stat -c %s run.data) bytes, $(cat said)"
	rm -f run.data* said
done

# A foreign file that comes into the way.
start
echo 'my thesis' >elide.data
end
is 'a foreign file stays' "$(cat elide.data) $(of "elide.data.$pid")" "my thesis $pid"
grep -q "^elide: .*/elide\.data exists and is not a data file: left alone, the data are in .*/elide\.data\.$pid$" \
	"$said" && ok 'and that is said' || not_ok 'and that is said' "$(cat "$said")"
rm -f elide.data*

# More than ELIDE_MAX_FILES children.
ELIDE_MAX_FILES=40 ELIDE_OUTPUT=storm LD_PRELOAD=$lib "$O/tests/preload/scenario" fork-among-threads
there=$(ls -A | grep -c '^storm\.[0-9]')
[ "$there" -le 100 ] && [ "$there" -ge 40 ] && ok 'files of children are bounded' ||
	not_ok 'files of children are bounded' "$there"

finish
