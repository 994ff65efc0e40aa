// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runtimes.cc - waits for locks and other means of synchronisation that are made of futexes: those of C++20, Qt, abseil
 * and oneTBB, and the program's own.
 *
 * Each scenario times its own calls. A section sleeps, so that the other threads wait in the kernel, and no spinning
 * counts.
 */
#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <algorithm>
#include <barrier>
#include <fcntl.h>
#include <latch>
#include <linux/futex.h>
#include <oneapi/tbb/mutex.h>
#include <QMutex>
#include <QSemaphore>
#include <semaphore>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

constexpr int threads = 4, sections = 150;
static std::atomic<long> waited, asleep;

static long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void nap(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

/* The time that the thread has run, and was ready to run without a processor, in ns (schedstat of proc(5)). */
static long not_asleep()
{
	static thread_local int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	unsigned long ran, ready;
	char text[80] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0 || sscanf(text, "%lu %lu", &ran, &ready) != 2)
		return 0;
	return (long)(ran + ready);
}

/* The call waits for at most its time, and at least for the part of it in which the thread was asleep: lock code spins. */
template <typename Call> static void timed(Call call)
{
	long awake = not_asleep(), begin = clock_ns(CLOCK_MONOTONIC), all;

	call();
	all = clock_ns(CLOCK_MONOTONIC) - begin;
	waited += all;
	asleep += std::max(0L, all - (not_asleep() - awake));
}

static std::counting_semaphore<8> std_semaphore(1);
static std::latch std_latch(1);
static std::atomic<int> std_atomic;
static QMutex q_mutex;
static QSemaphore q_semaphore(1);
static absl::Mutex absl_mutex;
static absl::Notification absl_notification;
static tbb::mutex tbb_mutex;
static uint32_t own_word, pi_word, many_word;

static NOINLINE void lock_own()
{
	uint32_t value = 0;

	if (__atomic_compare_exchange_n(&own_word, &value, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&own_word, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &own_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static NOINLINE void unlock_own()
{
	if (__atomic_exchange_n(&own_word, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &own_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static NOINLINE void lock_pi()
{
	uint32_t value = 0, own = gettid();

	if (!__atomic_compare_exchange_n(&pi_word, &value, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (syscall(SYS_futex, &pi_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0))
			;
}

static NOINLINE void unlock_pi()
{
	uint32_t own = gettid();

	if (!__atomic_compare_exchange_n(&pi_word, &own, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		syscall(SYS_futex, &pi_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
}

#define WORKER(what, acquire, release, us)                  \
	static NOINLINE void what()                         \
	{                                                   \
		for (int i = 0; i < sections; i++) {        \
			timed([] { acquire; });             \
			nap(us);                            \
			release;                            \
		}                                           \
	}
WORKER(own_lock_worker, lock_own(), unlock_own(), 200)
WORKER(pi_worker, lock_pi(), unlock_pi(), 200)
WORKER(semaphore_worker, std_semaphore.acquire(), std_semaphore.release(), 200)
WORKER(q_worker, q_mutex.lock(), q_mutex.unlock(), 200)
WORKER(q_unit_worker, q_semaphore.acquire(), q_semaphore.release(), 200)
WORKER(absl_worker, absl_mutex.Lock(), absl_mutex.Unlock(), 200)
/* It yields the processor some hundred times before it sleeps. */
WORKER(tbb_worker, tbb_mutex.lock(), tbb_mutex.unlock(), 1000)

/* Two threads wait, after @ready_us another one ends that. */
template <typename Wait, typename Wake> static void wake_later(Wait wait, Wake wake)
{
	std::thread waiters[] = {std::thread([&] { timed(wait); }), std::thread([&] { timed(wait); })};

	nap(60000);
	wake();
	for (auto &t : waiters)
		t.join();
}

static NOINLINE void end_latch() { std_latch.count_down(); }
static NOINLINE void end_atomic() { std_atomic = 1; std_atomic.notify_all(); }
static NOINLINE void end_event() { absl_notification.Notify(); }

/* Waits for one of two futexes. A kernel before 5.16 lacks the call. */
static NOINLINE void wait_many()
{
	static uint32_t never;
	struct { uint64_t value, word; uint32_t flags, unused; } waiters[] = {
		{0, (uintptr_t)&never, 2 | FUTEX_PRIVATE_FLAG, 0},
		{0, (uintptr_t)&many_word, 2 | FUTEX_PRIVATE_FLAG, 0},
	};

	while (!__atomic_load_n(&many_word, __ATOMIC_ACQUIRE))
		if (syscall(SYS_futex_waitv, waiters, 2, 0, NULL, 0) < 0 && errno == ENOSYS)
			nap(1000);
}

static NOINLINE void end_many()
{
	__atomic_store_n(&many_word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &many_word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
}

static const struct {
	const char *name, *row, *blocker;
	void (*worker)();
} workers[] = {
	{"own", "own_word/futex-lock", "own_lock_worker", own_lock_worker},
	{"pi", "pi_word/futex-lock", "pi_worker", pi_worker},
	{"semaphore", "std_semaphore/futex", "semaphore_worker", semaphore_worker},
	{"qmutex", "q_mutex/futex-lock", "q_worker", q_worker},
	{"qsemaphore", "q_semaphore/futex", "q_unit_worker", q_unit_worker},
	{"absl", "*/futex-lock", "absl_worker", absl_worker},
	{"tbb", "*/futex-lock", "tbb_worker", tbb_worker},
};

static void run(const char *name)
{
	std::vector<std::thread> all;

	for (const auto &w : workers) {
		if (strcmp(name, w.name))
			continue;
		for (int i = 0; i < threads; i++)
			all.emplace_back(w.worker);
		for (auto &t : all)
			t.join();
		printf("truth wait %s %.9f %.9f 0\n", w.row, asleep / 1e9, waited / 1e9);
		printf("truth blocker %s %s\n", w.row, w.blocker);
		printf("truth verdict %s bottleneck\n", w.row);
		return;
	}
	if (!strcmp(name, "latch"))
		wake_later([] { std_latch.wait(); }, end_latch);
	if (!strcmp(name, "atomic"))
		wake_later([] { std_atomic.wait(0); }, end_atomic);
	if (!strcmp(name, "notification"))
		wake_later([] { absl_notification.WaitForNotification(); }, end_event);
	if (!strcmp(name, "many"))
		wake_later(wait_many, end_many);
	printf("truth wait */futex %.9f %.9f 0\n", asleep / 1e9, waited / 1e9);
	printf("truth blocker */futex end_%s\n", strcmp(name, "notification") ? name : "event");
	printf("truth verdict */futex waits_for_work\n");
}

int main(int, char **argv)
{
	long begin = clock_ns(CLOCK_MONOTONIC);

	run(argv[1]);
	printf("truth run %.9f\ntruth at %.9f\n", (clock_ns(CLOCK_MONOTONIC) - begin) / 1e9, clock_ns(CLOCK_REALTIME) / 1e9);
}
