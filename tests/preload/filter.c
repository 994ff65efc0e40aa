/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.c - calls of every kind of lock, by new threads, of new locks, classes and sites, after the
 * process has installed a seccomp filter that allows what the program itself needs, and to the
 * library futex(2) alone.
 *
 * filter HOW [WHAT]: HOW is prctl, or seccomp (by syscall() and for all threads). Each other system
 * call raises SIGSYS, whose handler writes its number down; "forbidden N" lines say which they were.
 * WHAT: kill, the filter kills the process instead; fork, it allows fork() and a child locks; jump, a
 * signal handler leaves lock calls by longjmp(); fails, the filter is refused. Instead of HOW: strict,
 * tsc; none, no filter beyond that which the process may have begun with. WHAT of none: few, one thread
 * makes some lock calls.
 */
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_THREADS 6
#define NR_LOCKS 400

static pthread_mutex_t locks[NR_LOCKS], late[NR_LOCKS], hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;
static unsigned long n, waiting;
static unsigned int forbidden[512];

#define SITE(nr)                                                           \
	static __attribute__((noinline)) void site##nr(pthread_mutex_t *m) \
	{                                                                  \
		pthread_mutex_lock(m);                                     \
		n++;                                                       \
		pthread_mutex_unlock(m);                                   \
		__asm__ volatile("");                                      \
	}
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5) SITE(6) SITE(7)

static void (*const sites[])(pthread_mutex_t *m) = {site0, site1, site2, site3,
						    site4, site5, site6, site7};

static void on_sys(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	if ((unsigned int)info->si_syscall < 512)
		__atomic_add_fetch(&forbidden[info->si_syscall], 1, __ATOMIC_RELAXED);
}

/* What glibc's own calls need for threads that start and end, and to write the result. */
static const int allowed[] = {
	SYS_futex, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_munmap, SYS_mprotect,
	SYS_mmap, SYS_madvise, SYS_clone3, SYS_clone, SYS_set_robust_list, SYS_rseq,
	SYS_rt_sigprocmask, SYS_brk, SYS_rt_sigaction, SYS_getrandom,
};

/* The library's instructions. */
static uint64_t start, end;

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	if (!strstr(info->dlpi_name, "libelide-preload"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			end = start + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* From the library itself futex(2) alone, whatever else the program may. */
static unsigned int forbid_library(struct sock_filter *f, unsigned int action)
{
	const unsigned int at = offsetof(struct seccomp_data, instruction_pointer);
	const struct sock_filter rule[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, start >> 32, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, start & UINT32_MAX, 0, 4),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, end & UINT32_MAX, 3, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, action),
	};

	dl_iterate_phdr(find_library, NULL);
	/* It lies across 4 GiB: one run in many thousands, which tries less. */
	if (!start || start >> 32 != end >> 32)
		return 0;
	memcpy(f, rule, sizeof(rule));
	return sizeof(rule) / sizeof(*rule);
}

static int install(const char *how, const char *what)
{
	struct sock_filter f[2 * 32 + 16];
	unsigned int nr, action = SECCOMP_RET_TRAP;
	struct sock_fprog program = {.filter = f};

	if (!strcmp(what, "kill"))
		action = SECCOMP_RET_KILL_PROCESS;
	nr = forbid_library(f, action);
	f[nr++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
		f[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
		f[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	if (!strcmp(what, "fork")) {
		f[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_wait4, 0, 1);
		f[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	if (!strcmp(what, "jump")) {
		f[nr++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setitimer, 0, 1);
		f[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = !strcmp(what, "fails") ? 0 : nr;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (!strcmp(how, "seccomp"))
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void wait_all(void)
{
	pthread_mutex_lock(&hot);
	if (++waiting % NR_THREADS)
		for (unsigned long round = waiting / NR_THREADS; waiting / NR_THREADS == round;)
			pthread_cond_wait(&cond, &hot);
	else
		pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&hot);
}

static void new_lock(void)
{
	pthread_mutex_t m;

	pthread_mutex_init(&m, NULL);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_mutex_destroy(&m);
}

static void *work(void *arg)
{
	unsigned long first = (unsigned long)arg;

	for (int i = 0; i < 2000; i++) {
		sites[i % 8](&hot);
		if (i % 5)
			continue;
		sites[(i + 1) % 8](&locks[(first + i) % NR_LOCKS]);
		sites[(i + 2) % 8](&late[i % NR_LOCKS]);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_rwlock_wrlock(&rw);
		n++;
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		n++;
		pthread_spin_unlock(&spin);
		sem_wait(&sem);
		sem_post(&sem);
		new_lock();
	}
	pthread_barrier_wait(&barrier);
	wait_all();
	return NULL;
}

static void threads(void)
{
	pthread_t t[NR_THREADS];

	for (unsigned long i = 0; i < NR_THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(i * 60)))
			_exit(3);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(t[i], NULL);
}

static sigjmp_buf again;
static volatile sig_atomic_t jumps, may_jump;

static void on_alarm(int signal)
{
	(void)signal;
	if (may_jump) {
		jumps++;
		siglongjmp(again, 0);
	}
}

/* Handlers leave lock calls of new locks; the locks of a round are not used again. */
static void jump(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	static pthread_mutex_t *m;
	static int i;

	setitimer(ITIMER_REAL, &often, NULL);
	m = late;
	for (i = 0; i < NR_LOCKS; i++) {
		if (sigsetjmp(again, 0))
			continue;
		may_jump = 1;
		for (int j = 0; j < 200; j++) {
			sites[j % 8](m + i);
			new_lock();
		}
		may_jump = 0;
	}
	may_jump = 0;
	setitimer(ITIMER_REAL, &never, NULL);
}

static void say(void)
{
	char line[64];
	int len;

	for (int i = 0; i < 512; i++)
		if (forbidden[i]) {
			len = snprintf(line, sizeof(line), "forbidden %d\n", i);
			if (write(STDOUT_FILENO, line, len) < len)
				_exit(4);
		}
	if (write(STDOUT_FILENO, "ended\n", 6) < 6)
		_exit(4);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_sys, .sa_flags = SA_SIGINFO | SA_NODEFER};
	struct sigaction alarm = {.sa_handler = on_alarm, .sa_flags = SA_NODEFER};
	const char *what = argc > 2 ? argv[2] : "";
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	sigaction(SIGSYS, &action, NULL);
	sigaction(SIGALRM, &alarm, NULL);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	sem_init(&sem, 0, 2);
	/* malloc() of the first thread that starts, and stacks that are used again, before the filter. */
	if (strcmp(what, "first"))
		threads();
	if (!strcmp(argv[1], "tsc")) {
		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
			return 5;
		threads();
		say();
		return 0;
	}
	if (!strcmp(argv[1], "strict")) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
			return 5;
		for (int i = 0; i < NR_LOCKS; i++) {
			sites[i % 8](&late[i]);
			new_lock();
			pthread_rwlock_rdlock(&rw);
			pthread_rwlock_unlock(&rw);
			pthread_spin_lock(&spin);
			pthread_spin_unlock(&spin);
			sem_wait(&sem);
			sem_post(&sem);
		}
		say();
		syscall(SYS_exit, 0);
	}
	if (strcmp(argv[1], "none") && !!install(argv[1], what) != !strcmp(what, "fails"))
		return 5;
	if (!strcmp(what, "fork")) {
		pid = fork();
		if (!pid) {
			for (int i = 0; i < NR_LOCKS; i++)
				sites[i % 8](&late[i]);
			say();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 6;
	}
	if (!strcmp(what, "few"))
		for (int i = 0; i < NR_LOCKS; i++)
			sites[i % 8](&late[i]);
	else if (!strcmp(what, "jump"))
		jump();
	else
		threads();
	say();
	return 0;
}
