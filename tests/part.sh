# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# For a script with a line "# check: parts=N", see tests/check.sh: mine succeeds for one in N of
# its calls, in each part for others. All are mine where nobody asks for a part.
part=${PART:-1/1} part_calls=0

mine() {
	part_calls=$((part_calls + 1))
	[ $(((part_calls - ${part%/*}) % ${part#*/})) -eq 0 ]
}
