# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# What tests of the emulator have in common that are functions test_NAME, in bash, beside
# ../script.sh. One fails with "fail WHY", and is skipped with "cannot REASON".

. "$(dirname "$0")/../script.sh"

fail() { echo "$*" >"$tmp/why"; return 1; }
cannot() { echo "$*" >"$tmp/cannot"; return 1; }

# run_tests [NAME...]: these tests or all, and the end of the script.
run_tests() {
	local name

	[ $# -gt 0 ] || set -- $(declare -F | sed -n 's/^declare -f test_//p')
	for name; do
		mine || continue
		rm -f "$tmp/why" "$tmp/cannot" "$tmp/log"
		if "test_$name"; then
			ok "$name"
		elif [ -e "$tmp/cannot" ]; then
			skip "$name" "$(cat "$tmp/cannot")"
		else
			not_ok "$name" "$(tr '\n' ' ' <"$tmp/why" 2>/dev/null)"
		fi
	done
	finish
}
