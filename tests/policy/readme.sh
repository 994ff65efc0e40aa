#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, writes for make bench-policy
#
# readme.sh POLICY.md README.md: the README as it is, but with the numbers of the page, regret and
# peers, in the sentence between its two marks. Must never change a file.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 POLICY.md README.md" >&2; exit 2; }
for mark in '<!-- policy -->' '<!-- /policy -->'; do
	[ "$(grep -cxF "$mark" "$2")" = 1 ] || { echo "$0: $2 has not one line $mark" >&2; exit 1; }
done
awk -F'|' '
	# trimmed TEXT: without blanks around it
	function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
	FILENAME == ARGV[1] && $2 == " all " && NF > 6 {
		rows = trimmed($3)
		split(trimmed($5), mean, ":")
		split(trimmed($6), worst, ":")
		at = trimmed($7)
	}
	FILENAME == ARGV[1] && NF == 6 { beside[trimmed($2)] = trimmed($4) }
	FILENAME == ARGV[1] { next }
	$0 == "<!-- /policy -->" { inside = 0 }
	!inside
	$0 == "<!-- policy -->" {
		inside = 1
		printf "On %d rows of the policy suite, in virtual time, the adaptive policy is %.2f %% %s than the best\n" \
			"fixed choice (mean; worst %s %%, %s cores). Without elide the same programs take %s times as long,\n" \
			"with glibc\047s own elision %s times (geometric means).\n", \
			rows, mean[1] < 0 ? -mean[1] : mean[1], mean[1] < 0 ? "faster" : "slower", worst[1], at, beside["plain"], beside["glibc-own"]
	}' "$1" "$2"
