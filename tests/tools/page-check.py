#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with a page of report --html: page-check.py PAGE JSON COLUMNS.DEF, a line each.

Nothing printed and exit 0: nothing is. Must never be content with a page that has less than
the JSON of the same report.
"""
import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "input", "link", "hr", "base", "col"}
# The only elements the page is made of; what a name smuggles in is none of them.
KNOWN = set("""html head meta title style body a div h1 h2 h3 h4 button main nav ul ol li article
header section p code span dl dt dd table thead tbody tfoot tr th td details summary b svg symbol
rect use text line script path label input""".split())
TEXT = [("ink", "page"), ("ink", "panel"), ("dim", "page"), ("dim", "panel"), ("link", "page"),
        ("link", "panel"), ("good", "page"), ("bad", "page"), ("page", "ink"),
        ("ink", "f0"), ("ink", "f1"), ("ink", "f2"), ("ink", "hit")]
DRAWN = [(name, "page") for name in ("k0", "k1", "k2", "k3", "k4", "good")]
# All but the tabs and ends of lines that the page is written with.
CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]"
problems = []


def problem(text):
    problems.append(text)


class Page(HTMLParser):
    """The tree: elements as (tag, attributes, parent's number, text)."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.raw = {"style": [], "script": []}
        self.feed(text)
        self.close()
        for number in self.open:
            problem(f"<{self.elements[number][0]}> is not closed")

    def handle_starttag(self, tag, attrs):
        names = [name for name, value in attrs]
        if len(names) != len(set(names)):
            problem(f"<{tag}> has an attribute twice: {names}")
        self.elements.append((tag, dict(attrs), self.open[-1] if self.open else None, []))
        if tag not in VOID:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.elements[self.open[-1]][0] != tag:
            problem(f"</{tag}> at {self.getpos()} closes what is not open")
        else:
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        tag = self.elements[self.open[-1]][0]
        if tag in self.raw:
            self.raw[tag].append(data)
        for number in self.open:
            self.elements[number][3].append(data)

    def all(self, tag):
        return [(attrs, "".join(text)) for name, attrs, parent, text in self.elements
                if name == tag]

    def inside(self, element, tag):
        while element is not None:
            name, attrs, element, text = self.elements[element]
            if name == tag:
                return attrs
        return None


def check_nothing_foreign(page, text):
    for pattern in (r"https?:", r"url\(", r"@import", r"@font-face", r"javascript:", r"data:[a-z]"):
        if re.search(pattern, text, re.I):
            problem(f"it says {pattern}")
    for tag, attrs, parent, inner in page.elements:
        if tag not in KNOWN:
            problem(f"there is a <{tag}>")
        for name, value in attrs.items():
            if name.startswith("on") or name in ("style", "src", "srcset", "action", "ping"):
                problem(f"<{tag}> has the attribute {name}")
            if name in ("href", "xlink:href") and not (value or "").startswith("#"):
                problem(f"<{tag}> leads to {value}")


def check_policy(page):
    policy = [attrs.get("content", "") for attrs, text in page.all("meta")
              if attrs.get("http-equiv", "").lower() == "content-security-policy"]
    if len(policy) != 1:
        problem(f"{len(policy)} security policies")
        return
    want = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    for tag in ("style", "script"):
        if len(page.all(tag)) != 1:
            problem(f"{len(page.all(tag))} <{tag}>")
        digest = hashlib.sha256("".join(page.raw[tag]).encode()).digest()
        want.append(f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'")
    if sorted(part.strip() for part in policy[0].split(";")) != sorted(want):
        problem(f"the security policy is {policy[0]}, not {want}")


def check_references(page):
    ids = [attrs["id"] for tag, attrs, parent, text in page.elements if "id" in attrs]
    for name in set(ids):
        if ids.count(name) > 1:
            problem(f"the id {name} is there {ids.count(name)} times")
    for tag, attrs, parent, text in page.elements:
        for key in ("aria-labelledby", "aria-describedby"):
            if key in attrs and attrs[key] not in ids:
                problem(f"{key} {attrs[key]} is nowhere")
        if (attrs.get("href") or "").startswith("#") and attrs["href"][1:] not in ids:
            problem(f"a link leads to {attrs['href']}, which is nowhere")


def check_usable(page):
    """What somebody needs who does not see the page, or has no mouse."""
    level = 0
    if not any(attrs.get("lang") for attrs, text in page.all("html")):
        problem("no language")
    if not any(text.strip() for attrs, text in page.all("title")):
        problem("no title")
    for number, (tag, attrs, parent, inner) in enumerate(page.elements):
        text = "".join(inner).strip()
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > level + 1:
                problem(f"<{tag}> {text} after a heading of level {level}")
            level = int(tag[1])
        if tag in ("button", "a", "summary", "li", "dt", "dd", "h2", "h3", "h4") and not text:
            problem(f"<{tag}> without text: {attrs}")
        if tag == "button" and attrs.get("type") != "button":
            problem(f"<button> {text} could send a form")
        if tag == "th" and attrs.get("scope") not in ("row", "col"):
            problem(f"<th> {text} without its scope")
        if "tabindex" in attrs and not (attrs.get("aria-label") or tag == "main"):
            problem(f"<{tag}> takes the focus and has no name")
        if tag == "input" and not any(a.get("for") == attrs.get("id") and t.strip()
                                      for a, t in page.all("label")):
            problem("a box without a label")
        if tag == "table" and not any(
                p == "thead" and page.inside(n, "table") is attrs
                for n, (p, a, up, x) in enumerate(page.elements)) and "aria-label" not in attrs:
            problem("a table without heads and name")
        if tag == "svg" and not page.inside(parent, "svg") and not (
                attrs.get("aria-hidden") or attrs.get("role") == "img" and attrs.get("aria-label")):
            problem("a drawing that says nothing and is not hidden")


def grouped(number):
    return f"{number:,}"


def strings(value):
    """Every name in the report, as the page shows it."""
    if isinstance(value, str):
        yield re.sub(CONTROL + "|[\t\n]", "?", value)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def check_part(page, number, report, columns):
    part = f"p{number}"
    rows = [(attrs, text) for n, (tag, attrs, up, t) in enumerate(page.elements)
            for text in ["".join(t)] if tag == "tr" and page.inside(up, "tbody") is not None
            and "rows" in (page.inside(up, "table") or {}).get("class", "").split()
            and (page.inside(up, "article") or {}).get("id") == part]
    if len(rows) != len(report["rows"]):
        problem(f"{part}: {len(rows)} rows in the table, not {len(report['rows'])}")
    heads = [t for n, (tag, attrs, up, x) in enumerate(page.elements) for t in ["".join(x)]
             if tag == "th" and attrs.get("scope") == "col"
             and "rows" in (page.inside(up, "table") or {}).get("class", "").split()
             and (page.inside(up, "article") or {}).get("id") == part]
    elides = report["totals"]["elided"] is not None
    want = [head for head, view in columns if view == "BOTH" or (view == "ELISION") == elides]
    # Columns of the profile view that no row can fill are left out.
    rows_of = report["rows"]
    filled = {
        "FAILED": report["totals"]["failed"],
        "PARKED": report["totals"]["parked"],
        "P99": any(row["wait_ns"]["p99"] is not None for row in rows_of),
        "HOLD": any(row["hold_ns"]["count"] for row in rows_of),
        "HELD%": any(row["held_percent"] is not None for row in rows_of),
        "BLOCKER": any(row["blocker"] for row in rows_of),
    }
    filled["P50"], filled["AVG_HOLD"] = filled["P99"], filled["HOLD"]
    filled["MAX_WAIT"] = any(row["wait_ns"]["count"] for row in rows_of)
    filled["WAIT%"] = report["thread_time"]["total_ns"] is not None
    # A profile has no state; where crowds were restricted it says whether the row's threads are.
    filled["STATE"] = elides or report["mode"] == "restrict"
    want = [head for head in want if filled.get(head, True)]
    if report["rows"] and heads != want:
        problem(f"{part}: the columns are {heads}, not {want}")
    article = " ".join(text for tag, attrs, up, t in page.elements for text in ["".join(t)]
                       if tag == "article" and attrs.get("id") == part)
    bodies = {attrs["id"]: text for attrs, text in page.all("details") if "id" in attrs}
    for i, row in enumerate(report["rows"]):
        body = bodies.get(f"{part}-r{i + 1}", "")
        for key in ("acquired", "not_attempted", "contended"):
            if grouped(row[key]) not in body:
                problem(f"{part}: row {i + 1} does not say {key} {grouped(row[key])}")
        for cause, count in row["causes"].items():
            if count and not re.search(rf"(?<![a-z_]){cause}\s*{grouped(count)}(?![0-9,])", body):
                problem(f"{part}: row {i + 1} does not say {cause} {grouped(count)}")
        for name in [row["lock"]] + [f["text"] for f in row.get("findings", [])]:
            for text in strings(name):
                if text not in body:
                    problem(f"{part}: row {i + 1} does not say {text}")
    # A lock has one spelling: that of the table, in each link to its row and in the row itself.
    spelled = [t.strip() for n, (tag, attrs, up, x) in enumerate(page.elements) for t in ["".join(x)]
               if tag == "a" and page.inside(up, "th") is not None
               and "rows" in (page.inside(up, "table") or {}).get("class", "").split()
               and (page.inside(up, "article") or {}).get("id") == part]
    for i, (row, name) in enumerate(zip(report["rows"], spelled)):
        texts = [text for attrs, text in page.all("a") if attrs.get("href") == f"#{part}-r{i + 1}"]
        texts += [text for n, (tag, attrs, up, x) in enumerate(page.elements) for text in ["".join(x)]
                  if tag == "summary" and (page.inside(up, "details") or {}).get("id") == f"{part}-r{i + 1}"]
        # The test's hostile lock has no name in the table.
        if any(name not in text for text in texts) and "<script" not in row["lock"]:
            problem(f"{part}: row {i + 1}, {name}, has another name: {texts}")
    names = [report["program"]["argv"], report["machine"]["why"], report["machine"]["model"],
             report["machine"]["changes"], [c["name"] for c in report.get("counters", [])],
             [m["lock"] for m in report["misuse"]],
             [e["lock"] for o in report["order"] for e in o["edges"]],
             [e["lock"] for e in report.get("timeline", [])],
             [a["data"] for x in report.get("lines", []) for a in x["accesses"]],
             [t["name"] for t in report.get("threads") or []],
             [x["lock"] for x in (report.get("activity") or {}).get("locks", [])]]

    def functions(at):
        for child in at["children"] if at else []:
            # What is too narrow to be seen is not drawn.
            if child["ns"] * 1000 >= report["flame"]["ns"]:
                yield child["full"]
                yield from functions(child)

    names.append(list(functions(report.get("flame"))))
    waits = sum(row["wait_ns"]["total"] or 0 for row in report["rows"]
                if row["waits_for"] == "locks")
    if bool(waits) != any(attrs.get("id") == f"{part}-waits" for attrs, text in page.all("section")):
        problem(f"{part}: waits of {waits} ns and the picture of them do not go together")
    names += [edge[key] for edge in (report.get("blocks") or [])[:12] for key in ("waiter", "holder")]
    for row in report["rows"]:
        for d in row.get("details", []):
            names += [d["data"]["name"] if d["data"] else None]
    for text in (t for value in names for t in strings(value)):
        if text not in article:
            problem(f"{part}: it does not say {text}")


def luminance(color):
    def linear(c):
        c /= 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
    r, g, b = (linear(int(color[i:i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def check_contrast(style):
    """WCAG 2.1: 4.5 for text, 3 for drawings."""
    colors = {name: pair for name, *pair in re.findall(
        r"--(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", style)}
    for pairs, least in ((TEXT, 4.5), (DRAWN, 3)):
        for front, back in pairs:
            for theme in (0, 1):
                high, low = sorted((luminance(colors[front][theme]),
                                    luminance(colors[back][theme])), reverse=True)
                contrast = (high + 0.05) / (low + 0.05)
                if contrast < least:
                    problem(f"{front} on {back}, {('light', 'dark')[theme]}: contrast "
                            f"{contrast:.2f} < {least}")
    rest = re.sub(r"--\w+: light-dark\(.*?\);", "", style)
    if re.search(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsl", rest):
        problem("a colour that is not in the list at the top")


def main():
    raw = open(sys.argv[1], "rb").read()
    report = json.load(open(sys.argv[2]))
    columns = re.findall(r'^ELIDE_COLUMN\(\w+, "([^"]+)",.*, ([A-Z]+), \d+\)$',
                         open(sys.argv[3]).read(), re.M)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        problem(f"no UTF-8: {error}")
        text = raw.decode(errors="replace")
    if re.search(CONTROL, text):
        problem("a control character, or a mark that turns the text")
    page = Page(text)
    check_nothing_foreign(page, text)
    check_policy(page)
    check_references(page)
    check_usable(page)
    check_contrast("".join(page.raw["style"]))
    for i, part in enumerate(report.get("processes", [report])):
        check_part(page, i + 1, part, columns)
    for line in problems:
        print(line)
    return 1 if problems else 0


sys.exit(main())
