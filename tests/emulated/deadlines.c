// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadlines.c - relative and absolute timeouts of calls that involve the host's kernel: for locks
 * shared with other processes, priority-inheriting locks, semaphores and queues of the kernel.
 *
 * Prints the times that the calls took, for comparison between runs. Fails if one is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define MS 1000000LL
#define SECOND (1000 * MS)
/* Largest time of a wake-up and of the calls around the one that is measured, ns. */
#define SLACK 60000
/*
 * Timeout of the waits of this program, ns: a multiple of the ticks in which kernels count the
 * timeouts of sockets. Some pass in real time, as another process could end them.
 */
#define SOON (40 * MS)

/* Memory that is shared with child processes. */
static struct shared {
	pthread_mutex_t mutex;
	pthread_mutex_t pi;
	pthread_cond_t cond;
	sem_t sem;
	unsigned int word;
	int nr_woken;
} *shared;

static struct timespec after(clockid_t clock, long long ns)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ns += ts.tv_nsec;
	ts.tv_sec += ns / SECOND;
	ts.tv_nsec = ns % SECOND;
	return ts;
}

static void took(const char *name, long long begun, long long want)
{
	long long ns = emu_ns() - begun;

	printf("%s %lld\n", name, ns);
	if (ns < want || ns > want + SLACK)
		check(name, ns, want);
}

/* Checks that @call fails with @error after SOON. */
#define expires(name, call, error)                      \
	do {                                            \
		long long begun_ = emu_ns();            \
		int result_ = (call);                   \
		took(name, begun_, SOON);               \
		check(name, result_, error);            \
	} while (0)

static int failed(long result)
{
	return result < 0 ? errno : 0;
}

static long futex(unsigned int *word, int op, unsigned int value, const struct timespec *timeout,
		  unsigned int *second, unsigned int third)
{
	return syscall(SYS_futex, word, op, value, timeout, second, third);
}

static void init_mutex(pthread_mutex_t *mutex, int pshared, int protocol, int robust)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, pshared);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutex_init(mutex, &attr);
}

static void init_cond(pthread_cond_t *cond, clockid_t clock)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, clock);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(cond, &attr);
}

static void init_shared(clockid_t clock)
{
	init_mutex(&shared->mutex, PTHREAD_PROCESS_SHARED, PTHREAD_PRIO_NONE, 0);
	init_mutex(&shared->pi, PTHREAD_PROCESS_SHARED, PTHREAD_PRIO_INHERIT, 0);
	init_cond(&shared->cond, clock);
	sem_init(&shared->sem, 1, 0);
	shared->word = 0;
}

static pthread_mutex_t *locked;

static void *lock_until_told(void *unused)
{
	pthread_mutex_lock(locked);
	usleep(2 * SOON / 1000);
	pthread_mutex_unlock(locked);
	return unused;
}

/* Waits with timeouts for a mutex that another thread has. */
static void timed_lock(const char *name, pthread_mutex_t *mutex)
{
	struct timespec until;
	pthread_t thread;
	long long begun;

	locked = mutex;
	pthread_create(&thread, NULL, lock_until_told, NULL);
	usleep(1000);
	until = after(CLOCK_REALTIME, SOON);
	expires(name, pthread_mutex_timedlock(mutex, &until), ETIMEDOUT);
	until = after(CLOCK_MONOTONIC, SOON / 4);
	begun = emu_ns();
	check(name, pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until), ETIMEDOUT);
	took(name, begun, SOON / 4);
	/* The other thread releases the mutex before this date. */
	until = after(CLOCK_REALTIME, 1000 * SECOND);
	begun = emu_ns();
	check(name, pthread_mutex_timedlock(mutex, &until), 0);
	took(name, begun, 2 * SOON - MS - SOON - SOON / 4 - SLACK / 2);
	pthread_mutex_unlock(mutex);
	pthread_join(thread, NULL);
}

static void test_pthread(void)
{
	static pthread_mutex_t pi;
	struct timespec until;

	init_mutex(&pi, PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_INHERIT, 0);
	timed_lock("PI mutex", &pi);
	init_shared(CLOCK_REALTIME);
	timed_lock("shared mutex", &shared->mutex);
	timed_lock("shared PI mutex", &shared->pi);
	pthread_mutex_lock(&shared->mutex);
	until = after(CLOCK_REALTIME, SOON);
	expires("shared condition", pthread_cond_timedwait(&shared->cond, &shared->mutex, &until),
		ETIMEDOUT);
	init_cond(&shared->cond, CLOCK_MONOTONIC);
	until = after(CLOCK_MONOTONIC, SOON);
	expires("shared condition, monotonic",
		pthread_cond_timedwait(&shared->cond, &shared->mutex, &until), ETIMEDOUT);
	pthread_mutex_unlock(&shared->mutex);
	until = after(CLOCK_REALTIME, SOON);
	expires("shared semaphore", failed(sem_timedwait(&shared->sem, &until)), ETIMEDOUT);
}

static void test_futex(unsigned int *word, int private)
{
	static unsigned int lock;
	struct timespec soon = {0, SOON}, until;

	expires("FUTEX_WAIT", failed(futex(word, FUTEX_WAIT | private, 0, &soon, NULL, 0)),
		ETIMEDOUT);
	until = after(CLOCK_MONOTONIC, SOON);
	expires("FUTEX_WAIT_BITSET",
		failed(futex(word, FUTEX_WAIT_BITSET | private, 0, &until, NULL, 1)), ETIMEDOUT);
	until = after(CLOCK_REALTIME, SOON);
	expires("FUTEX_WAIT_BITSET, date",
		failed(futex(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | private, 0, &until,
			     NULL, 1)), ETIMEDOUT);
	until = after(CLOCK_MONOTONIC, SOON);
	expires("FUTEX_WAIT_REQUEUE_PI",
		failed(futex(word, FUTEX_WAIT_REQUEUE_PI | private, 0, &until, &lock, 0)),
		ETIMEDOUT);
	check("FUTEX_WAIT with a clock",
	      failed(futex(word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME | private, 0, &soon, NULL, 0)),
	      ENOSYS);
	soon.tv_nsec = -1;
	check("FUTEX_WAIT, bad time", failed(futex(word, FUTEX_WAIT | private, 0, &soon, NULL, 0)),
	      EINVAL);
}

static unsigned int cond_word, lock_word;

static void *wait_requeue(void *result)
{
	*(long *)result = futex(&cond_word, FUTEX_WAIT_REQUEUE_PI_PRIVATE, 0, NULL, &lock_word, 0);
	if (*(long *)result == 0)
		*(long *)result = (lock_word & FUTEX_TID_MASK) == (unsigned int)gettid();
	futex(&lock_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	return NULL;
}

/* The waiters of a condition variable get its priority-inheriting mutex one after the other. */
static void test_requeue_pi(void)
{
	pthread_t threads[3];
	long results[3];
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, wait_requeue, &results[i]);
	usleep(1000);
	check("lock", futex(&lock_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
	check("lock again", failed(futex(&lock_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0)),
	      EDEADLK);
	check("a plain wake does not", futex(&cond_word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 0);
	check("requeue", futex(&cond_word, FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)9, &lock_word,
			       0), 3);
	check("waiters are noted", (lock_word & FUTEX_WAITERS) != 0, 1);
	check("unlock", futex(&lock_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		check("has the lock", results[i], 1);
	}
	check("free", lock_word, 0);
	check("unlock again", failed(futex(&lock_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0)),
	      EPERM);
}

static pthread_mutex_t robust;

static void *lock_and_end(void *unused)
{
	pthread_mutex_lock(&robust);
	usleep(SOON / 1000);
	return unused;
}

/* The owner of a lock ends, before or while another thread waits: that one gets EOWNERDEAD. */
static void test_owner_dies(void)
{
	for (int waits = 0; waits < 2; waits++) {
		pthread_t thread;

		init_mutex(&robust, PTHREAD_PROCESS_PRIVATE, PTHREAD_PRIO_INHERIT,
			   PTHREAD_MUTEX_ROBUST);
		pthread_create(&thread, NULL, lock_and_end, NULL);
		usleep(1000);
		if (!waits)
			pthread_join(thread, NULL);
		check("owner died", pthread_mutex_lock(&robust), EOWNERDEAD);
		if (waits)
			pthread_join(thread, NULL);
		check("consistent", pthread_mutex_consistent(&robust), 0);
		check("unlock", pthread_mutex_unlock(&robust), 0);
		pthread_mutex_destroy(&robust);
	}
}

static unsigned int cycle[2];

static void *lock_second(void *unused)
{
	futex(&cycle[1], FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	usleep(1000);
	futex(&cycle[0], FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	futex(&cycle[0], FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	futex(&cycle[1], FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

/* Acquiring a lock that would close a cycle of waiters fails. */
static void test_cycle(void)
{
	pthread_t thread;

	futex(&cycle[0], FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	pthread_create(&thread, NULL, lock_second, NULL);
	usleep(5000);
	check("cycle", failed(futex(&cycle[1], FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0)),
	      EDEADLK);
	futex(&cycle[0], FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0);
	pthread_join(thread, NULL);
}

static void test_kernel_queues(void)
{
	int sems = semget(IPC_PRIVATE, 1, 0600), msgs = msgget(IPC_PRIVATE, 0600);
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
	struct sembuf take = {.sem_num = 0, .sem_op = -1}, give = {.sem_num = 0, .sem_op = 1};
	struct timespec soon = {0, SOON}, until;
	char name[32], message[8] = "message";
	mqd_t queue;

	expires("semtimedop", failed(semtimedop(sems, &take, 1, &soon)), EAGAIN);
	check("semop", semop(sems, &give, 1), 0);
	check("semtimedop", semtimedop(sems, &take, 1, &soon), 0);
	take.sem_flg = IPC_NOWAIT;
	check("semtimedop, not waiting", failed(semtimedop(sems, &take, 1, &soon)), EAGAIN);
	snprintf(name, sizeof(name), "/elide-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	check("mq_open", queue >= 0, 1);
	mq_unlink(name);
	until = after(CLOCK_REALTIME, SOON);
	expires("mq_timedreceive", failed(mq_timedreceive(queue, message, 8, NULL, &until)),
		ETIMEDOUT);
	until = after(CLOCK_REALTIME, SOON);
	check("mq_timedsend", mq_timedsend(queue, message, 8, 0, &until), 0);
	until = after(CLOCK_REALTIME, SOON);
	expires("mq_timedsend, full", failed(mq_timedsend(queue, message, 8, 0, &until)),
		ETIMEDOUT);
	check("mq_timedreceive", mq_timedreceive(queue, message, 8, NULL, &until), 8);
	mq_close(queue);
	semctl(sems, 0, IPC_RMID);
	msgctl(msgs, IPC_RMID, NULL);
}

static void test_sockets(void)
{
	struct timeval soon = {0, SOON / 1000};
	int fds[2];
	char byte;

	check("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	expires("SO_RCVTIMEO", failed(recv(fds[0], &byte, 1, 0)), EAGAIN);
	expires("SO_RCVTIMEO, read", failed(read(fds[0], &byte, 1)), EAGAIN);
	close(fds[0]);
	close(fds[1]);
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static pid_t child_wakes(void (*wake)(void))
{
	pid_t pid = fork();

	if (!pid) {
		usleep(5000);
		wake();
		_exit(0);
	}
	return pid;
}

static void post(void)
{
	sem_post(&shared->sem);
}

static void signal_cond(void)
{
	pthread_mutex_lock(&shared->mutex);
	shared->nr_woken++;
	pthread_cond_signal(&shared->cond);
	pthread_mutex_unlock(&shared->mutex);
}

/* Wakes until there is a waiter, and does not change the word. */
static void plain_wake(void)
{
	while (futex(&shared->word, FUTEX_WAKE, 1, NULL, NULL, 0) != 1)
		usleep(1000);
}

static void hold_pi(void)
{
	pthread_mutex_lock(&shared->pi);
	sem_post(&shared->sem);
	usleep(20000);
	pthread_mutex_unlock(&shared->pi);
}

/* Another process ends a wait long before its timeout, which would not come in real time. */
static void test_other_process(void)
{
	struct timespec until;
	pid_t pid;
	int result = 0;

	init_shared(CLOCK_REALTIME);
	until = after(CLOCK_REALTIME, 1000 * SECOND);
	pid = child_wakes(post);
	check("semaphore of a child", sem_timedwait(&shared->sem, &until), 0);
	status_of(pid);
	pid = child_wakes(signal_cond);
	pthread_mutex_lock(&shared->mutex);
	while (!shared->nr_woken && !result)
		result = pthread_cond_timedwait(&shared->cond, &shared->mutex, &until);
	pthread_mutex_unlock(&shared->mutex);
	check("condition of a child", result, 0);
	status_of(pid);
	pid = child_wakes(plain_wake);
	check("futex of a child", futex(&shared->word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0,
					&until, NULL, 1), 0);
	status_of(pid);
	pid = child_wakes(hold_pi);
	check("it has the lock", sem_wait(&shared->sem), 0);
	check("PI mutex of a child", pthread_mutex_timedlock(&shared->pi, &until), 0);
	/* A child waits for a lock of this process: in the kernel, or in an emulator of its own. */
	pid = child_wakes(hold_pi);
	usleep(20000);
	pthread_mutex_unlock(&shared->pi);
	check("it gets it", sem_wait(&shared->sem), 0);
	check("status", status_of(pid), 0);
}

int main(void)
{
	static unsigned int word;

	emu_require();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	test_pthread();
	test_futex(&word, FUTEX_PRIVATE_FLAG);
	test_futex(&word, 0);
	test_futex(&shared->word, 0);
	test_requeue_pi();
	test_owner_dies();
	test_cycle();
	test_kernel_queues();
	test_sockets();
	/* What follows depends on real time, so it is not compared. */
	fflush(stdout);
	test_other_process();
	return emu_status();
}
