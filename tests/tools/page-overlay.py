# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what tests/tools/page lays over the report of mkdata's scenario elide: all that a report
can hold, with hostile names. Must never be taken for a measurement."""
import json

HOSTILE = "<script>alert(1)</script>\"'&amp;<img src=x onerror=alert(2)>\u202e\x9b\t"
FOOTPRINT = {"read_lines": 12, "write_lines": 3, "max_read_lines": 510, "max_write_lines": 64,
             "cache_set": 17, "cache_ways": 9}


def place(symbol, file="tests/tools/subject.c", line=20, into=None, module="mkdata"):
    return {"object": module, "symbol": symbol, "inlined_into": into, "file": file, "line": line}


insert = place("subject_insert")
lookup = place("subject_lookup", line=26)
evil = place(HOSTILE, '/tmp/"><b>.c', 7, HOSTILE, HOSTILE)
long = place("std::__detail::_Map_base<std::string, std::pair<std::string const, "
             "std::vector<unsigned long, pool_allocator<unsigned long> > >, std::allocator<int>, "
             "true>::operator[](std::string const&)", "/usr/include/hashtable_policy.h", 719,
             "very::deep::name_space::insert_or_assign")


def section(lock, kind, site):
    return {"class": "static x", "lock": lock, "kind": kind, "site": site}


index_lock = section("subject_index_lock", "mutex", lookup)


def detail(cause, own, other, data, count, **more):
    return {"cause": cause, "source": "emulator", "samples": count // 10 + 1, "count": count,
            "cycles": count * 1200, "own": own, "other": other, "other_write": True,
            "other_section": index_lock if other else None, "data": data, "syscall": None,
            "fault": None, "footprint": FOOTPRINT, "own_stack": [own, long, place("main")],
            "abort_stack": [own], "other_stack": [lookup] if other else [], "alloc_stack": [],
            **more}


def data(kind, name, own, other, sharing):
    return {"type": kind, "name": name, "symbol": name, "offset": 0, "other_symbol": name,
            "other_offset": 8, "object": "mkdata", "block_size": None, "own_bytes": own,
            "other_bytes": other, "sharing": sharing}


def event(time, lock, kind, site, what, skip, tries, fails):
    return {"time_s": time, "class": lock, "lock": lock, "kind": kind, "site": site,
            "event": what, "skip": skip, "tries": tries, "fails": fails}


rows = [{
    "findings": [
        {"cause": "conflict", "advice": "pad_variables", "setting": None,
         "text": "68.2% of the aborts (750): hits and misses lie on one cache line, and different "
                 "threads write them. Give each a line of its own."},
        {"cause": "syscall", "advice": "move_syscall",
         "setting": "ELIDE_LOCKS='subject_index_lock=off'",
         "text": "18.2% of the aborts (200): write() is called inside the section. Move it out."}],
    "details": [
        detail("conflict", insert, lookup, data("static", "hits", [0, 7], [8, 15], "false"), 420),
        detail("conflict", long, insert,
               data("heap", "block of 96 bytes of subject_create", [16, 23], [20, 31], "true"), 260),
        detail("syscall", insert, None, None, 200, syscall={"nr": 1, "name": "write"}),
        detail("fault", insert, None, None, 3, fault={"signal": None, "address_type": "static"}),
        detail("conflict", evil, evil, data("unknown", HOSTILE, None, [63, 63], "unknown"), 2)],
    "blame": [
        {"type": "abort", "held": index_lock, "samples": 41, "count": 620, "cycles": 744000},
        {"type": "inner", "held": section(HOSTILE, "mutex", evil), "samples": 3, "count": 45,
         "cycles": 9000},
        {"type": "wait", "held": None, "samples": 1, "count": 2, "cycles": 8000}],
    "stacks": [
        {"type": "abort", "samples": 20, "count": 320, "cycles": 400000,
         "frames": [insert, long, place("main")]},
        {"type": "wait", "samples": 2, "count": 20, "cycles": 30000,
         "frames": [evil, place(None, None, None, None, "libother.so.1")]}],
}, {
    "lock": HOSTILE, "class": HOSTILE, "site": evil,
    "findings": [{"cause": HOSTILE, "advice": HOSTILE, "text": HOSTILE,
                  "setting": "ELIDE_LOCKS='" + HOSTILE + "=off'"}],
}]


def access(who, bytes_, name, code, held, count):
    return {"bytes": bytes_, "who": who, "access": "write" if who == "other" else "unknown",
            "data": name, "code": code, "section": held, "samples": 1, "count": count,
            "cycles": count * 1200}


lines = [{"data": d["data"], "sharing": d["data"]["sharing"], "samples": d["samples"],
          "count": d["count"], "cycles": d["cycles"], "alloc_stack": [],
          "accesses": [
              access("own", d["data"]["own_bytes"], d["data"]["name"], d["own"], index_lock,
                     d["count"]),
              access("other", d["data"]["other_bytes"], d["data"]["name"], d["other"], None,
                     d["count"])]}
         for d in rows[0]["details"] if d["data"]]
timeline = []
for i in range(8):
    timeline.append(event(0.05 + 0.3 * i, "subject_index_lock", "mutex", insert, "paused", 1000,
                          64, 41))
    timeline.append(event(0.13 + 0.3 * i, "subject_index_lock", "mutex", insert, "resumed", 0,
                          4, 0))
timeline.append(event(1.1, HOSTILE, "rwlock-read", evil, "paused", 250000, 64, 64))
timeline.append(event(2.6, None, None, None, "off", 0, 0, 0))


def node(name, ns, *children):
    return {"name": name[-20:], "full": name, "ns": ns, "children": list(children)}


flame = node("", 1000, node("subject_index_lock", 700, node("main", 700, node("subject_insert", 500),
                                                             node("subject_lookup", 200))),
             node(HOSTILE, 300, node("main", 300, node(HOSTILE, 299), node("too narrow", 0.5))))
activity = {"step_s": 0.25, "samples": 60, "locks": [
    {"class": "static x", "lock": "subject_index_lock", "samples": 40, "waits_for": "locks", "wait_ns": 600000000,
     "waiting": [0, 1.5, 2, 0.5] * 3, "held": [0.9] * 12},
    {"class": HOSTILE, "lock": HOSTILE, "samples": 20, "waits_for": "others", "wait_ns": 0, "waiting": [0] * 12,
     "held": [0.1] * 12}]}
blocks = [{"row": 1 + (lock == HOSTILE), "waiter": waiter, "holder": holder, "lock": lock, "class": lock, "ns": ns}
          for waiter, holder, lock, ns in [("subject_insert", "subject_lookup_held", "subject_index_lock", 6e8),
                                           ("subject_insert", HOSTILE, HOSTILE, 3e8)] +
          [(f"waits_{i}", f"holds_{i % 4}", "subject_index_lock", 1e8 - i) for i in range(16)]]
threads = [{"name": "worker-7", "tid": 4242, "threads": 1, "acquired": 12345, "elided": 0,
            "contended": 100, "wait_cycles": 1, "wait_ns": 600000000, "hold_ns": 30000},
           {"name": HOSTILE, "tid": None, "threads": 3, "acquired": 20, "elided": 0, "contended": 0,
            "wait_cycles": 0, "wait_ns": 0, "hold_ns": None}]
print(json.dumps({
    "rows": rows,
    "flame": flame,
    "activity": activity,
    "blocks": blocks,
    "threads": threads,
    "lines": lines,
    "timeline": timeline,
    "program": {"exe": "/opt/" + HOSTILE + "/subject<b>", "argv": ["subject", "--x=" + HOSTILE],
                "pid": 4242, "start_date": "2023-11-14T22:13:20Z", "exit": 0, "elapsed_s": 3.0,
                "threads": 2},
    "counters": [
        {"source": "pmu", "name": "tx-start", "value": 123456789, "enabled_ns": 3000000000,
         "running_ns": 3000000000},
        {"source": "pcm", "name": HOSTILE, "value": 4567, "enabled_ns": 3000000000,
         "running_ns": 750000000}],
}, indent=1))
