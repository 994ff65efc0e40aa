/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * behave.c - what every lock call answers in every state of every kind of
 * lock, as text. The semantics matrix compares it between plain glibc and the
 * library: a program must not be able to tell the difference.
 *
 * Each cell is tried on a lock that has been locked and unlocked before, so
 * that it is known and elided where that is possible.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "../../lib/live-name.h"

static const struct timespec past = {1, 0}, invalid = {1, -1};

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	mtx_t mtx;
	char room[128];
};

enum op {
	LOCK, TRYLOCK, TIMEDLOCK, CLOCKLOCK, CLOCK_BAD, TIMED_INVALID, /* readers for a rwlock */
	WRLOCK, TRYWRLOCK, TIMEDWRLOCK, CLOCKWRLOCK, CLOCKWR_BAD, TIMEDWR_INVALID,
	UNLOCK, DESTROY, NR_OPS
};

static const char *const op_names[NR_OPS] = {
	"lock", "trylock", "timedlock", "clocklock", "clocklock-bad-clock", "timedlock-bad-time",
	"wrlock", "trywrlock", "timedwrlock", "clockwrlock", "clockwrlock-bad-clock",
	"timedwrlock-bad-time", "unlock", "destroy",
};

/* CLOCK_PROCESS_CPUTIME_ID is none that the calls know. */
#define BAD_CLOCK CLOCK_PROCESS_CPUTIME_ID

static int mutex_op(union lock *l, enum op op)
{
	pthread_mutex_t *m = &l->mutex;

	switch (op) {
	case LOCK: return pthread_mutex_lock(m);
	case TRYLOCK: return pthread_mutex_trylock(m);
	case TIMEDLOCK: return pthread_mutex_timedlock(m, &past);
	case CLOCKLOCK: return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past);
	case CLOCK_BAD: return pthread_mutex_clocklock(m, BAD_CLOCK, &past);
	case TIMED_INVALID: return pthread_mutex_timedlock(m, &invalid);
	case UNLOCK: return pthread_mutex_unlock(m);
	case DESTROY: return pthread_mutex_destroy(m);
	default: return -1;
	}
}

static int rwlock_op(union lock *l, enum op op)
{
	pthread_rwlock_t *rw = &l->rwlock;

	switch (op) {
	case LOCK: return pthread_rwlock_rdlock(rw);
	case TRYLOCK: return pthread_rwlock_tryrdlock(rw);
	case TIMEDLOCK: return pthread_rwlock_timedrdlock(rw, &past);
	case CLOCKLOCK: return pthread_rwlock_clockrdlock(rw, CLOCK_MONOTONIC, &past);
	case CLOCK_BAD: return pthread_rwlock_clockrdlock(rw, BAD_CLOCK, &past);
	case TIMED_INVALID: return pthread_rwlock_timedrdlock(rw, &invalid);
	case WRLOCK: return pthread_rwlock_wrlock(rw);
	case TRYWRLOCK: return pthread_rwlock_trywrlock(rw);
	case TIMEDWRLOCK: return pthread_rwlock_timedwrlock(rw, &past);
	case CLOCKWRLOCK: return pthread_rwlock_clockwrlock(rw, CLOCK_MONOTONIC, &past);
	case CLOCKWR_BAD: return pthread_rwlock_clockwrlock(rw, BAD_CLOCK, &past);
	case TIMEDWR_INVALID: return pthread_rwlock_timedwrlock(rw, &invalid);
	case UNLOCK: return pthread_rwlock_unlock(rw);
	default: return pthread_rwlock_destroy(rw);
	}
}

static int spin_op(union lock *l, enum op op)
{
	switch (op) {
	case LOCK: return pthread_spin_lock(&l->spin);
	case TRYLOCK: return pthread_spin_trylock(&l->spin);
	case UNLOCK: return pthread_spin_unlock(&l->spin);
	case DESTROY: return pthread_spin_destroy(&l->spin);
	default: return -1;
	}
}

static int mtx_op(union lock *l, enum op op)
{
	switch (op) {
	case LOCK: return mtx_lock(&l->mtx);
	case TRYLOCK: return mtx_trylock(&l->mtx);
	case TIMEDLOCK: return mtx_timedlock(&l->mtx, &past);
	case UNLOCK: return mtx_unlock(&l->mtx);
	default: return -1;
	}
}

static void mutex_init(union lock *l, int type, int protocol, bool robust, bool shared)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	if (type >= 0)
		pthread_mutexattr_settype(&a, type);
	pthread_mutexattr_setprotocol(&a, protocol);
	pthread_mutexattr_setrobust(&a, robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_setpshared(&a, shared ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&l->mutex, &a);
}

static void init_static(union lock *l) { memset(l, 0, sizeof(*l)); }
static void init_default(union lock *l) { pthread_mutex_init(&l->mutex, NULL); }
static void init_normal(union lock *l) { mutex_init(l, PTHREAD_MUTEX_NORMAL, 0, false, false); }
static void init_recursive(union lock *l) { mutex_init(l, PTHREAD_MUTEX_RECURSIVE, 0, false, false); }
static void init_errorcheck(union lock *l) { mutex_init(l, PTHREAD_MUTEX_ERRORCHECK, 0, false, false); }
static void init_adaptive(union lock *l) { mutex_init(l, PTHREAD_MUTEX_ADAPTIVE_NP, 0, false, false); }
static void init_robust(union lock *l) { mutex_init(l, -1, 0, true, false); }
static void init_robust_rec(union lock *l) { mutex_init(l, PTHREAD_MUTEX_RECURSIVE, 0, true, false); }
static void init_inherit(union lock *l) { mutex_init(l, -1, PTHREAD_PRIO_INHERIT, false, false); }
static void init_protect(union lock *l) { mutex_init(l, -1, PTHREAD_PRIO_PROTECT, false, false); }
static void init_shared(union lock *l) { mutex_init(l, -1, 0, false, true); }
static void init_rwlock(union lock *l) { pthread_rwlock_init(&l->rwlock, NULL); }
static void init_spin(union lock *l) { pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE); }
static void init_spin_shared(union lock *l) { pthread_spin_init(&l->spin, PTHREAD_PROCESS_SHARED); }
static void init_mtx(union lock *l) { mtx_init(&l->mtx, mtx_timed); }
static void init_mtx_rec(union lock *l) { mtx_init(&l->mtx, mtx_timed | mtx_recursive); }

static void init_rwlock_writer(union lock *l)
{
	pthread_rwlockattr_t a;

	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&l->rwlock, &a);
}

static void init_rwlock_shared(union lock *l)
{
	pthread_rwlockattr_t a;

	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&l->rwlock, &a);
}

static const struct kind {
	const char *name;
	void (*init)(union lock *l);
	int (*op)(union lock *l, enum op op);
} kinds[] = {
	{"static", init_static, mutex_op}, {"default", init_default, mutex_op},
	{"normal", init_normal, mutex_op}, {"recursive", init_recursive, mutex_op},
	{"errorcheck", init_errorcheck, mutex_op}, {"adaptive", init_adaptive, mutex_op},
	{"robust", init_robust, mutex_op}, {"robust-recursive", init_robust_rec, mutex_op},
	{"inherit", init_inherit, mutex_op}, {"protect", init_protect, mutex_op},
	{"shared", init_shared, mutex_op},
	{"rwlock", init_rwlock, rwlock_op}, {"rwlock-writer", init_rwlock_writer, rwlock_op},
	{"rwlock-shared", init_rwlock_shared, rwlock_op},
	{"spin", init_spin, spin_op}, {"spin-shared", init_spin_shared, spin_op},
	{"mtx", init_mtx, mtx_op}, {"mtx-recursive", init_mtx_rec, mtx_op},
};

/* The state in which the operation under test finds the lock. */
enum before {
	FREE,       /* nobody holds it */
	OWN,        /* this thread holds it */
	OWN_WRITE,  /* as a writer */
	OWN_TWICE,  /* if it can be had twice */
	FOREIGN,    /* another thread holds it */
	IN_SECTION, /* free, inside a section of another lock */
	OWN_IN_SECTION, /* locked, and locked again inside a section of another lock */
	OWN_OUTSIDE, /* locked before the section of another lock began */
	NR_BEFORE
};

static const char *const before_names[NR_BEFORE] = {
	"free", "own", "own-write", "own-twice", "foreign", "in-section", "own-in-section", "own-outside",
};

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold_it(void *arg)
{
	const struct kind *kind = ((void **)arg)[0];
	union lock *l = ((void **)arg)[1];

	kind->op(l, LOCK);
	pthread_barrier_wait(&barrier);
	pause();
	return NULL;
}

/* A forked child has no code mapped yet, and shares its stack: each page fault aborts. */
static int touch_code(struct dl_phdr_info *info, size_t size, void *data)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const volatile char *from = (char *)info->dlpi_addr + p->p_vaddr;

		for (size_t at = 0; p->p_type == PT_LOAD && at < p->p_memsz; at += 4096)
			(void)from[at];
	}
	return 0;
}

static __attribute__((noinline)) void touch_stack(void)
{
	volatile char room[32768];

	for (size_t at = 0; at < sizeof(room); at += 1024)
		room[at] = 1;
}

/* One cell, in a child of its own: it may deadlock. The answers go to @out. */
static void cell(const struct kind *kind, enum before before, enum op op, int out)
{
	union lock *l = calloc(1, sizeof(*l));
	enum op take = before == OWN_WRITE ? WRLOCK : LOCK;
	void *arg[] = {(void *)kind, l};
	int answers[6] = {0}, n = 0;
	pthread_t thread;
	bool inside = before == IN_SECTION || before == OWN_IN_SECTION || before == OWN_OUTSIDE;

	dl_iterate_phdr(touch_code, NULL);
	touch_stack();
	kind->init(l);
	/* Known to the library, and the other lock too. */
	for (int i = 0; i < 3; i++) {
		if (kind->op(l, take) == 0)
			kind->op(l, UNLOCK);
		if (!inside)
			continue;
		pthread_mutex_lock(&outer);
		pthread_mutex_unlock(&outer);
	}
	if (before == FOREIGN) {
		pthread_barrier_init(&barrier, NULL, 2);
		pthread_create(&thread, NULL, hold_it, arg);
		pthread_barrier_wait(&barrier);
	}
	errno = 77;
	if (before == OWN_OUTSIDE)
		kind->op(l, take);
	if (inside)
		pthread_mutex_lock(&outer);
	if (before == OWN || before == OWN_WRITE || before == OWN_TWICE || before == OWN_IN_SECTION)
		answers[n++] = kind->op(l, take);
	if (before == OWN_TWICE)
		answers[n++] = kind->op(l, TRYLOCK);
	answers[n++] = kind->op(l, op);
	/* Leave the section, or the look at the answers would abort it. */
	if (op < UNLOCK && !answers[n - 1] &&
	    (before == FREE || before == FOREIGN || before == IN_SECTION || before == OWN_OUTSIDE))
		answers[n++] = kind->op(l, UNLOCK);
	/* How often can it be released, and can it be had again? */
	if (op != DESTROY && before != FREE && before != FOREIGN && before != IN_SECTION &&
	    before != OWN_OUTSIDE)
		answers[n++] = kind->op(l, UNLOCK);
	if (inside)
		pthread_mutex_unlock(&outer);
	if (before != FREE || op != UNLOCK)
		answers[n++] = errno != 77;
	if (write(out, answers, sizeof(answers)) < 0)
		_exit(2);
	_exit(n);
}

/* Undefined, and glibc's answer depends on what happens to lie in the lock. */
static bool undefined(const struct kind *kind, enum before before, enum op op)
{
	bool mutex = kind->op == mutex_op;

	if (kind->op != rwlock_op && ((op >= WRLOCK && op < UNLOCK) || before == OWN_WRITE))
		return true; /* no such operation */
	if (kind->op == spin_op && op != LOCK && op != TRYLOCK && op < UNLOCK)
		return true;
	if (kind->op == mtx_op && (op == CLOCKLOCK || op == CLOCK_BAD || op == TIMED_INVALID ||
				   op == DESTROY))
		return true;
	/* A destroyed or free lock that is released leaves odd values behind. */
	if (op == UNLOCK && (before == FREE || before == IN_SECTION) && kind->op == rwlock_op)
		return true;
	if (before == OWN_TWICE && op == DESTROY && !mutex)
		return true;
	return false;
}

/*
 * A deadlock takes as long as we have patience, everything else a few
 * milliseconds, or more under an emulator or on a busy machine. So there the cells
 * that are known to deadlock (BEHAVE_DEADLOCKS, a file with what was printed of
 * them before) are tried apart, many at a time, and the others get all the time
 * they want. Where nothing is known yet, what takes long is said to deadlock: all
 * are tried many at a time, and get a thousand times what they need. A thread that
 * spins has deadlocked sooner: after forty times the processor time that a cell needs.
 */
#define PATIENCE_MS  300
#define PATIENCE_UNKNOWN_MS 2500
#define PATIENCE_SAFE_MS 30000
#define SPIN_MS          100
#define BATCH_DEADLOCKS 48
#define BATCH           8

/* The cells to try, and then what became of them. */
static struct cell {
	const struct kind *kind;
	enum before before;
	enum op op;
	char name[64];
	bool deadlocks;
	pid_t pid;
	int out;
	int status;
	int answers[6];
} cells[sizeof(kinds) / sizeof(*kinds) * NR_BEFORE * NR_OPS];
static unsigned int nr_cells;
static char *known_deadlocks;

static void read_known(void)
{
	const char *name = getenv("BEHAVE_DEADLOCKS");
	FILE *f = name ? fopen(name, "r") : NULL;
	size_t size = 0;

	if (f && getdelim(&known_deadlocks, &size, '\0', f) < 0)
		known_deadlocks = strdup("");
	if (f)
		fclose(f);
}

static void add_cell(const struct kind *kind, enum before before, enum op op)
{
	struct cell *c = &cells[nr_cells];
	char line[80];

	if (undefined(kind, before, op))
		return;
	nr_cells++;
	*c = (struct cell){.kind = kind, .before = before, .op = op};
	snprintf(c->name, sizeof(c->name), "%s %s %s:", kind->name, before_names[before],
		 op_names[op]);
	snprintf(line, sizeof(line), "%s deadlock", c->name);
	c->deadlocks = known_deadlocks && strstr(known_deadlocks, line);
}

static void start_cell(struct cell *c)
{
	unsigned int ms = !known_deadlocks ? PATIENCE_UNKNOWN_MS :
			  c->deadlocks ? PATIENCE_MS : PATIENCE_SAFE_MS;
	struct itimerval patience = {.it_value = {ms / 1000, ms % 1000 * 1000}};
	struct itimerval spin = {.it_value = {0, SPIN_MS * 1000}};
	int ends[2];

	c->pid = pipe(ends) ? -1 : fork();
	if (!c->pid) {
		setitimer(ITIMER_REAL, &patience, NULL);
		if (!known_deadlocks || c->deadlocks)
			setitimer(ITIMER_PROF, &spin, NULL);
		cell(c->kind, c->before, c->op, ends[1]);
	}
	if (c->pid < 0)
		exit(2);
	close(ends[1]);
	c->out = ends[0];
}

static void end_cell(struct cell *c)
{
	if (waitpid(c->pid, &c->status, 0) != c->pid)
		exit(2);
	if (read(c->out, c->answers, sizeof(c->answers)) != sizeof(c->answers) &&
	    !WIFSIGNALED(c->status))
		exit(2);
	close(c->out);
}

/*
 * Acquires a lock of each kind. The emulator translates code when it is first run, and children
 * inherit that: without this each cell spends most of its time on the same translations. What this
 * process does is not what the cells are counted by, and so its data file goes.
 */
static void warm_up(void)
{
	const char *output = getenv("ELIDE_OUTPUT");
	char live[4096];
	union lock *l;

	touch_stack();
	for (unsigned int i = 0; i < nr_cells; i++) {
		if (i && cells[i].kind == cells[i - 1].kind)
			continue;
		l = calloc(1, sizeof(*l));
		cells[i].kind->init(l);
		for (int j = 0; j < 3; j++)
			if (cells[i].kind->op(l, LOCK) == 0)
				cells[i].kind->op(l, UNLOCK);
	}
	if (output && elide_live_name(live, sizeof(live), output))
		unlink(live);
}

/* Those that deadlock, or those that do not, @size side by side. */
static void try_cells(bool deadlocks, unsigned int size)
{
	struct cell *batch[BATCH_DEADLOCKS];
	unsigned int nr = 0;

	for (unsigned int i = 0; i <= nr_cells; i++) {
		if (i < nr_cells && cells[i].deadlocks == deadlocks) {
			start_cell(&cells[i]);
			batch[nr++] = &cells[i];
		}
		if (nr == size || i == nr_cells)
			while (nr)
				end_cell(batch[--nr]);
	}
}

static void print_cells(void)
{
	for (struct cell *c = cells; c < cells + nr_cells; c++) {
		int signal = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;

		printf("%s", c->name);
		if (signal == SIGALRM || signal == SIGPROF)
			printf(" deadlock");
		else if (signal)
			printf(" signal %d", signal);
		else
			for (int i = 0; i < WEXITSTATUS(c->status); i++)
				printf(" %d", c->answers[i]);
		printf("\n");
	}
}

static jmp_buf away;

static __attribute__((noinline)) void leave_by_jump(union lock *l)
{
	pthread_mutex_lock(&l->mutex);
	longjmp(away, 1);
}

static const char *only; /* the one sequence that is printed */

static __attribute__((format(printf, 2, 3))) void say(const char *name, const char *format, ...)
{
	va_list args;

	if (only && strcmp(only, name))
		return;
	va_start(args, format);
	printf("%s:", name);
	vprintf(format, args);
	va_end(args);
}

/* Not a table: sequences of several calls. */
static void sequences(void)
{
	static union lock a, b;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	unsigned int depth;

	init_static(&a);
	init_static(&b);
	for (volatile int i = 0; i < 4; i++) {
		int r[8] = {0};

		/* Not in order. */
		r[0] = mutex_op(&a, LOCK);
		r[1] = mutex_op(&b, LOCK);
		r[2] = mutex_op(&a, UNLOCK);
		r[3] = mutex_op(&a, TRYLOCK);
		r[4] = mutex_op(&b, UNLOCK);
		r[5] = mutex_op(&a, UNLOCK);
		say("crosswise", " %d %d %d %d %d %d\n", r[0], r[1], r[2], r[3], r[4], r[5]);

		/* Wait with the inner mutex of two, and with the outer one. */
		mutex_op(&a, LOCK);
		mutex_op(&b, LOCK);
		r[0] = pthread_cond_timedwait(&c, i & 1 ? &a.mutex : &b.mutex, &past);
		r[1] = mutex_op(&a, TRYLOCK);
		r[2] = mutex_op(&b, TRYLOCK);
		r[3] = mutex_op(&b, UNLOCK);
		r[4] = mutex_op(&a, UNLOCK);
		say("wait-in-a-section", " %d %d %d %d %d\n", r[0], r[1], r[2], r[3], r[4]);

		if (!setjmp(away))
			leave_by_jump(&a);
		r[0] = mutex_op(&a, TRYLOCK);
		r[1] = mutex_op(&a, UNLOCK);
		r[2] = mutex_op(&a, TRYLOCK);
		mutex_op(&a, UNLOCK);
		say("jump-out", " %d %d %d\n", r[0], r[1], r[2]);

		/* Released once more than locked, by a program that does not look at the answer. */
		mutex_op(&a, LOCK);
		r[0] = mutex_op(&a, UNLOCK);
		r[1] = mutex_op(&a, UNLOCK);
		a.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
		r[2] = mutex_op(&a, LOCK);
		r[3] = mutex_op(&a, UNLOCK);
		say("unlock-twice", " %d %d %d %d\n", r[0], r[1], r[2], r[3]);
	}
	init_recursive(&a);
	for (int i = 0; i < 3; i++) {
		for (depth = 0; depth < 5; depth++)
			if (mutex_op(&a, depth & 1 ? TRYLOCK : LOCK))
				break;
		while (!mutex_op(&a, UNLOCK))
			depth--;
		say("recursive", " %u\n", depth);
	}
}

/* Is @name in a list of names and commas, or is there no list? */
static bool chosen(const char *list, const char *name)
{
	size_t len = strlen(name);

	if (!list || !strcmp(list, "all"))
		return true;
	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* behave sequences [NAME], or behave [KINDS [STATES [OPERATIONS]]] */
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "sequences")) {
		only = argc > 2 ? argv[2] : NULL;
		sequences();
		return 0;
	}
	read_known();
	for (unsigned int k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (int before = 0; before < NR_BEFORE; before++)
			for (int op = 0; op < NR_OPS; op++)
				if (chosen(argc > 1 ? argv[1] : NULL, kinds[k].name) &&
				    chosen(argc > 2 ? argv[2] : NULL, before_names[before]) &&
				    chosen(argc > 3 ? argv[3] : NULL, op_names[op]))
					add_cell(&kinds[k], before, op);
	warm_up();
	try_cells(false, known_deadlocks ? BATCH : BATCH_DEADLOCKS);
	try_cells(true, BATCH_DEADLOCKS);
	print_cells();
	return 0;
}
