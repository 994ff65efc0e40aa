# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold of a report: report.py FILE [CONDITION...]

FILE is what elide report --json printed of one process. The sums that every
report promises are checked for each row and the totals, then the conditions:
Python expressions of d, the report, and of the functions below. Says which of
them fails and exits with 1.
"""
import json
import sys

# Kinds of rows that are waits for other threads; the totals are those of locks.
NO_LOCKS = ("cond", "sem", "barrier", "reacquire")


def percent_elided(d):
    return 100 * d["totals"]["elided"] / d["totals"]["acquired"]


def every_lock_has(d, name):
    """Each lock class has a name that holds this one."""
    locks = [row["lock"] for row in d["rows"] if row["kind"] not in NO_LOCKS]
    return bool(locks) and all(name in lock for lock in locks)


def agrees(d, file):
    """Are the totals those of the emulator's counters, less its start-up probe?"""
    with open(file) as lines:
        n = {name: int(value) for name, value in map(str.split, lines)}
    t = d["totals"]
    emulator = ["conflict", "capacity", "syscall", "fault", "instruction", "interrupt", "spurious"]
    wanted = {
        "attempts": n["RTM_RETIRED.START"] - n["probe.starts"],
        "commits": n["RTM_RETIRED.COMMIT"] - n["probe.commits"],
        "aborts": n["RTM_RETIRED.ABORTED"] - (n["probe.starts"] - n["probe.commits"]),
    } | {cause: n["rtm." + cause] - n["probe." + cause] for cause in emulator}
    found = {name: t[name] if name in t else t["causes"][name] for name in wanted}
    # The rest are XABORTs, to which the library has given its own meanings.
    wanted["XABORT"] = n["rtm.explicit"] - n["probe.explicit"]
    found["XABORT"] = sum(count for cause, count in t["causes"].items() if cause not in emulator)
    if wanted != found:
        print(f"counters {wanted}, report {found}")
    return n["probe.starts"] > 0 and wanted == found


def sums(row):
    """What is wrong with the numbers of a row or of the totals."""
    if row["attempts"] is None:
        if row["acquired"] != row["not_attempted"]:
            yield "acquired is not not_attempted, and nothing was elided"
        return
    if row["acquired"] != row["elided"] + row["fallback"] + row["not_attempted"]:
        yield "acquired is not elided + fallback + not_attempted"
    if row["attempts"] != row["commits"] + row["aborts"]:
        yield "attempts is not commits + aborts"
    if row["aborts"] != sum(row["causes"].values()):
        yield "aborts is not the sum of the causes"
    if row["nested"] > row["elided"]:
        yield "nested is more than elided"


def adds_up(d):
    """What is wrong with the totals: each must be the sum over the rows of locks."""
    locks = [row for row in d["rows"] if row["kind"] not in NO_LOCKS]
    for key in ("acquired", "elided", "nested", "fallback", "not_attempted", "attempts",
                "commits", "aborts", "contended"):
        if d["totals"][key] is not None:
            if d["totals"][key] != sum(row[key] for row in locks):
                yield f"{key} of the totals is not the sum of the rows"
    if d["totals"]["attempts"] is not None:
        # A nested section is elided without an attempt of its own.
        if d["totals"]["elided"] - d["totals"]["nested"] > d["totals"]["commits"]:
            yield "more outermost sections were elided than transactions committed"


def main():
    with open(sys.argv[1]) as file:
        d = json.load(file)
    wrong = [f"row {i}: {what}" for i, row in enumerate(d["rows"]) for what in sums(row)]
    wrong += [f"totals: {what}" for what in sums(d["totals"])]
    wrong += adds_up(d)
    if not d["rows"]:
        wrong.append("no rows")
    names = {"d": d, "percent_elided": percent_elided, "every_lock_has": every_lock_has,
             "agrees": agrees}
    # In brackets: a condition may have several lines.
    wrong += [f"false: {c}" for c in sys.argv[2:] if not eval(f"({c})", names)]
    print("; ".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
