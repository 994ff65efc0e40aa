#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/check.sh on trees of made-up tests: what it runs, counts and prints, and that nothing
# stays of a test which hangs or of a run that is interrupted.

. "$(dirname "$0")/../script.sh"
check=$root/tests/check.sh
cd "$tmp" || exit 1

# tree: an empty one to be in
tree() {
	cd "$tmp" && rm -rf tree && mkdir -p tree/tests tree/build/tests/unit tree/tmp &&
		cd tree || exit 1
}

# script NAME [LINE]: a script with what is on standard input and this second line
script() {
	mkdir -p "$(dirname "tests/$1")"
	{
		echo '#!/bin/sh'
		[ $# -lt 2 ] || echo "$2"
		cat
	} >"tests/$1"
}

# unit NAME LINE: a cmocka program, as far as can be seen
unit() {
	printf '#!/bin/sh\n%s\n' "$2" >"build/tests/unit/$1" && chmod +x "build/tests/unit/$1"
}

# begin VARIABLE=VALUE...: with no progress, which would be in the output of a slow machine
begin() {
	exec env -u PART -u SAN --default-signal O=build TMPDIR="$PWD/tmp" JOBS=2 PROGRESS=9999 "$@"
}

# run VARIABLE=VALUE...: into out, and the exit status to $rc
run() {
	(begin "$@" bash "$check") >out 2>&1
	rc=$?
}

# printed NAME RC: the run has ended so, and printed what is on standard input
printed() {
	cat >want
	if [ $rc -ne "$2" ]; then
		not_ok "$1" "exit $rc, not $2: $(cat out)"
	elif diff want out >diff.out; then
		ok "$1"
	else
		not_ok "$1" "$(tr '\n' ' ' <diff.out)"
	fi
}

# await CONDITION: until it holds; a minute at most, for a machine that does much else
await() {
	local tries=600

	until eval "$1" || [ $((tries -= 1)) -eq 0 ]; do sleep 0.1; done
}

# gone NAME FILE...: the processes with these ids have ended, and there is no temporary file
gone() {
	local name=$1 pid

	shift
	for pid in $(cat "$@"); do
		# Init may not have reaped it yet.
		if [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; then
			kill -KILL "$pid"
			not_ok "$name" "process $pid of $* is there"
			return
		fi
	done
	if [ -n "$(ls tmp)" ]; then
		not_ok "$name" "$(ls tmp) is there"
	else
		ok "$name"
	fi
}

# Nobody lists what is run: a script is found wherever it lies, and one that is no test says so.
tree
unit test_one 'printf "[ RUN      ] one\n[       OK ] one\nskip two: why\n"'
echo 'echo ok a' | script b/named.sh
echo 'echo ok b; echo note seen; echo ok c' | script deep/er/named.sh
printf 'echo ok d\n' | script a/executable
chmod +x tests/a/executable
echo 'int main(void) { return 0; }' >tests/a/source.c
chmod +x tests/a/source.c
echo 'echo not ok library: it is run' | script a/library.sh '# check: no, sourced by tests'
run
printed 'scripts are found' 0 <<'END'
test_one: ok
tests/a/executable: ok
tests/b/named.sh: ok
tests/deep/er/named.sh: ok
  seen
skipped:
  two: why
5 passed, 0 failed, 1 skipped
END
[ "$(awk 'NR > 1 && $1 $2 ~ /^[0-9.]+$/ { print $3 }' build/tests/seconds | tr '\n' ' ')" = \
	'build/tests/unit/test_one tests/a/executable tests/b/named.sh tests/deep/er/named.sh ' ] &&
	ok 'seconds of each' || not_ok 'seconds of each' "$(cat build/tests/seconds)"

# What fails, in each way there is.
tree
unit test_one 'printf "[  FAILED  ] one\n[  FAILED  ] 1 test(s)\n"; exit 1'
echo 'echo ok a; echo not ok b: wrong; echo more of it' | script a.sh
echo 'echo ok c; exit 5' | script b.sh
echo 'true' | script c.sh
echo 'echo ok d' | script d.sh '# check: second=5'
run
printed 'failures are named' 1 <<'END'
not ok tests/d.sh: its line "# check:" says second=5
not ok one
[  FAILED  ] 1 test(s)
not ok b: wrong
more of it
not ok tests/b.sh: exit 5
not ok tests/c.sh: it ran no test
tests/d.sh: ok
3 passed, 5 failed, 0 skipped
END
tree
run
printed 'no test at all is a failure' 1 <<'END'
0 passed, 1 failed, 0 skipped
END

# ONLY: patterns, or parts of paths; the seconds of the others are kept.
tree
unit test_one 'printf "[       OK ] one\n"'
for name in a/run b/run b/walk; do echo "echo ok $name" | script $name.sh; done
run
sed -i '/tests\/b\/run/s/^ *[0-9.]*/77.0/' build/tests/seconds
run ONLY='unit/test_o? tests/*/walk'
printed 'ONLY: patterns' 0 <<'END'
test_one: ok
tests/b/walk.sh: ok
2 passed, 0 failed, 0 skipped
END
[ "$(awk 'NR > 1 { print ($1 == 77.0) $NF }' build/tests/seconds | tr '\n' ' ')" = \
	'0build/tests/unit/test_one 0tests/a/run.sh 1tests/b/run.sh 0tests/b/walk.sh ' ] &&
	ok 'ONLY: seconds of the others' || not_ok 'ONLY: seconds of the others' "$(cat build/tests/seconds)"
run ONLY='tests/b/ run'
printed 'ONLY: parts of paths' 0 <<'END'
tests/a/run.sh: ok
tests/b/run.sh: ok
tests/b/walk.sh: ok
3 passed, 0 failed, 0 skipped
END
run ONLY='walk wlak'
printed 'ONLY: a pattern that matches nothing' 2 <<'END'
check: ONLY: no test has wlak in its path
END

# Progress, off a terminal and on one of 40 columns: the last script waits for what it is to say.
# The time left is what that script took the last time.
said='1 of 2, 1 passed, 1 failed, '
for where in pipe terminal; do
	tree
	unit test_one 'printf "[       OK ] one\n"; exit 5'
	script a.sh <<END
i=600
until grep -q '$said' progress || [ \$((i -= 1)) -eq 0 ]; do sleep 0.1; done
echo ok a
END
	printf 'seconds processor test\n 900.0 1.0 tests/a.sh\n' >build/tests/seconds
	: >progress
	case $where in
	pipe)
		(begin JOBS=1 PROGRESS=0.1 bash "$check") >out 2>progress
		rc=$?
		says='[0-9]:[0-9][0-9], about 15 min left: tests/a.sh$'
		;;
	terminal)
		(begin JOBS=1 PROGRESS=0.1 TERM=xterm check="$check" \
			script -qefc 'stty cols 40; bash "$check"' progress) >/dev/null
		rc=$?
		# What the terminal shows in the end: of each line, what was written last.
		tr -d '\r' <progress | sed 's/.*\x1b\[K//; /^Script /d; /^$/d' >out
		says='.\{,11\}'$(printf '\033\\[K')'$'
		;;
	esac
	printed "progress: what is printed stays, $where" 1 <<'END'
not ok build/tests/unit/test_one: exit 5
tests/a.sh: ok
2 passed, 1 failed, 0 skipped
END
	tr '\r' '\n' <progress | grep "^$said" >lines
	if [ -s lines ] && ! grep -v "^$said$says" lines >others; then
		ok "progress: $where"
	else
		not_ok "progress: $where" "$(cat -v progress)"
	fi
done

# Parts: all tests in one of them each, as one text; what all of them skip counts once.
tree
cp "$root/tests/script.sh" .
script a.sh '# check: seconds=3 parts=3' <<'END'
. "$(dirname "$0")/../script.sh"
skip rest "of no use"
for i in 1 2 3 4 5 6 7; do ! mine || ok $i; done
finish
END
run
printed 'parts' 0 <<'END'
tests/a.sh: ok
skipped:
  rest: of no use
7 passed, 0 failed, 1 skipped
END
O=build sh tests/a.sh >out
rc=$?
printed 'without parts' 0 <<'END'
skip rest: of no use
ok 1
ok 2
ok 3
ok 4
ok 5
ok 6
ok 7
7 tests, 0 failed, 1 skipped
END

# script.sh: a script that ends before its finish has failed, whatever it has printed and wherever it
# ends, and nothing stays in TMPDIR.
tree
cp "$root/tests/script.sh" .
begins='. "$(dirname "$0")/../script.sh"
clean_up() { echo "clean $(ls "$tmp")" >>cleaned; }
: >"$tmp/file"
ok begun'
while read -r name ends; do
	for shell in bash sh; do
		printf '#!/bin/%s\n%s\n%s\n' $shell "$begins" "$ends" >"tests/$name-$shell.sh"
	done
done <<'END'
adopts printf 'ok x\nnot ok y: z\nskip s: t\n' >lines; adopt lines w 1; adopt /dev/null none 2; finish
exits exit 0
fails not_ok bad why; finish
finishes finish; echo not ok here: it is not reached
inside (finish)
stops
unset echo $unset 2>/dev/null; finish
END
run JOBS=1
sed -i 's/^tests.*: unset: .*/unset/' out
printed 'half a script' 1 <<'END'
not ok y: z
skip s: t
not ok none: exit 2
4 tests, 2 failed, 1 skipped
not ok y: z
skip s: t
not ok none: exit 2
4 tests, 2 failed, 1 skipped
not ok tests/exits-bash.sh: exit 1
not ok tests/exits-sh.sh: exit 1
not ok bad: why
2 tests, 1 failed, 0 skipped
not ok bad: why
2 tests, 1 failed, 0 skipped
tests/finishes-bash.sh: ok
tests/finishes-sh.sh: ok
1 tests, 0 failed, 0 skipped
not ok tests/inside-bash.sh: exit 1
1 tests, 0 failed, 0 skipped
not ok tests/inside-sh.sh: exit 1
not ok tests/stops-bash.sh: exit 1
not ok tests/stops-sh.sh: exit 1
unset
not ok tests/unset-bash.sh: exit 1
unset
not ok tests/unset-sh.sh: exit 2
skipped:
  s: t
  s: t
16 passed, 14 failed, 2 skipped
END
[ "$(sort -u cleaned)" = 'clean file' ] && [ -z "$(ls tmp)" ] && ok 'clean up' ||
	not_ok 'clean up' "$(sort cleaned | uniq -c) $(ls tmp)"

# What takes long is started first, and two run beside each other.
tree
echo 'echo $0 >>started; echo ok a' | script a.sh
echo 'echo $0 >>started; echo ok b' | script b.sh '# check: seconds=5'
echo 'echo $0 >>started; echo ok c' | script c.sh '# check: seconds=50'
run JOBS=1
[ "$(tr '\n' ' ' <started)" = 'tests/c.sh tests/b.sh tests/a.sh ' ] &&
	ok 'long ones first' || not_ok 'long ones first' "$(cat started)"
tree
for i in 1 2; do
	script $i.sh <<END
touch $i; i=600
until [ -e $((3 - i)) ] || [ \$((i -= 1)) -eq 0 ]; do sleep 0.1; done
[ \$i -gt 0 ] && echo ok $i
END
done
run
printed 'two at a time' 0 <<'END'
tests/1.sh: ok
tests/2.sh: ok
2 passed, 0 failed, 0 skipped
END

# A script that hangs, and what it has started in another session, with its signals ignored.
stays='trap "" TERM INT HUP
setsid sh -c "echo \$\$ >pid.inner; exec sleep 5000" &
echo $$ >pid.outer
mktemp >/dev/null
echo ok before
sleep 5000; sleep 5000'
tree
echo "$stays" | script a.sh
run LIMIT=1
printed 'a script that hangs' 1 <<'END'
not ok tests/a.sh: exit 137, after 1 s it is ended
1 passed, 1 failed, 0 skipped
END
gone 'nothing stays of a script that hangs' pid.inner pid.outer

# interrupted SIGNAL RC: the run gets the signal.
interrupted() {
	tree
	echo "$stays" | script a.sh
	echo 'sleep 5000 & echo $! >pid.other; wait' | script b.sh
	begin bash "$check" >out 2>&1 &
	pid=$!
	await '[ -s pid.inner ] && [ -s pid.outer ] && [ -s pid.other ]'
	kill -s "$1" $pid
	wait $pid
	rc=$?
	[ $rc -eq "$2" ] && [ ! -s out ] && ok "ended by SIG$1" ||
		not_ok "ended by SIG$1" "exit $rc: $(cat out)"
	gone "nothing stays after SIG$1" pid.inner pid.outer pid.other
} 2>/dev/null
interrupted TERM 143
interrupted INT 130

finish
