# SPDX-License-Identifier: GPL-2.0-or-later
"""
trace-check.py FILE [PHASE=N ...]: is FILE a trace as the Trace Event Format of Chromium describes it?
It knows the format from that description alone, and nothing of the program that wrote the file: the JSON
object format, the fields that each phase needs, times in microseconds, slices of one thread that nest,
pairs of async and flow events, and ends of flows that lie in a slice. Prints what is wrong, a line each.
PHASE=N: there are at least N events of that phase.
"""
import json
import sys
from collections import Counter, defaultdict

problems = []


def problem(text):
    if len(problems) < 20:
        problems.append(text)


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def ns(us):
    return round(us * 1000)


# Fields of each phase besides ph, name, pid; ts is a number of microseconds.
NEEDS = {
    'X': ('tid', 'ts', 'dur'),
    'B': ('tid', 'ts'), 'E': ('tid', 'ts'),
    'b': ('cat', 'id', 'ts'), 'e': ('cat', 'id', 'ts'), 'n': ('cat', 'id', 'ts'),
    's': ('cat', 'id', 'tid', 'ts'), 'f': ('cat', 'id', 'tid', 'ts'), 't': ('cat', 'id', 'tid', 'ts'),
    'i': ('ts',),
    'M': ('args',),
}
METADATA = {'process_name': 'name', 'thread_name': 'name', 'process_labels': 'labels',
            'process_sort_index': 'sort_index', 'thread_sort_index': 'sort_index'}

with open(sys.argv[1], encoding='utf-8') as f:
    trace = json.load(f)
if not isinstance(trace, dict) or not isinstance(trace.get('traceEvents'), list):
    sys.exit('no object with an array traceEvents')
if trace.get('displayTimeUnit', 'ms') not in ('ms', 'ns'):
    problem('displayTimeUnit is %r' % trace['displayTimeUnit'])

phases = Counter()
slices = defaultdict(list)
opened = {}
flows = defaultdict(list)
for number, e in enumerate(trace['traceEvents']):
    where = 'event %d' % number
    ph = e.get('ph')
    phases[ph] += 1
    if ph not in NEEDS:
        problem('%s has phase %r' % (where, ph))
        continue
    for field in ('name', 'pid') + NEEDS[ph]:
        if field not in e:
            problem('%s (%s) has no %s' % (where, ph, field))
    if not isinstance(e.get('name'), str) or not isinstance(e.get('pid'), int):
        problem('%s: name or pid of a wrong type' % where)
    if 'tid' in e and not isinstance(e['tid'], int):
        problem('%s: tid is %r' % (where, e['tid']))
    if 'args' in e and not isinstance(e['args'], dict):
        problem('%s: args is no object' % where)
    for field in ('ts', 'dur'):
        if field in e and (not is_number(e[field]) or e[field] < 0):
            problem('%s: %s is %r' % (where, field, e[field]))
    if problems:
        continue
    key = (e.get('cat'), e.get('id'), e['pid'])
    if ph == 'M' and (e['name'] not in METADATA or METADATA[e['name']] not in e['args']):
        problem('%s: metadata %s' % (where, e['name']))
    elif ph == 'X':
        slices[e['pid'], e['tid']].append((ns(e['ts']), ns(e['ts']) + ns(e['dur'])))
    elif ph == 'b':
        if key in opened:
            problem('%s: async %r is begun twice' % (where, key))
        opened[key] = e
    elif ph == 'e':
        begin = opened.pop(key, None)
        if not begin or begin['ts'] > e['ts'] or begin['name'] != e['name']:
            problem('%s: async %r ends, but did not begin so' % (where, key))
    elif ph in 'sf':
        flows[key].append(e)
    elif ph == 'i' and e.get('s', 't') not in ('g', 'p', 't'):
        problem('%s: scope %r' % (where, e['s']))
    elif ph == 'i' and e.get('s', 't') == 't' and 'tid' not in e:
        problem('%s: an instant of a thread, without one' % where)

for key in opened:
    problem('async %r does not end' % (key,))
for thread, intervals in slices.items():
    stack = []
    for start, end in sorted(intervals, key=lambda i: (i[0], -i[1])):
        while stack and stack[-1] <= start:
            stack.pop()
        if stack and end > stack[-1]:
            problem('slices of thread %r do not nest at %d ns' % (thread, start))
        stack.append(end)
for key, events in flows.items():
    kinds = [e['ph'] for e in events]
    if sorted(kinds) != ['f', 's']:
        problem('flow %r has %r' % (key, kinds))
        continue
    start, finish = sorted(events, key=lambda e: e['ph'] == 'f')
    if finish['ts'] < start['ts'] or finish.get('bp') != 'e':
        problem('flow %r ends before it begins, or at the next slice' % (key,))
    for e in events:
        at = ns(e['ts'])
        if not any(a <= at <= b for a, b in slices[e['pid'], e['tid']]):
            problem('flow %r is in no slice at %d ns' % (key, at))
for arg in sys.argv[2:]:
    phase, least = arg.split('=')
    if phases[phase] < int(least):
        problem('%d events of phase %s, not %s' % (phases[phase], phase, least))
print('\n'.join(problems))
sys.exit(1 if problems else 0)
