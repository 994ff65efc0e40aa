# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compares $report, of elide report --json, with the lines "truth FIGURE ..." in $out. Prints for each of
# them what was compared, a tab, and nothing if the report is right, else "said X, true Y".
#
#	hold, wait NAME LOW HIGH OPEN      time: sum over the rows, in seconds, until the thread goes on; OPEN threads
#	                                   still wait. A mutex is held after a wait for a condition variable, too
#	blamed NAME LOW HIGH               waits for the mutex in lock calls and after condition variables
#	blocked NAME LOW HIGH              releases that others waited for, by the sampled stacks
#	acquired, failed, contended NAME COUNT
#	time STATE LOW HIGH                of all threads together; right to 5 % of the time of all threads
#	measured NAME LOW HIGH             hold times
#	run TIME                           of the program, up to the time "at"
#	names NAME,NAME...                 of all the locks
#	blocker, verdict NAME WORD,WORD... one of these, in the row that waited longest
#	callers NAME COUNT                 of that row: the places behind a wrapper
#	distinct NAME COUNT                names of the rows
#	finding NUMBER LOCK ADVICE CAUSE   what the report says first; CAUSE is the lock of another finding, or 0
#	findings COUNT
#	chain GROUP,GROUP...               of --by chain, in $chain
#	cycles COUNT                       of the order of locks
#
# NAME is one lock, several, or * for all, with /KIND for rows of that kind, or of all with /*, else the rows of kinds
# that are locks. Words have no space, but underscores.

def is_lock: IN("mutex", "rwlock-read", "rwlock-write", "spin", "custom", "library-mutex");

def rows($name):
	($name | split("/")) as [$locks, $kind]
	| $report[0].rows
	| map(select($locks == "*" or (.lock | IN($locks | split(",")[]))))
	| map(select(.kind | if $kind then . == $kind or $kind == "*" else is_lock end));

def sum(f): map(f // 0) | add // 0;
def total($key): sum(.[$key].total) / 1e9;
def longest: max_by(.wait_ns.total // 0);

# Without the one that the machine is busy. The lock of which a finding is a consequence, or 0.
def findings: $report[0].findings | map(select(.advice != "processors" or ($out | test(" processors "))));
def caused: if .consequence_of then $report[0].findings[.consequence_of - 1].row.lock else 0 end;

# One of the two is compared: a number with bounds, or a text with those that are right.
def number($said; $low; $high): { said: $said, low: $low, high: $high, part: 0, slack: 0 };
def time($said; $low; $high): number($said; $low; $high) + { part: 0.05 };
def text($said; $right): { said: ($said // "nothing"), right: $right };

def figure($words; $at):
	$words[1] as $name | ($words[2:] | map(tonumber?)) as $n
	| (($before // $at) - $at) as $more_low | ($after - $at) as $more_high
	| if $words[0] == "hold" then
		(if $name | test("/") then rows($name) else rows($name) + rows($name + "/reacquire") end)
			| time(total("hold_ns"); $n[0]; $n[1])
			+ { slack: (3 * (sum(.hold_error // 0 | . * .) | sqrt) / 1e9) }
	elif $words[0] == "wait" then
		time(rows($name) | total("wait_ns") + sum(.late_ns) / 1e9; $n[0] + $n[2] * $more_low; $n[1] + $n[2] * $more_high)
	elif $words[0] == "measured" then
		number(rows($name) | sum(.hold_ns.count); $n[0]; $n[1])
	elif $words[0] == "blamed" then
		time(rows($name) + rows($name + "/reacquire") | total("wait_ns"); $n[0]; $n[1])
	elif $words[0] == "time" then
		number($report[0].thread_time | .[$name + "_ns"] / 1e9; $n[0]; $n[1])
			+ { slack: (0.05 * $report[0].thread_time.total_ns / 1e9) }
	elif $words[0] == "blocked" then
		number(rows($name) | sum([.stacks[] | select(.type == "block").count] | add); $n[0]; $n[1])
	elif $words[0] | IN("acquired", "failed", "contended") then
		number(rows($name) | sum(.[$words[0]]); $n[0]; $n[0])
	elif $words[0] == "run" then
		time($report[0].program.elapsed_s // 0; ($name | tonumber) + $more_low; $after - $began)
	elif $words[0] == "names" then
		text($report[0].rows | map(select(.kind | is_lock).lock) | unique | join(",");
			[$words[1:] | join(" ") | split(",") | sort | join(",")])
	elif $words[0] == "blocker" then
		text(rows($name) | longest.blocker.site.symbol // "nothing" | sub("[(].*"; ""); $words[2] | split(","))
	elif $words[0] == "verdict" then
		text(rows($name) | longest.verdict // "nothing" | gsub(" "; "_"); $words[2] | split(","))
	elif $words[0] == "callers" then
		number(rows($name) | longest.callers | length; $n[0]; $n[0])
	elif $words[0] == "distinct" then
		number(rows($name) | map(.lock) | unique | length; $n[0]; $n[0])
	elif $words[0] == "finding" then
		text(findings[($name | tonumber) - 1] | "\(.row.lock) \(.advice) \(caused)"; [$words[2:] | join(" ")])
	elif $words[0] == "findings" then
		number(findings | length; $name | tonumber; $name | tonumber)
	elif $words[0] == "chain" then
		text($chain[0].chain.chain | join(","); [$name])
	elif $words[0] == "cycles" then
		number($report[0].order | length; $name | tonumber; $name | tonumber)
	else
		error("no figure is called " + $words[0])
	end;

def short: . * 1e6 | round / 1e6;

def why($f):
	if $f.right then
		if $f.said | IN($f.right[]) then "" else ("said \($f.said), true " + ($f.right | join(" or "))) end
	elif $f.said >= $f.low * (1 - $f.part) - $f.slack
		and $f.said <= $f.high * (1 + $f.part) + $f.slack then
		""
	else
		"said \($f.said | short), true \($f.low | short)"
		+ if $f.high == $f.low then "" else " to \($f.high | short)" end
	end;

[$out | split("\n")[] | select(startswith("truth ")) | split(" ")[1:]] as $lines
| (first($lines[] | select(.[0] == "at"))[1] | tonumber) as $at
| $lines[] | select(.[0] != "at")
| "\(.[0])\(if .[0] | IN("run", "names", "cycles", "findings", "chain") then "" else " " + .[1] end)\t\(why(figure(.; $at)))"
