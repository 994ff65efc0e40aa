# SPDX-License-Identifier: GPL-2.0-or-later
"""elide top on a terminal: top.py ELIDE SYNTHETIC-FILE LOOPER PRELOAD

The terminal is a pty and a parser of the control sequences that ncurses sends
for xterm, so that what is compared is what a person would see. Prints a line a test.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

ELIDE, FILE, LOOPER, PRELOAD = sys.argv[1:5]
failed = 0


class Screen:
    """What an xterm would show."""

    def __init__(self, rows, columns):
        self.resize(rows, columns)
        self.rest = b""
        self.alternate = False
        self.unknown = set()
        self.colours = set()

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.region = (0, rows - 1)
        self.y = self.x = 0

    def scroll(self, top, bottom, by):
        """Lines up, or down if @by is negative."""
        for _ in range(abs(by)):
            del self.cells[top if by > 0 else bottom]
            self.cells.insert(bottom if by > 0 else top, [" "] * self.columns)

    def line_feed(self):
        if self.y == self.region[1]:
            self.scroll(*self.region, 1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def put(self, c):
        if self.x < self.columns and self.y < self.rows:
            self.cells[self.y][self.x] = c
        self.last = c
        self.x = min(self.x + 1, self.columns)

    def blank(self, y, begin, end):
        for x in range(begin, min(end, self.columns)):
            self.cells[y][x] = " "

    def control(self, private, numbers, final):
        self.move(private, numbers, final)
        # What a program sends that does not know yet how small its terminal has become.
        self.y = max(0, min(self.y, self.rows - 1))
        self.x = max(0, self.x)
        self.region = (min(self.region[0], self.rows - 1), min(self.region[1], self.rows - 1))

    def move(self, private, numbers, final):
        n = [int(v) if v else 0 for v in numbers.split(";")] if numbers else [0]
        first = n[0] or 1
        if private:
            if 1049 in n:
                self.alternate = final == "h"
        elif final in "Hf":
            self.y, self.x = first - 1, (n[1] if len(n) > 1 and n[1] else 1) - 1
        elif final == "d":
            self.y = first - 1
        elif final == "G":
            self.x = first - 1
        elif final in "ABCD":
            self.y += {"A": -first, "B": first}.get(final, 0)
            self.x += {"C": first, "D": -first}.get(final, 0)
        elif final == "J":
            if n[0] == 2:
                self.cells = [[" "] * self.columns for _ in range(self.rows)]
            else:
                self.blank(self.y, self.x, self.columns)
                for y in range(self.y + 1, self.rows):
                    self.blank(y, 0, self.columns)
        elif final == "K":
            self.blank(self.y, 0 if n[0] else self.x, self.x + 1 if n[0] == 1 else self.columns)
        elif final == "X":
            self.blank(self.y, self.x, self.x + first)
        elif final == "b":
            for _ in range(first):
                self.put(self.last)
        elif final == "P":
            row = self.cells[self.y]
            self.cells[self.y] = row[:self.x] + row[self.x + first:] + [" "] * first
        elif final == "@":
            row = self.cells[self.y]
            self.cells[self.y] = (row[:self.x] + [" "] * first + row[self.x:])[:self.columns]
        elif final == "r":
            self.region = (first - 1, (n[1] if len(n) > 1 and n[1] else self.rows) - 1)
            self.y = self.x = 0
        elif final in "LM":
            self.scroll(self.y, self.region[1], first if final == "M" else -first)
        elif final in "ST":
            self.scroll(*self.region, first if final == "S" else -first)
        elif final == "m":
            self.colours.update(v for v in n if v >= 30)
        elif final not in "hlt":
            self.unknown.add(final)

    SEQUENCE = re.compile(rb"\x1b\[([?>]?)([0-9;]*)([@-~])|\x1b[()].|\x1b[=>78M]|[^\x1b]")

    def feed(self, data):
        data = self.rest + data
        at = 0
        while at < len(data):
            m = self.SEQUENCE.match(data, at)
            if not m:
                break
            at = m.end()
            if m.group(3):
                self.control(m.group(1), m.group(2).decode(), m.group(3).decode())
            elif m.group(0) == b"\x1bM":
                if self.y == self.region[0]:
                    self.scroll(*self.region, -1)
                else:
                    self.y = max(self.y - 1, 0)
            elif m.group(0)[0] != 0x1b:
                c = m.group(0)
                if c == b"\r":
                    self.x = 0
                elif c == b"\n":
                    self.line_feed()
                elif c == b"\b":
                    self.x = max(self.x - 1, 0)
                elif c >= b" ":
                    self.put(c.decode("latin-1"))
        self.rest = data[at:]

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]


class Terminal:
    """A command on a terminal."""

    def __init__(self, *args, rows=24, columns=80, term="xterm"):
        self.screen = Screen(rows, columns)
        self.text = b""
        self.fd, self.slave = pty.openpty()
        self.size(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        env = {k: v for k, v in os.environ.items() if k not in ("TERM", "LINES", "COLUMNS")}
        if term:
            env["TERM"] = term
        self.child = subprocess.Popen([ELIDE, "top", *args], stdin=self.slave, stdout=self.slave,
                                      stderr=self.slave, env=env, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.read(0)
        self.screen.resize(rows, columns)
        self.size(rows, columns)

    def read(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            data = os.read(self.fd, 65536)
            self.text += data
            self.screen.feed(data)

    def key(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self, condition, seconds=20):
        """Until the screen is so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition(self.screen.lines()):
                return True
            self.read(0.05)
        return False

    def settle(self):
        """Until nothing more comes."""
        while select.select([self.fd], [], [], 0.3)[0]:
            self.read(0)

    def end(self):
        """The exit code, and whether the terminal is as it was."""
        end = time.monotonic() + 20
        while self.child.poll() is None and time.monotonic() < end:
            self.read(0.05)
        self.read(0.1)
        if self.child.poll() is None:
            self.child.kill()
        code = self.child.wait()
        same = termios.tcgetattr(self.slave) == self.before and not self.screen.alternate
        os.close(self.fd)
        os.close(self.slave)
        return code, same


def test(name, holds, why=""):
    global failed
    failed += not holds
    print(f"ok {name}" if holds else f"not ok {name}: {str(why)!r}")


def first_is(words):
    return lambda lines: lines[5].startswith(words)


def test_keys():
    t = Terminal("-i", FILE)
    lock = "subject..ex_lock subject_insert"
    test("top: rows by cost", t.wait(first_is(lock)), t.screen.lines())
    lines = t.screen.lines()
    test("top: head", lines[0].startswith("subject (pid 4242): exit code 0 after 3.00s, mode elide")
         and lines[4].startswith("LOCK ") and " ACQUIRED/s " in lines[4] and " TOTAL " in lines[4],
         lines)
    test("top: 80 columns are not too few", lines[4].rstrip().endswith("/s") and
         max(len(line) for line in lines[4:]) > 70, lines)
    test("top: no column is marked that is not sorted by", "*" not in lines[4], lines)
    test("top: the last line has the keys", t.wait(lambda s: s[-1].startswith("q quit  h help  < > sort")),
         t.screen.lines())
    test("top: colour", 31 in t.screen.colours, t.screen.colours)
    t.key("a")
    test("top: sort by a letter", t.wait(first_is("subject_create   subject_lookup")) and
         "sorted by acquired" in t.screen.lines()[2] and " ACQUIRED/s* " in t.screen.lines()[4],
         t.screen.lines())
    t.key(">")
    test("top: sort by the next column", t.wait(lambda s: "sorted by elided" in s[2]),
         t.screen.lines())
    t.key("<<")
    test("top: sort by the one before",
         t.wait(lambda s: "sorted by site" in s[2] and s[5].startswith("subject..le+0x20 subject_guard")),
         t.screen.lines())
    t.key("t")
    test("top: totals", t.wait(lambda s: "since the start" in s[2] and " ACQUIRED " in s[4] and
                               " SITE* " in s[4] and "/s" not in s[4]), t.screen.lines())
    t.key("tl")
    test("top: by lock", t.wait(lambda s: "by lock, sorted" in s[2] and "per second" in s[2]),
         t.screen.lines())
    t.key("l")
    test("top: by site", t.wait(lambda s: "by site, sorted" in s[2]), t.screen.lines())
    t.key("lc")
    t.wait(lambda s: "by lock and site, sorted by cost" in s[2])
    t.key("\x1bOB")
    test("top: scroll", t.wait(first_is("subject..le+0x20")), t.screen.lines())
    t.key("?")
    test("top: help", t.wait(lambda s: any("sort by cost" in line for line in s)), t.screen.lines())
    t.key("h")
    t.wait(first_is("subject..le+0x20"))
    t.resize(8, 160)
    test("top: a wider terminal shows more columns",
         t.wait(lambda s: " SYSCALL% " in s[4] and " KIND " in s[4] and s[7] != ""), t.screen.lines())
    t.resize(24, 80)
    test("top: a narrower one fewer",
         t.wait(lambda s: s[4].startswith("LOCK ") and "SYSCALL%" not in s[4]), t.screen.lines())
    t.resize(3, 10)
    test("top: a tiny one", t.wait(lambda s: s[0] == "subject (p"), t.screen.lines())
    test("top: nothing unknown was sent", not t.screen.unknown, t.screen.unknown)
    t.key("q")
    test("top: q ends, the terminal is as it was", t.end() == (0, True))


def test_signal(name, send, code):
    t = Terminal("-i", FILE)
    t.wait(first_is("subject..ex_lock"))
    send(t)
    got = t.end()
    test(f"top: {name} ends, the terminal is as it was", got == (code, True), got)


def test_refused(name, term, message):
    t = Terminal("-i", FILE, term=term)
    code, same = t.end()
    text = t.text.decode().strip()
    test(f"top: {name}", code == 2 and same and text == f"elide: top: {message}: elide top "
         "--batch prints text", (code, text))


def acquired(lines):
    """Of the totals, with its unit."""
    m = re.match(r"([0-9.]+)([kMG]?) acquired", lines[1])
    return float(m.group(1)) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[m.group(2)] if m else 0


def started(pid):
    """When it did, in clock ticks."""
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[19])


def newest_is_shown(pid):
    """Of all on this machine: this one, or one that somebody else has started since."""
    for _ in range(50):
        newest = subprocess.run([ELIDE, "top", "-b", "--count", "1"], capture_output=True, text=True)
        if f"looper (pid {pid}): runs" in newest.stdout:
            return True, ""
        m = re.match(r".*? \(pid (\d+)\): ", newest.stdout)
        try:
            if m and started(int(m.group(1))) >= started(pid):
                return True, ""
        except OSError:
            continue  # it has ended meanwhile
        break
    return False, newest.stdout + newest.stderr


def test_live():
    env = dict(os.environ, LD_PRELOAD=PRELOAD, ELIDE_OUTPUT="live.data")
    looper = subprocess.Popen([LOOPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    try:
        # It has its data file when a section has been made.
        sections = 0
        while not sections:
            looper.stdin.write(b"\n")
            looper.stdin.flush()
            sections = int(looper.stdout.readline())
        t = Terminal(str(looper.pid), "--interval=0.1", "--totals")
        test("top: a process that runs", t.wait(lambda s: acquired(s) > 0 and " runs for " in s[0]),
             t.screen.lines())
        seen = acquired(t.screen.lines())
        test("top: numbers go on", t.wait(lambda s: acquired(s) > seen), t.screen.lines())
        t.key(" ")
        test("top: frozen", t.wait(lambda s: "[FROZEN]" in s[2]), t.screen.lines())
        t.settle()  # the lines below may still be on their way
        frozen = t.screen.lines()
        time.sleep(0.5)
        t.read(0)
        test("top: frozen numbers stand still", t.screen.lines() == frozen, t.screen.lines())
        t.key("a")
        t.wait(lambda s: "sorted by acquired" in s[2])
        test("top: frozen rows can be sorted", t.screen.lines()[1] == frozen[1] and
             "sorted by acquired" in t.screen.lines()[2], t.screen.lines())
        t.key(" ")
        seen = acquired(frozen)
        test("top: and they go on", t.wait(lambda s: acquired(s) > seen and "FROZEN" not in s[2]),
             t.screen.lines())
        t.key("t")
        test("top: rates", t.wait(lambda s: re.match(r"[0-9.]+[kMG]?/s acquired", s[1]) and
                                  "per second of the last" in s[2]), t.screen.lines())
        test("top: the newest process", *newest_is_shown(looper.pid))
        looper.communicate()
        test("top: the end of the process is shown",
             t.wait(lambda s: f"looper (pid {looper.pid}): has ended after" in s[0]), t.screen.lines())
        t.key("q")
        test("top: q after that", t.end() == (0, True))
    finally:
        looper.kill()
        looper.wait()


test_keys()
test_signal("SIGTERM", lambda t: t.child.send_signal(signal.SIGTERM), -signal.SIGTERM)
test_signal("SIGINT from the keyboard", lambda t: t.key("\x03"), -signal.SIGINT)
test_refused("TERM=dumb", "dumb", "this terminal cannot move its cursor")
test_refused("TERM not set", None, "the terminal is not known, or TERM is not set")
test_refused("TERM of nothing", "nosuch-terminal", "the terminal is not known, or TERM is not set")
if os.path.exists(PRELOAD):
    test_live()
else:
    print("skip top: a process that runs: there is no preload library")
sys.exit(failed > 0)
