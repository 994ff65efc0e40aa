#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, figures of make bench-entry
#
# What the decision of the adaptive policy and its bookkeeping cost a section on this
# processor: one thread that locks (entry.c), under a library whose RTM instructions are
# nothing (nop.h), policy by policy in turn. Prints "case,policy,ns" and the verdict; O is the
# build directory, ROUNDS the runs of each. Must never run two threads that lock: nothing
# isolates them.
set -u
O=$(cd "${O:-build}" && pwd) || exit 1
ROUNDS=${ROUNDS:-5}
# What the adaptive policy may cost more than the fixed one, ns.
LIMIT_NS=2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: >"$work/all"

for round in $(seq "$ROUNDS"); do
	for policy in never fixed adaptive; do
		timeout 120 env LD_PRELOAD="$O/tests/policy/libelide-nop.so" ELIDE_MODE=elide \
			ELIDE_POLICY=$policy ELIDE_OUTPUT="$work/data" \
			"$O/tests/policy/entry" >"$work/out" 2>"$work/err" || {
			echo "entry: $policy: exit $?: $(tail -n 1 "$work/err")" >&2
			exit 1
		}
		# Without commits the library has not elided, and its time says nothing.
		if [ "$policy" = fixed ] && [ "$round" = 1 ]; then
			"$O/bin/elide" report --csv "$work/data" 2>"$work/err" | awk -F, '
				NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
				{ commits += $at["commits"]; real += $at["fallback"] + $at["not_attempted"] }
				END { exit !(commits > 99 * real) }' || {
				echo 'entry: the library without RTM instructions elided nothing' >&2
				exit 1
			}
		fi
		awk -v policy=$policy '{ print $1 "," policy "," $2 }' "$work/out" >>"$work/all"
	done
done
# The least of each, as whatever else runs here only adds to it.
awk -F, -v limit=$LIMIT_NS '
	{
		key = $1 "," $2
		if (!(key in ns) || $3 + 0 < ns[key])
			ns[key] = $3 + 0
		if (!($1 in seen))
			order[++nr] = $1
		seen[$1] = 1
	}
	END {
		n = split("never fixed adaptive", policy, " ")
		for (i = 1; i <= nr; i++) {
			c = order[i]
			for (p = 1; p <= n; p++)
				printf "%s,%s,%.2f\n", c, policy[p], ns[c "," policy[p]]
			more = ns[c ",adaptive"] - ns[c ",fixed"]
			printf "%s: adaptive %.2f ns more than fixed, limit %d: %s\n", c, more, limit,
				(more <= limit ? "reached" : sprintf("missed by %.2f", more - limit))
		}
	}' "$work/all"
