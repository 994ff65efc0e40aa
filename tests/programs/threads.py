# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads, a queue and an executor of Python's standard library."""
import concurrent.futures
import queue
import threading

total = 0
lock = threading.Lock()
jobs = queue.Queue(8)
done = []


def work():
    global total
    while (n := jobs.get()) is not None:
        with lock:
            total += n
            done.append(n)
        jobs.task_done()


threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for n in range(500):
    jobs.put(n)
jobs.join()
for t in threads:
    jobs.put(None)
for t in threads:
    t.join()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    squares = sum(pool.map(lambda n: n * n, range(200)))
print(total, len(done), squares)
