#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=4
# The data of workers that give up their rights, in a directory that they may not write.

. "$(dirname "$0")/common.sh"
drops=$O/tests/tools/drops
ROWS=2560 # of each worker: 64 locks in each of 40 threads

if [ "$(id -u)" -ne 0 ]; then
	skip 'workers without rights' 'only root has rights to give up'
	finish
fi
chmod 755 "$tmp"

# drop HOW...: the server runs in a directory that root alone may write; acquisitions of each
# worker go to counts.
drop() {
	rm -rf dir && mkdir -m 755 dir dir/root
	(cd dir && timeout 60 "$elide" run --mode=profile -- "$drops" "$@" >../out 2>../err)
	rc=$?
	for file in dir/elide.data.*; do
		[ -e "$file" ] || continue
		"$elide" report --json -i "$file" | jq '.totals.acquired'
	done | sort -n >counts
}

for how in setuid seteuid setreuid setresuid chroot; do
	drop after "$how" "$tmp/dir/root"
	if [ $rc -ne 0 ] || grep -q cannot err; then
		not_ok "$how after the fork" "exit $rc: $(cat err)"
	elif [ "$(tr '\n' ' ' <counts)" != "$ROWS $ROWS " ]; then
		not_ok "$how after the fork" "acquired $(tr '\n' ' ' <counts): $(cat err)"
	else
		ok "$how after the fork"
	fi
done
# Here the workers' files cannot be made, and that is said at the end.
drop before setuid
if [ $rc -ne 0 ] || [ -s counts ] || grep -q '^elide: cannot' err ||
	! grep -q '^elide: 2 processes of the run could not write a data file: Permission denied' err; then
	not_ok 'setuid before the fork' "exit $rc: $(cat counts err)"
else
	ok 'setuid before the fork'
fi
if "$elide" report -i dir/elide.data |
	grep -q '^not counted: 2 forked processes that could not write a data file: Permission denied$' &&
	[ "$("$elide" report --json -i dir/elide.data | jq .dropped.processes)" -eq 2 ]; then
	ok 'the report says so'
else
	not_ok 'the report says so' "$("$elide" report -i dir/elide.data | grep not)"
fi

# A program that another user's script starts says nothing that the script may take for its output.
as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
takes_a_lock="$O/tests/preload/scenario plain"
if ! $as_nobody test -r "$O/lib/libelide-preload.so" 2>err || ! $as_nobody $takes_a_lock 2>err; then
	skip 'a program of another user' "it cannot be run: $(cat err)"
else
	rm -rf dir && mkdir -m 755 dir
	for by in launcher hand; do
		run="$elide run -q --mode=profile"
		[ $by = hand ] && run="env ELIDE_MODE=profile LD_PRELOAD=$O/lib/libelide-preload.so"
		(cd dir && $run sh -c "said=\$($as_nobody $takes_a_lock 2>&1); echo \"[\$said]\"" >../out 2>../err)
		[ "$(cat out err)" = '[]' ] && ok "a program of another user, started by $by" ||
			not_ok "a program of another user, started by $by" "$(cat out err)"
	done
	# The first process does say it.
	said="elide: cannot write $tmp/dir/elide.data: Permission denied; nothing is saved"
	rm -rf dir && mkdir -m 755 dir && chown 65534 dir && chmod 555 dir
	(cd dir && $as_nobody env ELIDE_MODE=profile LD_PRELOAD="$O/lib/libelide-preload.so" $takes_a_lock 2>../err)
	[ "$(cat err)" = "$said" ] && ok 'the first process says it' || not_ok 'the first process says it' "$(cat err)"
fi

# A process of another user has the name of its data file lead to a file of root while it is looked for:
# nothing is written to that, read from it, or made beside it.
mkdir -m 700 victim
head -c 16384 /dev/urandom >victim/elide.data
cp victim/elide.data before
mkdir -m 777 swap
ln -s "$tmp/victim" swap/link
cp "$O/lib/libelide-preload.so" "$O/tests/tools/swapper" .
coproc SWAPPER { cd swap && mkdir own && chown 65534 own . link -h && exec setpriv --reuid=65534 --clear-groups \
	env LD_PRELOAD="$tmp/libelide-preload.so" ELIDE_OUTPUT=own/elide.data "$tmp/swapper" own link; }
swapper=$SWAPPER_PID
exec {from}<&"${SWAPPER[0]}" {to}>&"${SWAPPER[1]}"
eval "exec ${SWAPPER[1]}>&-"
read -r line <&"$from"
done=0
for verb in off on snapshot reset; do
	for _ in $(seq 60); do
		timeout 20 "$elide" ctl "$swapper" $verb >>ctl.out 2>&1 && done=$((done + 1))
	done
done
exec {to}>&-
wait "$swapper"
cmp -s victim/elide.data before && [ "$(ls -A victim)" = elide.data ] && ok 'ctl: a file of root is left alone' ||
	not_ok 'ctl: a file of root is left alone' "$(ls -la victim) $(cmp victim/elide.data before)"
[ "$line" = ready ] && [ $done -gt 0 ] && ok "ctl: the process was controlled" ||
	not_ok 'ctl: the process was controlled' "$line $done: $(sort ctl.out | uniq -c | head -5)"
# No symbolic link is followed to what is written.
echo precious >target
# keeps NAME COMMAND...: the link and its target are left as they are.
keeps() {
	local name=$1

	shift
	ln -sfn target link
	"$@" >out 2>err
	[ "$(cat target)" = precious ] && ok "no link is followed: $name" || not_ok "no link is followed: $name" "$(cat err)"
	echo precious >target
}
"$elide" run -q -o linked.data -- "$O/tests/tools/sections" >/dev/null 2>&1
keeps 'run --report' "$elide" run -q --report=link -o linked.data -- "$O/tests/tools/sections"
keeps ELIDE_REPORT env LD_PRELOAD="$O/lib/libelide-preload.so" ELIDE_OUTPUT=linked.data ELIDE_REPORT=link \
	"$O/tests/tools/sections"
keeps 'report --html' "$elide" report --html link linked.data
keeps 'report --trace' "$elide" report --trace link linked.data
keeps merge "$elide" merge -o link linked.data
keeps snapshot "$elide" ctl -o link $$ snapshot
"$elide" report --html /dev/stdout linked.data >page.html && grep -q '</html>' page.html &&
	ok '/dev/stdout is written to' || not_ok '/dev/stdout is written to' ''
"$elide" run -q --report=/dev/stderr -o linked.data -- "$O/tests/tools/sections" >/dev/null 2>err
grep -q lock err && ok '--report=/dev/stderr' || not_ok '--report=/dev/stderr' "$(cat err)"
finish
