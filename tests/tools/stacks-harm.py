# SPDX-License-Identifier: GPL-2.0-or-later
# stacks-harm.py ELIDE WAITERS SEED: a process is not harmed by elide stacks, nor by its end in the
# middle. Prints ok or not ok a test.
import os
import random
import signal
import subprocess
import sys
import time

elide, waiters, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
chance = random.Random(seed)
LIMIT = 60  # seconds, for what takes a moment


def start(kind, *args):
    p = subprocess.Popen([waiters, kind, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert p.stdout.readline() == b"ready\n"
    return p


def ask(p):
    p.stdin.write(b"\n")
    p.stdin.flush()
    return [int(word) for word in p.stdout.readline().split()]


def end(p):
    p.kill()
    p.wait()
    p.stdin.close()
    p.stdout.close()


def states(pid):
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as f:
            found.append(f.read().rsplit(")", 1)[1].split()[0])
    return found


def tracer(pid):
    with open(f"/proc/{pid}/status") as f:
        return [int(line.split()[1]) for line in f if line.startswith("TracerPid:")][0]


def await_that(what, holds):
    until = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > until:
            return f"{what} never came"
    return None


def run_elide(pid, **options):
    return subprocess.Popen([elide, "stacks", str(pid)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **options)


def goes_on(p):
    """Why the process does not go on as before; None if it does."""
    why = await_that("the end of the trace", lambda: tracer(p.pid) == 0)
    why = why or await_that("the end of the stop", lambda: "t" not in states(p.pid))
    if why:
        return why
    before = ask(p)[1]
    return await_that("progress", lambda: ask(p)[1] > before)


def killed_at_random():
    """It is killed at any moment, mostly before or after the stop."""
    p = start("run")
    why = None
    for _ in range(20):
        e = run_elide(p.pid)
        time.sleep(chance.uniform(0, 0.03))
        e.kill()
        e.wait()
        why = why or goes_on(p)
    end(p)
    return why


def killed_in_the_stop():
    """A thread in vfork() is waited for while the others are stopped: then it is killed."""
    p = start("vfork")
    why = await_that("vfork", lambda: "D" in states(p.pid))
    met = 0
    until = time.monotonic() + LIMIT
    while not why and met < 3:
        e = run_elide(p.pid)
        while "t" not in states(p.pid) and e.poll() is None:
            pass
        met += e.poll() is None
        e.kill()
        e.wait()
        why = goes_on(p)
        if time.monotonic() > until:
            why = why or "the stop was never met"
    end(p)
    return why


def signals_arrive():
    """Each of many signals is delivered, those that come in a stop too."""
    p = start("run")
    sent = 0
    for _ in range(20):
        e = run_elide(p.pid)
        while e.poll() is None:
            os.kill(p.pid, signal.SIGRTMIN)
            sent += 1
            time.sleep(0.0005)
    why = await_that(f"the last of {sent} signals", lambda: ask(p)[0] == sent)
    why = why or goes_on(p)
    end(p)
    return why


def stays_stopped():
    """A process that was stopped stays so, and goes on when it is to."""
    p = start("run")
    os.kill(p.pid, signal.SIGSTOP)
    why = await_that("the stop", lambda: set(states(p.pid)) == {"T"})
    for _ in range(3):
        if run_elide(p.pid).wait():
            why = why or "elide stacks fails"
    if not why and await_that("T", lambda: set(states(p.pid)) == {"T"}):
        why = f"its threads are {states(p.pid)}"
    os.kill(p.pid, signal.SIGCONT)
    why = why or goes_on(p)
    end(p)
    return why


failed = 0
for test in killed_at_random, killed_in_the_stop, signals_arrive, stays_stopped:
    problem = test()
    name = "harm: " + test.__name__.replace("_", " ")
    print(f"not ok {name}: {problem}, seed {seed}" if problem else f"ok {name}")
    failed += problem is not None
sys.exit(failed != 0)
