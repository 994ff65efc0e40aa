// SPDX-License-Identifier: GPL-2.0-or-later
//
// runtimes.rs - waits for locks of Rust's std, as runtimes.cc has others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const SECTIONS: usize = 150;

static ASLEEP: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);
static COUNT: Mutex<u64> = Mutex::new(0);
static TABLE: RwLock<u64> = RwLock::new(0);

/// The time that the thread has run, and was ready to run without a processor, in ns (schedstat of proc(5)).
fn not_asleep() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').take(2).map(|n| n.parse::<u64>().unwrap_or(0)).sum()
}

/// The call waits for at most its time, and at least for the part of it in which the thread was asleep.
fn timed<T>(call: impl FnOnce() -> T) -> T {
    let awake = not_asleep();
    let begin = Instant::now();
    let result = call();
    let all = begin.elapsed().as_nanos() as u64;
    WAITED.fetch_add(all, Ordering::Relaxed);
    ASLEEP.fetch_add(all.saturating_sub(not_asleep() - awake), Ordering::Relaxed);
    result
}

fn nap(us: u64) {
    thread::sleep(Duration::from_micros(us));
}

#[inline(never)]
fn mutex_worker(heap: &Mutex<u64>) {
    for _ in 0..SECTIONS {
        let mut n = timed(|| heap.lock().unwrap());
        *n += 1;
        nap(200);
    }
}

#[inline(never)]
fn static_worker() {
    for _ in 0..SECTIONS {
        let mut n = timed(|| COUNT.lock().unwrap());
        *n += 1;
        nap(200);
    }
}

#[inline(never)]
fn table_worker() {
    for _ in 0..SECTIONS {
        let mut n = timed(|| TABLE.write().unwrap());
        *n += 1;
        nap(200);
    }
}

#[inline(never)]
fn end_condvar_wait(pair: &(Mutex<bool>, Condvar)) {
    *pair.0.lock().unwrap() = true;
    pair.1.notify_all();
    nap(1);
}

#[inline(never)]
fn wait_condvar(pair: &(Mutex<bool>, Condvar)) {
    let mut done = pair.0.lock().unwrap();
    while !*done {
        done = timed(|| pair.1.wait(done).unwrap());
    }
}

#[inline(never)]
fn end_park(thread: &thread::Thread) {
    thread.unpark();
    nap(1);
}

fn say(row: &str, blocker: &str, verdict: &str) {
    let seconds = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e9;
    println!("truth wait {} {:.9} {:.9} 0", row, seconds(&ASLEEP), seconds(&WAITED));
    println!("truth blocker {} {}", row, blocker);
    println!("truth verdict {} {}", row, verdict);
}

fn four(worker: impl Fn() + Send + Clone + 'static) {
    let all: Vec<_> = (0..4)
        .map(|_| {
            let worker = worker.clone();
            thread::spawn(move || worker())
        })
        .collect();
    for t in all {
        t.join().unwrap();
    }
}

fn main() {
    let begin = Instant::now();

    match std::env::args().nth(1).as_deref() {
        Some("mutex") => {
            let heap = Arc::new(Mutex::new(0));
            four(move || mutex_worker(&heap));
            say("*/futex-lock", "runtimes::mutex_worker", "bottleneck");
        }
        Some("static") => {
            four(static_worker);
            say("runtimes::COUNT/futex-lock", "runtimes::static_worker", "bottleneck");
        }
        Some("rwlock") => {
            four(table_worker);
            say("*/futex-lock", "runtimes::table_worker", "bottleneck");
        }
        Some("condvar") => {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = pair.clone();
            let waiter = thread::spawn(move || wait_condvar(&other));
            nap(60000);
            end_condvar_wait(&pair);
            waiter.join().unwrap();
            say("*/futex", "runtimes::end_condvar_wait", "waits_for_work");
        }
        Some("park") => {
            let waiter = thread::spawn(|| timed(thread::park));
            nap(60000);
            end_park(waiter.thread());
            waiter.join().unwrap();
            say("*/futex", "runtimes::end_park", "waits_for_work");
        }
        _ => std::process::exit(2),
    }
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    println!("truth run {:.9}\ntruth at {:.9}", begin.elapsed().as_secs_f64(), at.as_secs_f64());
}
