// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futexes.c - how a futex wait ends: with 0 by a wake-up only, whatever happens to the word; what
 * signals do to it; and lio_listio(LIO_WAIT), which relies on that.
 *
 * The kernel answers the same: without the emulator the program finds nothing wrong either, on a
 * machine that gives a thread a processor within 20 ms.
 */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

#define SETTLE_US   20000
#define NR_REQUESTS 8
#define BLOCK_SIZE  512

/**
 * struct call - a futex call that a thread makes.
 * @word: the futex word, which has the value 1 at first
 * @op: operation of the call
 * @timeout: of the call, NULL none
 * @blocks: the thread blocks all signals
 * @over: the call has returned
 * @result: what it returned, -errno if it failed
 * @thread: the thread
 */
struct call {
	unsigned int *word;
	int op;
	const struct timespec *timeout;
	int blocks;
	volatile int over;
	long result;
	pthread_t thread;
};

static const struct timespec an_hour = {3600, 0};
static volatile int nr_handled;

static void on_signal(int signal)
{
	nr_handled++;
}

static long futex(unsigned int *word, int op, unsigned int value, const void *timeout)
{
	long result = syscall(SYS_futex, word, op, value, timeout, NULL, ~0u);

	return result < 0 ? -errno : result;
}

static void *make_call(void *arg)
{
	struct call *call = arg;
	sigset_t all;

	sigfillset(&all);
	if (call->blocks)
		pthread_sigmask(SIG_SETMASK, &all, NULL);
	call->result = futex(call->word, call->op, 1, call->timeout);
	call->over = 1;
	return NULL;
}

static void begin(struct call *call)
{
	*call->word = 1;
	pthread_create(&call->thread, NULL, make_call, call);
	usleep(SETTLE_US);
}

static void handle(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
	nr_handled = 0;
}

/*
 * A signal for another thread, while the word has changed, ends no wait; a wake-up does. In memory
 * shared with other processes the change may be all that the emulator sees of a wake-up.
 */
static void test_signal_of_another(unsigned int *word, int op, int shared)
{
	struct call call = {.word = word, .op = op, .blocks = 1};
	long want = 0;

	handle(0);
	begin(&call);
	kill(getpid(), SIGUSR1);
	usleep(SETTLE_US);
	check("a handler ran", nr_handled, 1);
	check("another thread's signal", call.over, 0);
	*word = 2;
	kill(getpid(), SIGUSR1);
	usleep(SETTLE_US);
	if (shared && call.over)
		want = -EAGAIN;
	else
		check("and a changed word", call.over, 0);
	if (!call.over)
		check("waiters", futex(word, FUTEX_WAKE | (op & FUTEX_PRIVATE_FLAG), 9, NULL), 1);
	pthread_join(call.thread, NULL);
	check("the result", call.result, want);
}

static void test_own_signal(const char *name, struct call call, int flags, int change, long want)
{
	unsigned int word;

	call.word = &word;
	handle(flags);
	begin(&call);
	word += change;
	pthread_kill(call.thread, SIGUSR1);
	usleep(SETTLE_US);
	check("its handler ran", nr_handled, 1);
	check(name, call.over, want != 0);
	if (!call.over)
		futex(&word, FUTEX_WAKE_PRIVATE, 9, NULL);
	pthread_join(call.thread, NULL);
	check(name, call.result, want);
}

static void test_own_signals(void)
{
	struct call plain = {.op = FUTEX_WAIT_PRIVATE};
	struct call timed = {.op = FUTEX_WAIT_PRIVATE, .timeout = &an_hour};
	struct call bitset = {.op = FUTEX_WAIT_BITSET_PRIVATE};

	test_own_signal("interrupted", plain, 0, 0, -EINTR);
	test_own_signal("interrupted behind a change", plain, 0, 1, -EINTR);
	test_own_signal("restarted", plain, SA_RESTART, 0, 0);
	test_own_signal("restarted behind a change", plain, SA_RESTART, 1, -EAGAIN);
	test_own_signal("interrupted with a timeout", timed, SA_RESTART, 0, -EINTR);
	test_own_signal("restarted with a bit set", bitset, SA_RESTART, 0, 0);
}

/* A wait for a lock is restarted whatever the handler's flags are. */
static void test_lock_signal(void)
{
	unsigned int lock = 0;
	struct call call = {.word = &lock, .op = FUTEX_LOCK_PI_PRIVATE};

	handle(0);
	futex(&lock, FUTEX_LOCK_PI_PRIVATE, 0, NULL);
	pthread_create(&call.thread, NULL, make_call, &call);
	usleep(SETTLE_US);
	pthread_kill(call.thread, SIGUSR1);
	usleep(SETTLE_US);
	check("its handler ran", nr_handled, 1);
	check("a lock is waited for", call.over, 0);
	futex(&lock, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL);
	pthread_join(call.thread, NULL);
	check("and taken", call.result, 0);
}

/* Wrong arguments count before the word. */
static void test_errors(void)
{
	const struct timespec bad = {0, 2000000000};
	unsigned int word = 2;

	check("another value", futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL), -EAGAIN);
	check("a bad timeout", futex(&word, FUTEX_WAIT_PRIVATE, 1, &bad), -EINVAL);
	check("no bit", syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 1, NULL, NULL, 0), -1);
	check("its error", errno, EINVAL);
}

static void *end_with_lock(void *mutex)
{
	pthread_mutex_lock(mutex);
	usleep(2 * SETTLE_US);
	return NULL;
}

static void *lock_and_unlock(void *mutex)
{
	long result = pthread_mutex_lock(mutex);

	if (result == EOWNERDEAD)
		pthread_mutex_consistent(mutex);
	pthread_mutex_unlock(mutex);
	return (void *)result;
}

/* The end of an owner wakes one waiter, and that one the next. */
static void test_owner_ends(void)
{
	pthread_t owner, waiters[3];
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;
	int i, nr_dead = 0;
	void *result;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attr);
	pthread_create(&owner, NULL, end_with_lock, &mutex);
	usleep(SETTLE_US);
	for (i = 0; i < 3; i++)
		pthread_create(&waiters[i], NULL, lock_and_unlock, &mutex);
	pthread_join(owner, NULL);
	for (i = 0; i < 3; i++) {
		pthread_join(waiters[i], &result);
		nr_dead += (long)result == EOWNERDEAD;
	}
	check("one waiter is told of the owner's end", nr_dead, 1);
}

/* Each request's end sends a signal while the word that lio_listio() waits on has changed. */
static void test_list(void)
{
	static char blocks[NR_REQUESTS][BLOCK_SIZE];
	struct aiocb requests[NR_REQUESTS], *list[NR_REQUESTS];
	int fd = memfd_create("futexes", 0), i;

	handle(SA_RESTART);
	memset(requests, 0, sizeof(requests));
	for (i = 0; i < NR_REQUESTS; i++) {
		list[i] = &requests[i];
		requests[i].aio_fildes = fd;
		requests[i].aio_buf = blocks[i];
		requests[i].aio_nbytes = BLOCK_SIZE;
		requests[i].aio_offset = i * BLOCK_SIZE;
		requests[i].aio_lio_opcode = LIO_WRITE;
		requests[i].aio_sigevent.sigev_notify = SIGEV_SIGNAL;
		requests[i].aio_sigevent.sigev_signo = SIGUSR1;
	}
	check("lio_listio", lio_listio(LIO_WAIT, list, NR_REQUESTS, NULL), 0);
	for (i = 0; i < NR_REQUESTS; i++) {
		check("a request is over", aio_error(&requests[i]), 0);
		check("its size", aio_return(&requests[i]), BLOCK_SIZE);
	}
	close(fd);
}

int main(void)
{
	static unsigned int word;
	unsigned int *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	test_signal_of_another(&word, FUTEX_WAIT_PRIVATE, 0);
	test_signal_of_another(&word, FUTEX_WAIT, 0);
	test_signal_of_another(shared, FUTEX_WAIT, 1);
	test_own_signals();
	test_lock_signal();
	test_errors();
	test_owner_ends();
	test_list();
	return emu_status();
}
