# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares reports with what tests/planted/expected says of each program.

judge.py list EXPECTED NAME...: a line for each program, or for all: NAME, natively or
emulated, THREADS ROUNDS, those of the twin, options, and those of the twin, with tabs between.
judge.py judge EXPECTED DIR NAME...: reads DIR/NAME.json and DIR/NAME-repaired.json, or
DIR/NAME.why if there is none. Says what is wrong, and counts. Then each expectation that was
found right is made wrong, and must be found wrong.
"""
import configparser
import json
import os
import re
import sys

# What is judged, in the order it is printed.
PARTS = ["lock", "site", "cause", "advice", "verdict", "line", "functions", "blame", "misuse", "stacks",
         "twin"]
# Which key is judged as which part; the others are the key's own.
PART_OF = {"answer": "advice", "data": "line", "sharing": "line", "evidence": "cause", "absent": "twin"}
ALLOCATE = {"malloc", "calloc", "realloc", "aligned_alloc", "operator new"}


def names(place):
    """The functions that a place may be said to be in, without their arguments."""
    if not place:
        return set()
    both = {place.get("symbol"), place.get("inlined_into")} - {None}
    return {name.split("(")[0] for name in both}


def is_in(place, wanted):
    """Is the place in the function, or in OBJECT!*?"""
    if wanted == "any":
        return True
    if wanted.endswith("!*"):
        return bool(place) and os.path.basename(place["object"] or "") == wanted[:-2]
    return wanted in names(place)


def shown(place):
    if not place:
        return "nowhere"
    return place.get("symbol") or f'{os.path.basename(place["object"] or "?")}!?'


def is_lock(row, wanted):
    """A class is named after its lock, or "made in FUNCTION FILE:LINE"."""
    words = row["lock"].split()
    return wanted in (words[2:3] if words[1:2] == ["in"] else words)


def main_row(report):
    """The first that has aborted, which costs most; if there is none, the first.

    The barrier at which the threads of each of these programs begin is not the planted problem.
    """
    rows = [row for row in report["rows"] if row["kind"] != "barrier"]
    return next((row for row in rows if row["wasted_cycles"]), rows[0])


def alternatives(text):
    return [choice.split() for choice in text.split("|")]


class Judge:
    """What a report says, beside what it must say."""

    def __init__(self, report, expected):
        self.report = report
        self.expected = expected
        self.row = main_row(report)
        self.findings = self.row.get("findings") or []
        details = self.row.get("details") or []
        causes = expected.get("cause", "").split(" | ")
        # The evidence of the first finding: numbers of samples say by chance which of two causes has more.
        if self.findings and self.findings[0]["cause"] in causes:
            causes = [self.findings[0]["cause"]]
        self.detail = next((d for d in details if d["cause"] in causes), None)

    def wrong(self, key):
        """Why what the report says is not what is expected, or None."""
        return getattr(self, "wrong_" + key)(self.expected[key])

    def wrong_lock(self, wanted):
        return None if is_lock(self.row, wanted) else self.row["lock"]

    def wrong_site(self, wanted):
        return None if is_in(self.row["site"], wanted) else shown(self.row["site"])

    def answer(self):
        """The finding of the report's first screen about the lock, or None."""
        return next((f for f in self.report["findings"]
                     if f["row"] and f["row"]["lock"] == self.row["lock"]), None)

    def wrong_answer(self, wanted):
        found = self.answer()
        advice = found["advice"] if found else "none"
        return None if advice in wanted.split(" | ") else advice

    def wrong_cause(self, wanted):
        if not self.findings:
            return "no finding"
        cause = self.findings[0]["cause"] or "none"
        return None if cause in wanted.split(" | ") else cause

    def wrong_advice(self, wanted):
        if not self.findings:
            return "no finding"
        advice, text = self.findings[0]["advice"], self.findings[0]["text"]
        if any(lack in text for lack in ("{", "unknown code", "unnamed")):
            return f"without evidence: {text}"
        return None if advice == wanted else advice

    def wrong_verdict(self, wanted):
        verdict = self.row["verdict"]
        return None if verdict == wanted else verdict

    def wrong_sharing(self, wanted):
        if not self.detail or not self.detail["data"]:
            return "no data"
        sharing = self.detail["data"]["sharing"]
        return None if sharing == wanted else f"{sharing} sharing"

    def wrong_evidence(self, wanted):
        path, value = wanted.split("=")
        found = self.detail
        for key in path.split("."):
            found = found and found[key]
        return None if str(found) == value else f"{path} is {found}"

    def touched(self):
        """Type and names of the data, as expected gives them."""
        data = self.detail["data"]
        if data["type"] == "heap":
            frames = [f for f in self.detail["alloc_stack"] if not names(f) & ALLOCATE]
            site = shown(frames[0] if frames else None).split("(")[0]
            return ["heap", site, site]
        symbols = [data["symbol"], data["other_symbol"] or data["symbol"]]
        # clang numbers a variable that it has taken apart.
        return [data["type"]] + [re.sub(r"\.\d+$", "", symbol or "nothing") for symbol in symbols]

    def wrong_data(self, wanted):
        if not self.detail or not self.detail["data"]:
            return "no data"
        found = self.touched()
        for choice in alternatives(wanted):
            if all(w in ("any", f) for w, f in zip(choice, found)):
                return None
        return " ".join(map(str, found))

    def wrong_functions(self, wanted):
        if not self.detail:
            return "no detail"
        choices = alternatives(wanted)
        if len(choices[0]) == 1:
            stack = [self.detail["own"]] + self.detail["abort_stack"]
            if any(is_in(place, choices[0][0]) for place in stack):
                return None
            return " < ".join(map(shown, stack))
        data = alternatives(self.expected.get("data", "any any any"))
        both = [self.detail["own"], self.detail["other"]]
        for i, choice in enumerate(choices):
            # The order is that of the data, if this has alternatives too.
            if len(data) == len(choices) > 1 and data[i][1:] != self.touched()[1:]:
                continue
            if is_in(both[0], choice[0]) and self.is_other(choice[1]):
                return None
        return " and ".join(map(shown, both))

    def is_other(self, wanted):
        if wanted[0] != "<":
            return is_in(self.detail["other"], wanted)
        return any(is_in(place, wanted[1:]) for place in self.detail["other_stack"])

    def wrong_blame(self, wanted):
        kind, site = wanted.split()
        for blame in self.row.get("blame") or []:
            if blame["type"] == kind:
                held = blame["held"] and blame["held"]["site"]
                return None if is_in(held, site) else f"held at {shown(held)}"
        return f"no {kind} to blame anybody for"

    def wrong_misuse(self, wanted):
        kind, site = wanted.split()
        listed = self.report["misuse"]
        if any(m["type"] == kind and is_in(m["site"], site) for m in listed):
            return None
        return ", ".join(f'{m["type"]} {shown(m["site"])}' for m in listed) or "no misuse"

    def wrong_stacks(self, wanted):
        for kind, site, function in alternatives(wanted):
            rows = [row for row in self.report["rows"] if is_in(row["site"], site)]
            stacks = [s for row in rows for s in row.get("stacks") or [] if s["type"] == kind]
            if not any(is_in(f, function) for s in stacks for f in s["frames"]):
                return f"no {kind} at {site} under {function}, of {len(stacks)}"
        return None


def twin_wrong(report, expected):
    """What the repaired program is still said to suffer from, or None."""
    bound = float(expected["bound"])
    for row in report["rows"]:
        for cause in expected.get("absent", expected.get("cause", "none")).split(" | "):
            if cause in ("none", "misuse") or not row["attempts"]:
                continue
            share = 100 * row["causes"][cause] / row["attempts"]
            if share > bound:
                return f'{cause}: {share:.1f} % of the attempts at {shown(row["site"])}'
        for finding in row.get("findings") or []:
            # While it compares, the policy locks without an attempt, which aborts attempts of others.
            count = row["causes"].get(finding["cause"], 0)
            if row["attempts"] and 0 < 100 * count / row["attempts"] <= bound:
                continue
            if finding["advice"] == expected.get("advice"):
                return f'{finding["advice"]} advised at {shown(row["site"])}'
        for blame in row.get("blame") or []:
            held = blame["held"] and blame["held"]["site"]
            # While it compares, the policy locks without an attempt.
            if row["attempts"] and 100 * blame["count"] / row["attempts"] <= bound:
                continue
            # Natively a thread may lose its processor while it holds the lock.
            if not row["attempts"] and 100 * (row["contended"] or 0) <= bound * (row["acquired"] or 1):
                continue
            if "blame" in expected and expected["blame"].split()[0] == blame["type"]:
                if is_in(held, expected["blame"].split()[1]):
                    return f"blame for {shown(held)}"
    if "misuse" in expected and report["misuse"]:
        return "misuse"
    return None


def judged_keys(expected):
    """The keys of an expectation that Judge has something to say of."""
    return [key for key in expected if hasattr(Judge, "wrong_" + key)]


def findings_of(directory, name, expected):
    """What is wrong with a program's two reports: (part, what), part None if there is none."""
    reports = []
    for which in (name, name + "-repaired"):
        try:
            with open(f"{directory}/{which}.json") as file:
                reports.append(json.load(file))
            reports[-1]["rows"][0]
        except (OSError, ValueError, IndexError):
            try:
                with open(f"{directory}/{which}.why") as file:
                    return [(None, f"{which}: {file.read().strip()}")]
            except OSError:
                return [(None, f"{which}: no report, or no rows in it")]
    judge = Judge(reports[0], expected)
    wrong = []
    for key in judged_keys(expected):
        what = judge.wrong(key)
        if what:
            wrong.append((PART_OF.get(key, key), f"{key} is not {expected[key]}: {what}"))
    what = twin_wrong(reports[1], expected)
    if what:
        wrong.append(("twin", f"repaired, {what}"))
    return wrong or doubted(reports, expected)


# A wrong answer for each key: as long as a right one, but of nothing in the programs.
WRONG = {"sharing": "maybe", "data": "static other other", "functions": "nobody nobody",
         "evidence": "source=nobody", "blame": "wait nobody", "misuse": "relock nobody",
         "stacks": "wait pay nobody"}


def doubted(reports, expected):
    """The judge itself: of what has just been found right, the contrary must be found wrong."""
    wrong = []
    for key in judged_keys(expected):
        other = dict(expected)
        other[key] = WRONG.get(key, "nothing")
        if not Judge(reports[0], other).wrong(key):
            wrong.append((None, f"the judge takes {key} {other[key]} for right"))
    if not twin_wrong(reports[0], expected):
        wrong.append((None, "the judge takes the planted program for repaired"))
    return wrong


def judge(expected, directory):
    right = {part: 0 for part in PARTS}
    total = dict(right)
    programs = 0
    for name in expected.sections():
        section = dict(expected[name])
        wrong = findings_of(directory, name, section)
        parts = {PART_OF.get(key, key) for key in judged_keys(section)} | {"twin"}
        bad = {part for part, _ in wrong}
        for part in parts:
            total[part] += 1
            right[part] += part not in bad and None not in bad
        programs += not wrong
        print(f"not ok {name}: " + "; ".join(w for _, w in wrong) if wrong else f"ok {name}")
    print(f"note planted: {programs}/{len(expected.sections())} programs right: " +
          ", ".join(f"{part} {right[part]}/{total[part]}" for part in PARTS if total[part]))
    return programs != len(expected.sections())


def main():
    what, file, *rest = sys.argv[1:]
    expected = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    with open(file) as text:
        expected.read_file(text)
    directory = rest.pop(0) if what == "judge" else None
    unknown = set(rest) - set(expected.sections())
    if unknown:
        sys.exit(f"not in {file}: " + " ".join(sorted(unknown)))
    for name in set(expected.sections()) - set(rest or expected.sections()):
        expected.remove_section(name)
    if what == "judge":
        return judge(expected, directory)
    for name in expected.sections():
        section = expected[name]
        options = section.get("options", "")
        print(name, "natively" if section.get("natively") == "yes" else "emulated",
              section["arguments"], section.get("twin arguments", section["arguments"]),
              options, section.get("twin", options), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
