#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=25
#
# Programs that time their own lock calls, and the report of elide on them: counts are exact, times within
# 5 % or three standard errors of the bounds that the program prints (truth.h).
#
#	run.sh [SCENARIO...]	all, or those whose name in the table below has one of these patterns
#
# LOAD=N runs N busy loops beside them.

. "$(dirname "$0")/../script.sh"
bin=$O/tests/truth

scenarios() {
	local period

	for period in 63 64 65 100 128 256; do
		echo "hold alias $period 0"
		echo "hold alias $period 3"
		echo "hold alias $period 62"
	done
	cat <<-'END'
		hold alternate
		hold long-if-contended
		hold nested 1
		hold nested 1000
		hold handed-over
		hold recursive
		hold errorcheck
		hold rwlock
		hold spinlock
		hold trying 0
		hold trying 1
		hold condition
		hold in-step 0
		hold in-step 63
		hold threads 1
		hold threads 2
		hold threads 4
		hold threads 8
		hold threads 32
	END
}

# rows FILE: lock, kind, acquired, failed, held, its standard error, waited (s), blocker's function
rows() {
	"$elide" report --json "$1" | jq -r '.rows[] | [.lock, .kind, .acquired, (.failed // 0),
		(.hold_ns.total // 0) / 1e9, (.hold_error // 0) / 1e9, (.wait_ns.total // 0) / 1e9,
		(.blocker.site.symbol // "-")] | @tsv'
}

# judge TRUTH ROWS: prints what is wrong
judge() {
	awk -F '\t' -v OFS=' ' '
		# NAME is that of a lock, or with /KIND for rows of that kind alone; a name without end means any.
		function is(row, want, what,    name, kind) {
			name = want; kind = ""
			if (match(want, "/[a-z-]*$")) { kind = substr(want, RSTART + 1); name = substr(want, 1, RSTART - 1) }
			if (row_lock[row] != name && index(row_lock[row], name " ") != 1)
				return 0
			if (kind != "")
				return row_kind[row] == kind
			return what == "hold" ? row_kind[row] !~ /^(cond|sem|barrier)$/ : row_kind[row] !~ /^(cond|sem|barrier|reacquire)$/
		}
		function sum(want, what, field,    i, s) {
			s = 0
			for (i = 1; i <= nr; i++) if (is(i, want, what)) s += row[i, field]
			return s
		}
		function error(want,    i, s) {
			for (i = 1; i <= nr; i++) if (is(i, want, "hold")) s += row[i, 6] ^ 2
			return sqrt(s)
		}
		function times(what, name, low, high, said, slack) {
			if (said < low * 0.95 - slack || said > high * 1.05 + slack)
				printf "%s of %s is said to be %.6f s, not %.6f to %.6f; ", what, name, said, low, high
		}
		FNR == NR {
			row_lock[++nr] = $1; row_kind[nr] = $2
			for (i = 3; i <= NF; i++) row[nr, i] = $i
			next
		}
		{ n = split($0, f, " ") }
		f[1] != "truth" { next }
		f[2] == "hold" { times("hold time", f[3], f[4], f[5], sum(f[3], "hold", 5), 3 * error(f[3])); seen++ }
		f[2] == "wait" { times("wait", f[3], f[4], f[5], sum(f[3], "wait", 7), 2e-5); seen++ }
		f[2] == "acquired" || f[2] == "failed" {
			said = sum(f[3], f[2], f[2] == "failed" ? 4 : 3)
			if (said != f[4]) printf "%s of %s is said to be %d, not %d; ", f[2], f[3], said, f[4]
			seen++
		}
		f[2] == "blocker" {
			for (i = 1; i <= nr; i++) if (is(i, f[3], "wait") && row[i, 8] != f[4])
				printf "%s is said to wait for %s, not %s; ", f[3], row[i, 8], f[4]
		}
		f[2] == "names" {
			k = split(f[3], name, ",")
			for (i = 1; i <= nr; i++) {
				for (j = 1; j <= k && row_lock[i] != name[j]; j++) ;
				if (j > k) printf "a lock is called \"%s\"; ", row_lock[i]
			}
		}
		END { if (!seen) printf "the program has said nothing; " }' "$2" "$1"
}

# one PROGRAM SCENARIO [N [N]]
one() {
	local name="$*" wrong

	cd "$tmp" || exit 1
	rm -f data truth
	if ! "$elide" run -q --mode=profile -o data -- "$bin/$1" "${@:2}" >truth 2>err; then
		not_ok "$name" "exit code; $(head -1 err)"
		return
	fi
	rows data >said
	wrong=$(judge truth said)
	[ -z "$wrong" ] && ok "$name" || not_ok "$name" "$wrong"
}

busy=()
clean_up() { [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null; }
for ((i = 0; i < ${LOAD:-0}; i++)); do
	while :; do :; done &
	busy+=($!)
done

while read -r -a scenario; do
	wanted=yes
	for pattern in "$@"; do
		wanted=''
		# shellcheck disable=SC2053
		[[ "${scenario[*]}" != *$pattern* ]] || { wanted=yes && break; }
	done
	[ -z "$wanted" ] || one "${scenario[@]}" </dev/null
done < <(scenarios)
finish
