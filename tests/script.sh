# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# What a script of tests begins with, sh's or bash's:
#
#	. "$(dirname "$0")/../script.sh"
#
# $O is the build directory, $here that of the script, $root the repository, $tmp a new directory
# which goes at the end: absolute paths all. The last command of a script is finish; one that ends
# without it fails, whatever its status, so that none passes which has died half way.
set -u

O=$(realpath "${O:-build}") || exit 1
here=$(realpath "$(dirname "$0")") || exit 1
root=$(dirname "$(dirname "$here")")
tmp=$(mktemp -d) || exit 1
elide=$O/bin/elide
lib=$O/lib/libelide-preload.so
PART=${PART:-1/1}
nr=0 failed=0 skipped=0 mine_calls=0 finished=
unset LD_PRELOAD

# ok NAME, not_ok NAME WHY, skip NAME REASON: a line of each test, as tests/check.sh counts them.
ok() { nr=$((nr + 1)); echo "ok $1"; }
not_ok() { nr=$((nr + 1)); failed=$((failed + 1)); echo "not ok $1: $2"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

# adopt FILE NAME STATUS [WHY]: a program that has printed such lines and ended so. The test NAME
# has failed if the status is another one than 0, and no line says why.
adopt() {
	adopt_bad=$(grep -c '^not ok ' "$1")
	cat "$1"
	nr=$((nr + $(grep -c '^ok ' "$1") + adopt_bad)) failed=$((failed + adopt_bad))
	skipped=$((skipped + $(grep -c '^skip ' "$1")))
	[ "$3" -eq 0 ] || [ "$adopt_bad" -gt 0 ] || not_ok "$2" "exit $3${4:+: $4}"
}

# clean_up: for scripts to define anew; called at each end, before $tmp goes.
clean_up() { :; }

finish() {
	finished=yes
	echo "$nr tests, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
	exit
}

script_ends() {
	script_status=$?
	clean_up
	rm -rf "$tmp"
	[ -n "$finished" ] || [ $script_status -ne 0 ] || script_status=1
	exit $script_status
}
trap script_ends EXIT

# mine: whether this part of a script with a line "# check: parts=N" has the next of its tests. It
# succeeds for one in N calls, in each part for others; always where nobody asks for a part.
mine() {
	mine_calls=$((mine_calls + 1))
	[ $(((mine_calls - ${PART%/*}) % ${PART#*/})) -eq 0 ]
}

# sanitizer: asan or tsan where the library has one of these.
sanitizer() { ldd "$lib" 2>/dev/null | sed -n 's/^[[:space:]]*lib\([at]san\)\.so.*/\1/p'; }

# preloads NAME: $first is what LD_PRELOAD has before the library, AddressSanitizer's runtime and a
# colon, or nothing. With ThreadSanitizer, which has wrappers of its own for the lock calls and must
# be in the program, the script skips NAME and ends.
preloads() {
	first=
	case $(sanitizer) in
	asan)
		first=$(ldd "$lib" | sed -n 's/.*libasan\.so[^ ]* => \([^ ]*\).*/\1:/p')
		# What the programs leak is not the library's.
		export ASAN_OPTIONS=detect_leaks=0
		;;
	tsan)
		skip "$1" 'ThreadSanitizer has wrappers of its own for these calls'
		finish
		;;
	esac
}

# sum NAME [FILE]: one of the totals of a data file.
sum() { "$O/tests/preload/sums" "${2:-data}" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$1=//p"; }

# lacks WHAT...: prints why the first of these cannot be had, nothing if all can: a command, emulator,
# or plain for programs without a sanitizer.
lacks() {
	for thing; do
		case $thing in
		emulator)
			if [ ! -x "$O/libexec/elide/rtmgrind-amd64-linux" ]; then
				echo 'rtmgrind is not built (no supported valgrind)'
			elif ! command -v valgrind >/dev/null; then
				echo 'valgrind is not installed'
			elif [ "$(sanitizer)" = asan ]; then
				echo 'AddressSanitizer and Valgrind want the same addresses'
			else
				continue
			fi
			;;
		plain) [ -n "$(sanitizer)" ] && echo 'a sanitizer is linked to it' || continue ;;
		*) command -v "$thing" >/dev/null && continue || echo "$thing is not installed" ;;
		esac
		return
	done
}

# needs NAME WHAT...: a script that cannot have one of these skips NAME, and ends.
needs() {
	needs_name=$1
	shift
	needs_why=$(lacks "$@")
	[ -z "$needs_why" ] || { skip "$needs_name" "$needs_why"; finish; }
}

# no_settings: those of the library and of glibc that the caller's environment has.
no_settings() {
	# shellcheck disable=SC2046 # several names
	unset GLIBC_TUNABLES DEBUGINFOD_URLS $(env | sed -n 's/^\(ELIDE_[A-Z_]*\)=.*/\1/p')
}
