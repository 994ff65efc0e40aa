#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, figures of make bench-learned
#
# What short processes gain from ELIDE_LEARNED: each load of the suite RUNS times in a row, with the
# file of the run before, in virtual time. Prints "workload,cores,without,run 1,run 2..." in ns for
# a section, then the geometric mean of each run beside the one without the file. O is the build
# directory; CORES, MS (length of a run), RUNS and ONLY (a pattern of workloads) select.
set -u
O=$(cd "${O:-build}" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
RUNS=${RUNS:-4}
MS=${MS:-5}

# one OPTIONS...: a run; prints ns for a section of virtual time
one() {
	rm -f data counters
	timeout 300 "$O/bin/elide" run -q --emulate --cores="$cores" --counters=counters -o data \
		"$@" >out 2>err || { echo "learned-gain: $*: $(tail -n 1 err)" >&2; return; }
	awk 'FNR == NR { if ($1 == "time.elapsed_ns") ns = $2; next }
		/check=ok/ { split($1, part, "="); printf "%.2f", ns / part[2] }' counters out
}

for cores in ${CORES:-4 16}; do
	while IFS='|' read -r what name _ machine _ command; do
		# Loads that say how many threads or which machine they need are left to the suite.
		case $what:$machine:$command in
		workload:-:*@*) continue ;;
		workload:-:load\ *) ;;
		*) continue ;;
		esac
		# shellcheck disable=SC2254 # a pattern
		case $name in ${ONLY:-*}) ;; *) continue ;; esac
		rm -f learned
		# shellcheck disable=SC2086 # words
		set -- "$O/tests/policy/"$command --threads="$cores" --ms="$MS"
		line=$name,$cores,$(one -- "$@" </dev/null)
		for _ in $(seq "$RUNS"); do
			line=$line,$(one --learned=learned -- "$@" </dev/null)
		done
		echo "$line"
	done <"$here/suite"
done | awk -F, '
	{ print }
	$3 > 0 { nr++; for (i = 4; i <= NF; i++) { sum[i] += log($i / $3); fields = NF } }
	END {
		printf "geometric mean of %d", nr
		for (i = 4; i <= fields; i++)
			printf ",%.3f", exp(sum[i] / nr)
		print ""
	}'
