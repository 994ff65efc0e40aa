// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * waiters.c - threads that wait, for the test of elide stacks: waiters KIND [N].
 *
 * Once all of them wait, or are about to, the program prints "ready"; it ends when standard input does,
 * and answers each line on it with the signals that it has got and a number that grows.
 *
 * waiters trace PID traces another process; waiters deny PROGRAM ARG... runs a program that may not
 * call ptrace(2).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 1000

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t all_there;
static sem_t units;
static pthread_spinlock_t spinner;
static atomic_long progress;
static atomic_long signals;
static int nr = 2;

/* Locks of the cycle: thread I has I and wants the next one. */
static pthread_mutex_t *const cycle[] = {&first_lock, &second_lock, &third_lock};

__attribute__((noinline)) static void take_both(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_mutex_lock(one);
	pthread_barrier_wait(&all_there);
	pthread_mutex_lock(other); /* deadlock */
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(one);
}

static void *cycle_thread(void *arg)
{
	long i = (long)arg;

	take_both(cycle[i], cycle[(i + 1) % nr]);
	return NULL;
}

__attribute__((noinline)) static void hold_for_ever(void)
{
	pthread_mutex_lock(&first_lock);
	pthread_barrier_wait(&all_there);
	pause();
	pthread_mutex_unlock(&first_lock);
}

static void *holder_thread(void *arg)
{
	hold_for_ever();
	return NULL;
}

__attribute__((noinline)) static void want_first(void)
{
	pthread_mutex_lock(&first_lock);
	pthread_mutex_unlock(&first_lock);
}

static void *wanting_thread(void *arg)
{
	pthread_barrier_wait(&all_there);
	want_first();
	return NULL;
}

static void *timed_thread(void *arg)
{
	struct timespec until;

	pthread_barrier_wait(&all_there);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 600;
	pthread_mutex_timedlock(&first_lock, &until);
	return NULL;
}

static void *writer_thread(void *arg)
{
	pthread_rwlock_wrlock(&table_lock);
	pthread_barrier_wait(&all_there);
	pause();
	return NULL;
}

static void *reader_thread(void *arg)
{
	pthread_barrier_wait(&all_there);
	pthread_rwlock_rdlock(&table_lock);
	return NULL;
}

static void *spinning_thread(void *arg)
{
	pthread_barrier_wait(&all_there);
	pthread_spin_lock(&spinner);
	return NULL;
}

static void *cond_thread(void *arg)
{
	pthread_mutex_lock(&second_lock);
	pthread_barrier_wait(&all_there);
	pthread_cond_wait(&filled, &second_lock);
	return NULL;
}

static void *sem_thread(void *arg)
{
	pthread_barrier_wait(&all_there);
	sem_wait(&units);
	return NULL;
}

static void *join_thread(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	return NULL;
}

/* It ends while it holds the lock. */
static void *ending_thread(void *arg)
{
	pthread_mutex_lock(&first_lock);
	return NULL;
}

static void *running_thread(void *arg)
{
	for (;;)
		atomic_fetch_add(&progress, 1);
	return NULL;
}

static void *relocking_thread(void *arg)
{
	pthread_mutex_lock(&third_lock);
	pthread_barrier_wait(&all_there);
	pthread_mutex_lock(&third_lock);
	return NULL;
}

static void wanting_handler(int sig)
{
	want_first();
	atomic_fetch_add(&signals, 1); /* no tail call */
}

/* The signal interrupts it before its first byte, so the byte before is of no function. */
__attribute__((naked, noinline, used)) static void trapped(void)
{
	__asm__ volatile("ud2"); /* trapped */
}

static void *trapped_thread(void *arg)
{
	trapped();
	return NULL;
}

static pthread_t start(void *(*run)(void *arg), void *arg, const char *name)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg)) {
		perror("waiters: pthread_create");
		exit(1);
	}
	pthread_setname_np(thread, name);
	return thread;
}

static void count_signal(int sig)
{
	atomic_fetch_add(&signals, 1);
}

/* Threads that wait in each way there is. */
static void start_all_kinds(void)
{
	static pthread_t holder;

	pthread_barrier_init(&all_there, NULL, 9);
	holder = start(holder_thread, NULL, "holder");
	start(writer_thread, NULL, "writer");
	start(reader_thread, NULL, "reader");
	start(cond_thread, NULL, "cond");
	start(sem_thread, NULL, "sem");
	start(timed_thread, NULL, "timed");
	start(spinning_thread, NULL, "spinner");
	start(wanting_thread, NULL, "wanting");
	pthread_spin_lock(&spinner);
	pthread_barrier_wait(&all_there);
	start(join_thread, &holder, "joiner");
}

static void serve(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		printf("%ld %ld\n", (long)signals, (long)progress);
		fflush(stdout);
	}
}

/* A thread in vfork() cannot be stopped before its child ends. */
static void *vfork_thread(void *arg)
{
	pid_t child = vfork();

	if (!child) {
		/* It shares the stack: nothing but system calls. It ends with its parent. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep(600);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return NULL;
}

static int trace(int pid)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return 1;
	puts("ready");
	fflush(stdout);
	serve();
	return 0;
}

static int deny(char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 1;
	execv(argv[0], argv);
	return 1;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	if (argc > 2 && !strcmp(kind, "trace"))
		return trace(atoi(argv[2]));
	if (argc > 2 && !strcmp(kind, "deny"))
		return deny(argv + 2);
	if (argc > 2)
		nr = atoi(argv[2]);
	if (nr < 1 || nr > MAX_THREADS)
		return 2;
	sem_init(&units, 0, 0);
	pthread_spin_init(&spinner, 0);
	pthread_barrier_init(&all_there, NULL, nr);
	if (!strcmp(kind, "cycle")) {
		for (long i = 0; i < nr; i++)
			start(cycle_thread, (void *)i, "cycle");
	} else if (!strcmp(kind, "kinds")) {
		start_all_kinds();
	} else if (!strcmp(kind, "relock")) {
		pthread_barrier_init(&all_there, NULL, 1);
		start(relocking_thread, NULL, "relock");
	} else if (!strcmp(kind, "gone")) {
		pthread_barrier_init(&all_there, NULL, 1);
		pthread_join(start(ending_thread, NULL, "ending"), NULL);
		start(wanting_thread, NULL, "wanting");
	} else if (!strcmp(kind, "signal")) {
		signal(SIGILL, wanting_handler);
		pthread_mutex_lock(&first_lock);
		start(trapped_thread, NULL, "trapped");
	} else if (!strcmp(kind, "fork")) {
		pthread_barrier_init(&all_there, NULL, 2);
		start(holder_thread, NULL, "holder");
		pthread_barrier_wait(&all_there);
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			want_first();
		}
	} else if (!strcmp(kind, "many")) {
		pthread_barrier_init(&all_there, NULL, nr);
		start(holder_thread, NULL, "holder");
		for (int i = 1; i < nr; i++)
			start(wanting_thread, NULL, "wanting");
	} else if (!strcmp(kind, "run")) {
		signal(SIGRTMIN, count_signal);
		start(running_thread, NULL, "runner");
	} else if (!strcmp(kind, "vfork")) {
		start(running_thread, NULL, "runner");
		start(vfork_thread, NULL, "vfork");
	} else if (!strcmp(kind, "undumpable")) {
		prctl(PR_SET_DUMPABLE, 0);
	} else {
		fprintf(stderr, "waiters: unknown kind %s\n", kind);
		return 2;
	}
	/* The threads need a moment between the barrier and their sleep: the test tries again. */
	puts("ready");
	fflush(stdout);
	serve();
	_exit(0);
}
