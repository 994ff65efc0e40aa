#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# page.sh PLAN TEMPLATE RESULTS POINTS NATIVE FAILED: prints the page of a plan: the template, in
# which a line @PART@ becomes that part and @KEYS@, @OPS@ and @WARMUP@ the sizes of the
# runs, which are in the environment, and {HOW} the number of a row of HOW. POINTS and NATIVE have lines INDEX.SCHEME.MACHINE.THREADS.RATE
# OPS_S REAL% ABORTS% whole|unchecked|broken NAME=VALUE... of the simulated and the native runs; FAILED has lines PASS
# POINT REASON. Must never print a number that is not in these files.
set -u
[ $# -eq 6 ] || { echo 'usage: page.sh PLAN TEMPLATE RESULTS POINTS NATIVE FAILED' >&2; exit 2; }
plan=$1 template=$2 results=$3 points=$4 native=$5 failed=$6
here=$(dirname "$0")
name=$(awk -F'|' '$1 == "results" { print $2 }' "$plan")
prefix=$(awk -F'|' '$1 == "results" { print $3 }' "$plan")
# What the column of the sources is called: the first word of the plan's source line.
source=$(awk -F'|' '$1 == "source" { print $2 }' "$plan")

# rows PART: see rows.awk
rows() {
	awk -v points="$points" -v native="$native" -v source="$source" -v part="$1" \
		-v planned=<(awk -f "$here/points.awk" "$plan") -f "$here/rows.awk" "$plan"
}

pictures() {
	awk -F'|' -v prefix="$prefix" '$1 == "figure" && $2 != "-" {
		printf "**Figure %s**: %s.\n\n![figure %s](results/%s%s.svg)\n\n", $2, $5, $2, prefix, $2 }' \
		"$plan"
}

# The points that could not be run, by their reasons, and those that were not.
failed() {
	{
		cat "$failed"
		awk -f "$here/points.awk" "$plan" | awk -F'|' '
			FILENAME != "-" { split($0, f, " "); known[f[1]] = known[f[2]] = 1; next }
			!($4 in known) { known[$4] = 1; print "simulated", $4, "not run this time" }' \
			"$points" "$failed" -
	} | awk '{
		point = $1 == "simulated" ? $2 : $2 " natively"
		sub(/^[^ ]* [^ ]* ?/, "")
		# What would be possible instead is of no interest.
		sub(/; .*/, "")
		if (!($0 in list))
			order[++nr] = $0
		list[$0] = list[$0] " `" point "`"
	}
	END {
		if (!nr)
			print "None."
		for (i = 1; i <= nr; i++)
			printf "- %s:%s\n", order[i] == "" ? "no reason given" : order[i], list[order[i]]
	}'
}

native() {
	if [ -s "$native" ]; then
		echo "The column *natively* has the same rows, measured on a processor with RTM."
	else
		echo 'No native column: the processor of this run has no RTM.'
	fi
}

# throughput POINT: million operations a second
throughput() { awk -v p="$1" '$1 == p { printf "%.2f", $2 / 1e6 }' "$points"; }

# rates_of INDEX: the rates at which the plan elides it, ascending
rates_of() {
	awk -F'|' -v i="$1" '$1 == "curve" && $3 == i && $4 == "elided" { print $7 }' "$plan" |
		tr ' ' '\n' | sort -nu
}

# Gain of elision per tree and rate, from the points of the report's curves.
gains() {
	local label point index machine threads rate off fixed adaptive
	echo '| tree | updates, % | not elided, million operations/s | fixed budgets | adaptive | best beside not elided | elision |'
	echo '|---|--:|--:|--:|--:|--:|---|'
	while IFS='|' read -r _ label point; do
		IFS=. read -r index _ machine threads _ <<<"$point"
		for rate in $(rates_of "$index"); do
			off=$(throughput "$index.plain.$machine.$threads.$rate")
			fixed=$(throughput "$index.elided.$machine.$threads.$rate")
			adaptive=$(throughput "$index.adaptive.$machine.$threads.$rate")
			awk -v label="$label" -v rate="$rate" -v off="$off" -v fixed="$fixed" \
				-v adaptive="$adaptive" 'BEGIN {
				best = fixed > adaptive ? fixed : adaptive
				gain = off > 0 && best > 0 ? sprintf("%.2f", best / off) : "-"
				word = gain == "-" ? "-" : gain >= 1.02 ? "gains" : gain > 0.98 ? "changes nothing" : "loses"
				printf "| %s | %s | %s | %s | %s | %s | %s |\n", label, rate, off == "" ? "-" : off,
					fixed == "" ? "-" : fixed, adaptive == "" ? "-" : adaptive, gain, word
				}'
		done
	done < <(grep '^report|' "$plan")
}

# summary CSV: what was elided, what aborted, and where most aborts are, in one paragraph
summary() {
	awk -F, '
	NR == 1 {
		for (i = 1; i <= NF; i++) {
			at[$i] = i
			if ($i ~ /^cause_/)
				cause[i] = substr($i, 7)
		}
		next
	}
	{
		gsub(/"/, "")
		acquired += $at["acquired"]
		elided += $at["elided"]
		attempts += $at["attempts"]
		aborts += $at["aborts"]
		where = $at["site_inlined_into"] == "" ? $at["site_symbol"] : $at["site_inlined_into"]
		of[where] += $at["aborts"]
		for (i in cause)
			by[cause[i]] += $i
	}
	END {
		if (!attempts) {
			print "No section was elided."
			exit
		}
		for (w in of)
			if (worst == "" || of[w] > of[worst])
				worst = w
		for (c in by)
			if (most == "" || by[c] > by[most])
				most = c
		printf "%.1f %% of %d acquisitions were elided; %.2f %% of %d attempts aborted", 100 * elided / acquired,
			acquired, 100 * aborts / attempts, attempts
		if (aborts)
			printf ", %.0f %% of them in `%s` and %.0f %% because of *%s*", 100 * of[worst] / aborts,
				worst, 100 * by[most] / aborts, most
		print "."
	}' "$1"
}

# cost POINT CSV TEXT: what elision adds to an acquisition, and the part of it that aborts are.
# Operations of the warm-up are in the report, too.
cost() {
	local index machine threads rate
	IFS=. read -r index _ machine threads rate <<<"$1"
	awk -F, -v elided="$(throughput "$1")" -v threads="$threads" -v ops="$((OPS + WARMUP))" \
		-v plain="$(throughput "$index.plain.$machine.$threads.$rate")" \
		-v mhz="$(sed -n 's/.* at \([0-9]*\) MHz.*/\1/p' "$3" | head -n 1)" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{
		acquired += $at["acquired"]
		wasted += $at["wasted_cycles"]
	}
	END {
		if (!acquired || !mhz || !(elided > 0) || !(plain > 0))
			exit
		# Microseconds an operation of a thread, in nanoseconds an acquisition.
		printf "An operation has %.1f acquisitions. Elided, each takes %.0f ns more than the spin lock does; " \
			"aborts are %.1f ns of that.\n", acquired / ops,
			1000 * threads * (1 / elided - 1 / plain) / (acquired / ops), 1000 * wasted / mhz / acquired
	}' "$2"
}

# threads_of INDEX SCHEME: the numbers of threads at which the plan has it, ascending
threads_of() {
	awk -F'|' -v i="$1" -v s="$2" '$1 == "curve" && $3 == i && $4 == s { print $6 }' "$plan" |
		tr ' ' '\n' | sort -nu
}

# machine_of INDEX SCHEME: the machine of its points
machine_of() {
	awk -F'|' -v i="$1" -v s="$2" '$1 == "curve" && $3 == i && $4 == s { print $5; exit }' "$plan"
}

# number NAME POINT: a number of a point, a dash if it has none
number() {
	awk -v p="$2" -v name="$1" '
		$1 == p { for (i = 6; i <= NF; i++) if (split($i, part, "=") && part[1] == name) value = part[2] }
		END { print value == "" ? "-" : value }' "$points"
}

# operations POINT: operations a second
operations() { awk -v p="$1" '$1 == p { print $2 }' "$points"; }

# beside A B: the quotient of two throughputs
beside() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (a && b) printf "%.3f\n", a / b; else print "-" }'
}

# The tables of the plan: what was published, and what was measured.
tables() {
	local title index scheme base published machine threads point
	while IFS='|' read -r _ title index scheme base published; do
		machine=$(machine_of "$index" "$scheme")
		printf '**%s**\n\n' "$title"
		echo '| threads | baseline, million/s | elided, million/s | r | published: aborts/capacity/conflict, % | aborts, % | capacity, % | conflict, % | the latch was held, % | cycles lost an abort |'
		echo '|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
		for threads in $(threads_of "$index" "$scheme"); do
			point=$index.$scheme.$machine.$threads.0
			printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$threads" \
				"$(throughput "$index.$base.$machine.$threads.0")" "$(throughput "$point")" \
				"$(beside "$(operations "$point")" "$(operations "$index.$base.$machine.$threads.0")")" \
				"$(cut -s -d ' ' -f "$threads" <<<"$published" | grep . || echo -)" \
				"$(number aborts "$point")" "$(number capacity "$point")" \
				"$(number conflict "$point")" "$(number explicit "$point")" \
				"$(number lost "$point")"
		done
		echo
	done < <(grep '^table|' "$plan")
}

# The library beside the same program without it, and with it but without elision.
product() {
	local label index plain never adaptive machine threads without with_never with_it
	echo '| latches | threads | plain, million/s | never | adaptive | adaptive beside never | beside plain | waited, % of the time | sections under the lock, % | aborts, % |'
	echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
	while IFS='|' read -r _ label index plain never adaptive; do
		machine=$(machine_of "$index" "$adaptive")
		for threads in $(threads_of "$index" "$adaptive"); do
			without=$index.$plain.$machine.$threads.0
			with_never=$index.$never.$machine.$threads.0
			with_it=$index.$adaptive.$machine.$threads.0
			printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$label" "$threads" \
				"$(throughput "$without")" "$(throughput "$with_never")" \
				"$(throughput "$with_it")" \
				"$(beside "$(operations "$with_it")" "$(operations "$with_never")")" \
				"$(beside "$(operations "$with_it")" "$(operations "$without")")" \
				"$(number waited "$with_never")" \
				"$(awk -v p="$with_it" '
					$1 == p { at = $3 " | " $4 } END { print at == "" ? "- | -" : at }' "$points")"
		done
	done < <(grep '^product|' "$plan")
}

# spreads: the points that have several seeds, and how far these are apart
spreads() {
	echo '| point | million/s, mean | greatest less least, % of the mean |'
	echo '|---|--:|--:|'
	awk '{
		for (i = 6; i <= NF; i++)
			if (split($i, part, "=") && part[1] == "spread")
				printf "| `%s` | %.2f | %.1f |\n", $1, $2 / 1e6, part[2]
	}' "$points"
}

# A section per report of the plan, after the gains of the trees.
reports() {
	gains
	excerpts with-cost
}

# excerpts [with-cost]: a section per report of the plan
excerpts() {
	local label point
	while IFS='|' read -r _ label point; do
		printf '\n### %s\n\n' "$label"
		if [ ! -s "$results/$name-$label.txt" ]; then
			echo "The point \`$point\` could not be run."
			continue
		fi
		printf 'The report on `%s`: ' "$point"
		summary "$results/$name-$label.csv"
		[ -z "${1:-}" ] || cost "$point" "$results/$name-$label.csv" "$results/$name-$label.txt"
		printf '\n```text\n'
		sed 's/[[:blank:]]*$//' "$results/$name-$label.txt"
		printf '```\n'
	done < <(grep '^report|' "$plan")
}

while IFS= read -r line; do
	case $line in
	@rows@ | @shown@ | @notes@ | @count@ | @retries@)
		part=${line#@}
		rows "${part%@}" || exit 1
		;;
	@pictures@) pictures ;;
	@failed@) failed ;;
	@native@) native ;;
	@reports@) reports ;;
	@excerpts@) excerpts ;;
	@tables@) tables ;;
	@product@) product ;;
	@spreads@) spreads ;;
	*)
		line=${line//@KEYS@/$KEYS}
		line=${line//@OPS@/$OPS}
		line=${line//@WARMUP@/$WARMUP}
		case $line in *@broken@*) line=${line//@broken@/$(rows broken | grep . || echo none)} ;; esac
		case $line in *\{[a-z]*\ *\}*) line=$(TEXT=$line rows text) || exit 1 ;; esac
		printf '%s\n' "$line"
		;;
	esac
done <"$template"
