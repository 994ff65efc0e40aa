# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# What the tests of the elide command have in common, beside ../script.sh. They are in $tmp.

. "$(dirname "$0")/../script.sh"
mkdata=$O/tests/tools/mkdata
clean_up() { chmod -R u+w "$tmp"; }
cd "$tmp" || exit 1
no_settings
# Programs built with ASan run with the library before its runtime.
export ASAN_OPTIONS="${ASAN_OPTIONS:-verify_asan_link_order=0}"

# run_elide ARG...: into out, err and $rc.
run_elide() {
	timeout 120 "$elide" "$@" >out 2>err </dev/null
	rc=$?
}

# refuses NAME WORDS COMMAND...: exit 2, and one line with the words.
refuses() {
	local name=$1 words=$2

	shift 2
	timeout 60 "$@" >out 2>err </dev/null
	rc=$?
	if [ $rc -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -qE -- "$words" err; then
		not_ok "$name" "exit $rc: $(cat out err)"
	else
		ok "$name"
	fi
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

# as_expected NAME FILE: a report has the text of the file of that name in expected/, which
# REGENERATE=1 writes. Addresses in the objects differ from build to build, and clang's paths are
# absolute. In JSON, an object or list that holds no other is one line; but for idle--json, which
# is compared as it is.
as_expected() {
	tr -d '\r' <"$2" | sed 's/mkdata+0x[0-9a-f]*/mkdata+0xN/g
		s|^build-id .*/tests/tools/mkdata [0-9a-f]*$|build-id mkdata HEX|
		s|"[^"]*/tests/tools/subject|"tests/tools/subject|g' >text
	case $1 in
	idle--json) ;;
	*json)
		awk '
			# What follows the last bracket that opens: one line if the next one closes.
			/[[{]$/ { if (open) print open; open = one = $0; next }
			!open { print; next }
			{ open = open "\n" $0; sub(/^ */, one ~ /[[{]$/ || /^ *[]}]/ ? "" : " "); one = one $0 }
			/^[]}],?$/ { print one; open = "" }' text >folded && mv folded text
		;;
	esac
	[ -z "${REGENERATE:-}" ] || cp text "$here/expected/$1"
	same "${3:-$1}" "$here/expected/$1" text
}

# same NAME WANT FILE: a file has exactly the text of another.
same() {
	if diff "$2" "$3" >diff.out; then
		ok "$1"
	else
		not_ok "$1" "differs: $(cat diff.out)"
	fi
}
