#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# No call of the libraries takes more than 1,024 bytes of its thread's stack beyond what glibc's
# takes: each symbol of the lists, in each mode, and a handler on an alternate stack that has no
# more.
#
# What needs elision runs natively where RTM works, else emulated where the emulator is built, else
# it is skipped.

. "$(dirname "$0")/../script.sh"
bin=$O/tests/preload
cd "$tmp" || exit 1
# Bytes: elide(7) names the number.
MORE=1024

if ldd "$lib" 2>/dev/null | grep -q 'lib[a-z]*san\.so' || nm "$lib" 2>/dev/null | grep -q '__[ut]b\{0,1\}san'; then
	skip stack 'a sanitizer needs stack of its own'
	finish
fi

# What binds functions at their first call takes a stack of its own, in the program's name.
export LD_BIND_NOW=1
emulator="$O/libexec/elide/launch --tool=rtmgrind -q"

# run NAME=VALUE... COMMAND...: with a fresh data file, output in out and err.
run() {
	rm -f data*
	timeout 120 env ELIDE_OUTPUT="$tmp/data" "$@" >out 2>err
	rc=$?
}

# deepest NAME PLAIN: the lines in out beside those in the file PLAIN.
deepest() {
	if [ $rc -ne 0 ]; then
		not_ok "$1" "exit $rc: $(head -c 300 err | tr '\n' ' ')"
		return
	fi
	bad=$(awk -v more=$MORE 'NR == FNR { plain[$1] = $2; next }
		!($1 in plain) || $2 - plain[$1] > more { print $1 " " $2 - plain[$1] }' "$2" out)
	awk 'NR == FNR { plain[$1] = $2; next } { print $2 - plain[$1], $1 }' "$2" out | sort -rn |
		sed -n "1s/\(.*\) \(.*\)/note $1: at most \1 bytes more than glibc's, \2/p"
	if [ -z "$bad" ]; then
		ok "$1"
	else
		not_ok "$1" "more than $MORE bytes beyond glibc's: $(echo $bad)"
	fi
}

# handler NAME [NAME=VALUE... COMMAND...]: COMMAND without the library, and with it on an alternate
# stack of $MORE bytes more than it needed there.
handler() {
	name=$1
	shift
	timeout 120 env ELIDE_MODE=off "$@" "$bin/altstack" 16384 >plain-handler 2>err
	bytes=$(cat plain-handler)
	run LD_PRELOAD="$lib" "$@" "$bin/altstack" $((bytes + MORE))
	if [ $rc -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "exit $rc on $((bytes + MORE)) bytes, plain needs $bytes: $(head -c 200 err)"
	fi
}

run "$bin/stack"
cp out plain
[ $rc -eq 0 ] && [ -s plain ] || not_ok stack-plain "exit $rc: $(head -n 1 err)"
run LD_PRELOAD="$lib" ELIDE_MODE=profile "$bin/stack"
deepest stack-profile plain
run LD_PRELOAD="$lib" ELIDE_MODE=profile ELIDE_STACKS=1 ELIDE_ORDER=1 "$bin/stack"
deepest stack-profile-all plain
# Without RTM this restricts how many threads wait.
run LD_PRELOAD="$lib" ELIDE_MODE=elide ELIDE_STACKS=1 "$bin/stack"
deepest stack-elide plain
run LD_PRELOAD="$O/lib/libelide-heap.so:$lib" ELIDE_MODE=profile ELIDE_HEAP=1 \
	ELIDE_REPORT="$tmp/report" "$bin/stack"
deepest stack-heap plain
handler handler-profile ELIDE_MODE=profile ELIDE_STACKS=1
handler handler-elide ELIDE_MODE=elide ELIDE_STACKS=1

if [ -z "$(lacks emulator)" ]; then
	export VALGRIND_LIB="$O/libexec/elide"
	run $emulator "$bin/stack"
	cp out plain
	run LD_PRELOAD="$lib" ELIDE_MODE=elide ELIDE_STACKS=1 $emulator "$bin/stack"
	deepest stack-emulated plain
	run LD_PRELOAD="$lib" ELIDE_MODE=elide ELIDE_STACKS=1 ELIDE_ORDER=1 $emulator "$bin/stack"
	deepest stack-emulated-order plain
	handler handler-emulated ELIDE_MODE=elide ELIDE_STACKS=1 $emulator
else
	skip stack-emulated 'no emulator is built'
fi
finish
