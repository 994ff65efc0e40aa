#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, a program of tests/fidelity/rows
#
# footprint.sh: figures of cache lines that a search of each index reads, as
# index_bench counts them; O is the build directory, FULL=1 the paper's 20
# million keys. Must never print a figure of a run that was not whole.
set -u -o pipefail
keys=1000000
[ -z "${FULL:-}" ] || keys=20000000

# count NAME OPTION...: the average and the worst
count() {
	local name=$1
	shift
	"$O/bin/index_bench" --scheme=none --updates=0 --footprint --preload=$keys --ops=100000 --csv \
		"$@" | awk -F, -v name="$name" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["check"] == "\"ok\"" {
			print name, $at["footprint_lines.average"]
			print name "_worst", $at["footprint_lines.worst"]
			printed = 1
		}
		END { exit !printed }'
}

echo "keys $keys"
count delta_linear --index=delta &&
	count delta_binary --index=delta --search=binary &&
	count btree --index=btree
