# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# What the tests of the elide command have in common, to be sourced: the build
# directory $O and what is in it, a directory of their own that goes at the end,
# and one line a test. Ends the script that cannot have them.

O=$(realpath "${O:-build}") || exit 1
here=$(realpath "$(dirname "$0")")
elide=$O/bin/elide
mkdata=$O/tests/tools/mkdata
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset LD_PRELOAD DEBUGINFOD_URLS $(env | sed -n 's/^\(ELIDE_[A-Z_]*\)=.*/\1/p')
# Programs built with ASan run with the library before its runtime.
export ASAN_OPTIONS="${ASAN_OPTIONS:-verify_asan_link_order=0}"
nr=0 failed=0 skipped=0

ok() { nr=$((nr + 1)); echo "ok $1"; }
not_ok() { nr=$((nr + 1)); failed=$((failed + 1)); echo "not ok $1: $2"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }

# run_elide ARG...: into out, err and $rc.
run_elide() {
	timeout 120 "$elide" "$@" >out 2>err </dev/null
	rc=$?
}

# expect NAME RC OUT ERR ARG...: the exit code, and the exact texts of both outputs.
expect() {
	name=$1 want_rc=$2 want_out=$3 want_err=$4
	shift 4
	run_elide "$@"
	if [ $rc -ne "$want_rc" ]; then
		not_ok "$name" "exit $rc, not $want_rc: $(cat out err)"
	elif [ "$(cat out)" != "$want_out" ]; then
		not_ok "$name" "printed \"$(cat out)\", not \"$want_out\""
	elif [ "$(cat err)" != "$want_err" ]; then
		not_ok "$name" "said \"$(cat err)\", not \"$want_err\""
	else
		ok "$name"
	fi
}

# same NAME WANT FILE: a file has exactly the text of another.
same() {
	if diff "$2" "$3" >diff.out; then
		ok "$1"
	else
		not_ok "$1" "differs: $(cat diff.out)"
	fi
}
