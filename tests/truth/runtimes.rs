// SPDX-License-Identifier: GPL-2.0-or-later
//
// runtimes.rs - waits for locks of Rust's std, as runtimes.cc has others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const SECTIONS: usize = 150;

static WAITED: AtomicU64 = AtomicU64::new(0);
static COUNT: Mutex<u64> = Mutex::new(0);
static TABLE: RwLock<u64> = RwLock::new(0);

fn timed<T>(call: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = call();
    WAITED.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
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
    let waited = WAITED.load(Ordering::Relaxed) as f64 / 1e9;
    println!("truth wait {} {:.9} {:.9} 0", row, waited, waited);
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
