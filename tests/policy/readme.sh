#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, writes for make bench-policy
#
# readme.sh POLICY.md README.md: the README as it is, but with the numbers of the page: what
# was run, the rows and the peers, between its two marks. Must never change a file.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 POLICY.md README.md" >&2; exit 2; }
for mark in '<!-- policy -->' '<!-- /policy -->'; do
	[ "$(grep -cxF "$mark" "$2")" = 1 ] || { echo "$0: $2 has not one line $mark" >&2; exit 1; }
done
awk '
	FILENAME == ARGV[1] {
		if (/^Virtual time/)
			run = $0
		if (/^\| workload/)
			nextfile
		if (/^\|/ || (/^$/ && tables))
			tables = tables $0 "\n"
		next
	}
	$0 == "<!-- /policy -->" { inside = 0 }
	!inside
	$0 == "<!-- policy -->" {
		inside = 1
		printf "%s\n\n%s", run, tables
	}' "$1" "$2"
