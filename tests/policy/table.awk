# SPDX-License-Identifier: GPL-2.0-or-later
#
# table.awk - the suite and the results of runs, WORKLOAD,CORES,SEED,POLICY,,,TIME,UNITS, as the
# table of regret: a line for each workload and number of cores that has results of the policy
# judged and of another. Medians over seeds; times are virtual nanoseconds for a unit of work.
# -v slices=FOLDER has the throughput of runs whose phases change. Must never compare
# runs of different workloads or cores.

function median(list, n, value, i, j, t) {
	n = split(list, value, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && value[j - 1] + 0 > value[j] + 0; j--) {
			t = value[j]; value[j] = value[j - 1]; value[j - 1] = t
		}
	return n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
}

# Greatest less least of a list, per cent of its median.
function spread(list, n, value, i, least, most) {
	n = split(list, value, " ")
	least = most = value[1] + 0
	for (i = 2; i <= n; i++) {
		if (value[i] + 0 < least)
			least = value[i] + 0
		if (value[i] + 0 > most)
			most = value[i] + 0
	}
	return n > 1 ? sprintf("%.2f", 100 * (most - least) / median(list)) : "-"
}

# Sections in each slice of a run: into[], their number.
function read_slices(id, into, file, line, part, n) {
	file = slices "/" id
	while ((getline line < file) > 0)
		if (split(line, part, " ") == 3)
			into[n++] = part[3]
	close(file)
	return n + 0
}

# Mean of the slices in the second half of a third.
function plateau(into, n, third, from, to, i, sum) {
	to = int((third + 1) * n / 3)
	from = int(to - n / 6)
	for (i = from; i < to; i++)
		sum += into[i]
	return to > from ? sum / (to - from) : 0
}

# Milliseconds from a change of phase until two slices together have 90 per cent of the new
# best; within: whether that is soon enough. "-" without slices, "none" if that never happens.
function recovery(workload, core, third, s, p, n, one, best, first, i, sum, worst, ms) {
	worst = "-"
	for (s in seed_seen) {
		best = 0
		for (p in kind) {
			if (kind[p] != "static" || !((workload, core, p) in times))
				continue
			split("", one)
			n = read_slices(workload "." core "." s "." p, one)
			if (n && plateau(one, n, third) > best)
				best = plateau(one, n, third)
		}
		split("", one)
		n = read_slices(workload "." core "." s "." ours, one)
		if (!n || !best)
			continue
		first = int(third * n / 3) + 1
		sum = 0
		ms = "none"
		for (i = first; i + 1 < int((third + 1) * n / 3); i++) {
			sum += one[i]
			if (one[i] + one[i + 1] >= 2 * 0.9 * best) {
				ms = (i - first + 1) / 2
				break
			}
		}
		if (ms == "none" || (ms > 10 && sum > 2000))
			late = 1
		if (worst != "none" && (ms == "none" || worst == "-" || ms > worst + 0))
			worst = ms
	}
	return worst
}

function percent(a, b) { return a != "" && b > 0 ? sprintf("%.2f", 100 * (a / b - 1)) : "-" }
function shown(x) { return x == "" ? "-" : sprintf("%.2f", x) }

# Adds what is missed by how much.
function miss(what, value, limit) {
	if (value == "-" || value + 0 <= limit)
		return
	verdict = verdict (verdict == "" ? "missed: " : "; ") what " by " sprintf("%.1f", value - limit)
}

FNR == NR {
	if (/^#/)
		next
	split($0, field, "|")
	if (field[1] == "policy") {
		kind[field[2]] = field[3]
		if (field[3] == "ours")
			ours = field[2]
		if (field[3] == "peer")
			peers[++nr_peers] = field[2]
	}
	if (field[1] == "workload") {
		order[++nr_workloads] = field[2]
		set[field[2]] = field[3]
	}
	next
}

split($0, field, ",") >= 8 {
	key = field[1] SUBSEP field[2] SUBSEP field[4]
	times[key] = times[key] " " field[7]
	if (!((field[1], field[2]) in seen)) {
		seen[field[1], field[2]] = 1
		cores_of[field[1]] = cores_of[field[1]] " " field[2]
	}
	seed_seen[field[3]] = 1
}

END {
	printf "workload,set,cores,runs,spread,best_static,best,%s,never,plain,regret,vs_never,vs_plain", ours
	for (i = 1; i <= nr_peers; i++)
		printf ",%s", peers[i]
	print ",best_peer,behind_peer,hostile_ms,friendly_ms,verdict"
	for (w = 1; w <= nr_workloads; w++) {
		name = order[w]
		n = split(cores_of[name], core, " ")
		for (c = 2; c <= n; c++)
			for (d = c; d > 1 && core[d - 1] + 0 > core[d] + 0; d--) {
				t = core[d]; core[d] = core[d - 1]; core[d - 1] = t
			}
		for (c = 1; c <= n; c++)
			row(name, core[c])
	}
}

function row(name, core, p, best, best_name, mine, never, plain, i, peer, best_peer, late_was) {
	if (!((name, core, ours) in times))
		return
	mine = median(times[name, core, ours])
	best = ""
	for (p in kind) {
		if (!((name, core, p) in times))
			continue
		if (kind[p] == "static" && (best == "" || median(times[name, core, p]) < best)) {
			best = median(times[name, core, p])
			best_name = p
		}
	}
	if (best == "")
		return
	never = (name, core, "never") in times ? median(times[name, core, "never"]) : ""
	plain = (name, core, "plain") in times ? median(times[name, core, "plain"]) : ""
	printf "%s,%s,%d,%d,%s,%s,%s,%s,%s,%s,%s,%s,%s", name, set[name], core,
		split(times[name, core, ours], p_), spread(times[name, core, ours]), best_name, shown(best), shown(mine), shown(never),
		shown(plain), percent(mine, best), percent(mine, never), percent(mine, plain)
	best_peer = ""
	for (i = 1; i <= nr_peers; i++) {
		peer = (name, core, peers[i]) in times ? median(times[name, core, peers[i]]) : ""
		printf ",%s", shown(peer)
		if (peer != "" && (best_peer == "" || peer < best_peer))
			best_peer = peer
	}
	late = 0
	hostile = recovery(name, core, 1)
	friendly = recovery(name, core, 2)
	verdict = ""
	miss("regret", percent(mine, best), 10)
	miss("never", percent(mine, never), 2)
	miss("peer", percent(mine, best_peer), 3)
	if (late)
		verdict = verdict (verdict == "" ? "missed: " : "; ") "change of phase"
	printf ",%s,%s,%s,%s,%s\n", shown(best_peer), percent(mine, best_peer), hostile, friendly,
		verdict == "" ? "reached" : verdict
}
