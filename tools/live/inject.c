// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inject.c - see inject.h.
 *
 * The code (inject-code.h) is put into the unused end of the last page of a segment of code: libc's, if that
 * has room, so that dlopen(3) takes libc for its caller. It is written while no thread runs it, always the
 * same bytes, and stays. Its parameters are put below the stack of the chosen thread, where nothing is of
 * use. So the only change of the thread is that of its registers, by one request: before it the thread is as
 * it was, after it the thread needs nobody.
 *
 * A system call that the stop has interrupted begins anew when the thread is back, as after SIGSTOP:
 * the registers are set as the kernel sets them to restart it. A few fail with EINTR after each stop
 * (signal(7)), epoll_wait(2) among them: threads in other calls come first.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "inject-code.h"
#include "inject.h"
#include "seize.h"
#include "symbols.h"
#include "unwind.h"

#define PAGE 4096

/* Innermost frames that are searched for functions in which a thread must not be interrupted. Chosen. */
#define FRAMES 256

/* Nanoseconds: the longest search for a thread that can make the call, and the longest call. Chosen. */
#define LOOK_NS 3000000000ull
#define CALL_NS 30000000000ull

/* Pause between two looks at all threads, or at the answer, ns. */
#define LOOK_PAUSE 2000000
#define CALL_PAUSE 100000

/* Bytes of stack that the call may take: dlopen(3) and the start of the library take 20 KiB. */
#define STACK_LEAST (64 << 10)

/* Answers of the kernel to a system call that is to be restarted (its include/linux/errno.h). */
enum { RESTARTSYS = -512, RESTARTNOINTR = -513, RESTARTNOHAND = -514, RESTART_BLOCK = -516 };

/* The segment selector of 64-bit code. */
#define CODE_64 0x33

/* Functions of libc in which a thread may hold a lock that loading a library needs, or ends the process. */
static const char *const unfit[] = {
	"malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "aligned_alloc",
	"posix_memalign", "valloc", "pvalloc", "malloc_trim", "mallinfo", "mallinfo2", "malloc_info",
	"malloc_stats", "mallopt", "dl_iterate_phdr", "dlopen", "dlclose", "dlsym", "dlvsym", "dladdr",
	"dladdr1", "dlinfo", "dlmopen", "dlerror", "fork", "_Fork", "__libc_fork", "vfork", "exit", "_exit",
	"quick_exit", "execve", "posix_spawn", "posix_spawnp", "system", "popen", "__cxa_finalize",
	"__libc_freeres", "pthread_exit", "_dl_find_object",
};

/* System calls in which a thread holds no lock of an allocator, and that are restarted exactly. */
static const int waits_well[] = {
	SYS_read, SYS_readv, SYS_accept, SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_wait4, SYS_waitid,
	SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_flock,
};

/* ... that fail with EINTR after a stop, or mostly do. */
static const int waits_badly[] = {
	SYS_epoll_wait, SYS_epoll_pwait, SYS_rt_sigtimedwait, SYS_semop, SYS_semtimedop, SYS_msgrcv,
	SYS_msgsnd, SYS_io_getevents, SYS_pause, SYS_rt_sigsuspend,
};

/* How fit threads seem to be, the best first. */
enum { FIT_WELL, FIT_FUTEX, FIT_BADLY, FIT_RUNS, FIT_NOT };

/* What the child reports, in shared memory. */
struct report {
	int err;
	int tid;
	uint64_t stop_ns;
	uint64_t error_at;
	char why[INJECT_WHY];
};

static bool is_one_of(int nr, const int *list, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (list[i] == nr)
			return true;
	return false;
}

/* In what is a thread, as far as /proc tells? */
static int fitness(long pid, int tid)
{
	char path[64], text[256] = "", state;
	int nr = -1, rank = FIT_NOT;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/task/%d/syscall", pid, tid);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f)) {
		if (!strncmp(text, "running", 7))
			rank = FIT_RUNS;
		else if (sscanf(text, "%d", &nr) == 1)
			rank = nr == SYS_futex ? FIT_FUTEX :
			       is_one_of(nr, waits_well, ARRAY_SIZE(waits_well)) ? FIT_WELL :
			       is_one_of(nr, waits_badly, ARRAY_SIZE(waits_badly)) ? FIT_BADLY : FIT_RUNS;
	}
	if (f)
		fclose(f);
	state = seize_state(pid, tid);
	return state == 'D' || state == 'Z' || state == 'X' || state == 't' ? FIT_NOT : rank;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_loader(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) || !strcmp(name, "ld.so");
}

/* Zeroes, or the code itself, at @address. */
static bool has_room(struct injector *i, uint64_t address, size_t size, bool *is_code)
{
	unsigned char bytes[PAGE];
	static const unsigned char zeroes[PAGE];

	*is_code = false;
	if (size > sizeof(bytes) || !memory_read(i->memory, address, bytes, size))
		return false;
	*is_code = size == (size_t)(inject_code_end - inject_code) && !memcmp(bytes, inject_code, size);
	return *is_code || !memcmp(bytes, zeroes, size);
}

/* Find room for code and answer behind the segments of an object. */
static void find_room(struct injector *i, const struct symbols *s, size_t module)
{
	const size_t code = (size_t)(inject_code_end - inject_code), answer = sizeof(struct inject_answer);

	for (size_t n = 0; n < s->nr_segments; n++) {
		const Elf64_Phdr *p = &s->segments[n];
		uint64_t end = s->bias + p->p_vaddr + p->p_memsz, page = (end + PAGE - 1) / PAGE * PAGE;
		bool is_code;

		if (p->p_type != PT_LOAD)
			continue;
		end = (end + 15) / 16 * 16;
		if (p->p_flags & PF_X) {
			if (!i->code && end + code <= page && has_room(i, end, code, &is_code)) {
				i->code = end;
				i->code_is_there = is_code;
			}
		} else if (p->p_flags & PF_W) {
			/* The loader uses the end of its own data, and the heap may begin behind the program. */
			if (!i->answer && module && module != i->loader && end + answer <= page)
				i->answer = page - answer;
		}
	}
}

static int refuse(char *why, int err, const char *text)
{
	snprintf(why, INJECT_WHY, "%s", text);
	return err;
}

/* Why there is no libc of GNU: @i has the objects. */
static int refuse_without_libc(const struct injector *i, char *why)
{
	for (size_t n = 0; n < i->objects.nr; n++)
		if (!strncmp(base_of(i->objects.modules[n].path), "ld-musl", 7) ||
		    !strncmp(base_of(i->objects.modules[n].path), "libc.musl", 9))
			return refuse(why, -ENOTSUP, "uses musl, and elide knows the locks of glibc only");
	if (i->loader == i->objects.nr)
		return refuse(why, -ENOTSUP, "is statically linked: there is no function to be wrapped");
	return refuse(why, -ENOTSUP, "has not loaded libc.so.6: it has none of the locks that elide knows");
}

static int find_objects(struct injector *i, char *why)
{
	i->libc = i->loader = i->objects.nr;
	for (size_t n = 0; n < i->objects.nr; n++) {
		const char *path = i->objects.modules[n].path, *name = base_of(path);

		if (!strcmp(name, "libc.so.6"))
			i->libc = n;
		else if (is_loader(name))
			i->loader = n;
		else if (strstr(path, "/valgrind/") || !strncmp(name, "rtmgrind", 8))
			return refuse(why, -ENOTSUP, "runs under Valgrind, or on an emulated machine, whose threads and addresses are not "
						     "those of the program");
	}
	return i->libc < i->objects.nr && i->loader < i->objects.nr ? 0 : refuse_without_libc(i, why);
}

static void explain(const struct injector *i, struct report *r, char *why)
{
	struct process now;
	struct denial denial;

	process_read(&now, i->pid);
	if (r->err == -EPERM || r->err == -EACCES) {
		if (process_refuses(&now, why))
			return;
		denial_read(&denial, &now);
		denial_says(&denial, why);
	} else if (r->err == -EAGAIN) {
		if (!strncmp(r->why, "is loading", 10))
			snprintf(why, INJECT_WHY, "%s", r->why);
		else
			snprintf(why, INJECT_WHY, "has no thread that may load a library now: the last one that was "
				 "looked at %.300s; try later", *r->why ? r->why : "could not be stopped");
	} else if (r->err == -ESRCH) {
		snprintf(why, INJECT_WHY, "has ended meanwhile");
	} else if (r->err == -ETIMEDOUT) {
		snprintf(why, INJECT_WHY, "has not answered for %llu s: thread %d waits in the loader or in malloc(), "
			 "and goes on by itself", CALL_NS / 1000000000, r->tid);
	} else if (r->err == -ENOTSUP && *r->why) {
		snprintf(why, INJECT_WHY, "%s", r->why);
	} else {
		snprintf(why, INJECT_WHY, "cannot be made to load the library: %s", strerror(-r->err));
	}
}

int inject_open(struct injector *i, long pid, char *why)
{
	int err;

	*i = (struct injector){.pid = pid};
	i->memory = memory_new(pid);
	if (!i->memory)
		return refuse(why, -ENOMEM, "cannot be looked at: no memory");
	err = objects_read(&i->objects, pid, i->memory);
	if (!err && !i->objects.nr)
		err = -EPERM;
	if (err) {
		explain(i, &(struct report){.err = err == -ENOENT ? -ESRCH : err}, why);
		return err;
	}
	err = find_objects(i, why);
	if (err)
		return err;
	i->symbols = calloc(i->objects.nr, sizeof(*i->symbols));
	if (!i->symbols)
		return refuse(why, -ENOMEM, "cannot be looked at: no memory");
	for (size_t n = 0; n < i->objects.nr; n++) {
		struct symbols *s = &i->symbols[n];

		if (!symbols_read(s, i->memory, &i->objects.modules[n]) && n == i->libc)
			find_room(i, s, n);
	}
	for (size_t n = 0; n < i->objects.nr; n++)
		if (n != i->libc && i->objects.modules[n].path[0] == '/')
			find_room(i, &i->symbols[n], n);
	if (!symbols_find(&i->symbols[i->libc], "dlopen", NULL) ||
	    !symbols_find(&i->symbols[i->libc], "dlsym", NULL) ||
	    !symbols_find(&i->symbols[i->libc], "dlerror", NULL))
		return refuse(why, -ENOTSUP, "uses a glibc older than 2.34, whose libc.so.6 has no dlopen()");
	if (!i->code || !i->answer)
		return refuse(why, -ENOTSUP, "has no room for 300 bytes of code in its objects");
	i->own_malloc = symbols_find(&i->symbols[0], "malloc", NULL) != 0;
	return 0;
}

void inject_close(struct injector *i)
{
	for (size_t n = 0; i->symbols && n < i->objects.nr; n++)
		symbols_free(&i->symbols[n]);
	free(i->symbols);
	free(i->objects.modules);
	objects_free(&i->objects);
	memory_free(i->memory);
	*i = (struct injector){0};
}

/* The function of libc that a frame is in, "" if it is in none. */
static const char *libc_function(const struct injector *i, uint64_t address)
{
	const char *name = NULL;

	if (objects_find(&i->objects, address) == i->libc)
		name = symbols_at(&i->symbols[i->libc], address);
	return name ? name : "";
}

/* Is the code at @address what a signal handler returns to: mov $15, %rax; syscall? */
static bool returns_from_signal(struct injector *i, uint64_t address)
{
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	unsigned char bytes[sizeof(code)];

	return memory_read(i->memory, address, bytes, sizeof(bytes)) && !memcmp(bytes, code, sizeof(code));
}

/* Why a thread with this frame may not load a library; NULL: it may. */
static const char *frame_unfit(struct injector *i, uint64_t address, bool first)
{
	/* A return address may be that of the next function. */
	uint64_t within = address - !first;
	size_t object = objects_find(&i->objects, within);
	const char *function;

	if (returns_from_signal(i, address) || (!first && returns_from_signal(i, address - 1)))
		return "is in a signal handler";
	if (object == i->objects.nr)
		return first ? "runs code that is in no object" : NULL;
	if (object == i->loader)
		return "is in the loader";
	if (object && object != i->libc && symbols_find(&i->symbols[object], "malloc", NULL))
		return "is in an allocator";
	function = libc_function(i, within);
	for (size_t n = 0; n < ARRAY_SIZE(unfit); n++)
		if (!strcmp(function, unfit[n]))
			return "is in malloc() or the like";
	return NULL;
}

static bool waits_in_pthread(struct injector *i, const uint64_t *frames, size_t nr)
{
	for (size_t n = 1; n < nr; n++) {
		const char *name = libc_function(i, frames[n] - 1);

		if (!strncmp(name, "pthread_cond_", 13) || !strncmp(name, "sem_", 4) ||
		    !strncmp(name, "pthread_join", 12))
			return true;
	}
	return false;
}

/* Why a stopped thread may not make the call; NULL: it may. */
static const char *thread_unfit(struct injector *i, struct unwinder *u, const struct seize_thread *t)
{
	uint64_t frames[FRAMES], end;
	size_t nr;
	const char *why;

	if (t->regs.cs != CODE_64)
		return "runs 32-bit code";
	if (t->group_stop)
		return "is stopped: kill -CONT";
	end = mapping_start(&i->objects.maps, t->regs.rsp);
	if (!end || t->regs.rsp - end < STACK_LEAST)
		return "has a stack without room";
	nr = unwind(u, t, frames, FRAMES);
	for (size_t n = 0; n < nr; n++) {
		why = frame_unfit(i, frames[n], !n);
		if (why)
			return why;
	}
	/* The allocator of the program cannot be told from the rest of it. */
	if (i->own_malloc && !is_one_of((int)t->regs.orig_rax, waits_well, ARRAY_SIZE(waits_well)) &&
	    !is_one_of((int)t->regs.orig_rax, waits_badly, ARRAY_SIZE(waits_badly)) &&
	    !waits_in_pthread(i, frames, nr))
		return "may be in the program's own malloc()";
	return NULL;
}

/*
 * The id of a thread that holds a lock of the loader; 0: none. They are recursive mutexes, one after the
 * other, in a variable that the loader exports; without them nothing is known.
 */
static int loader_holder(struct injector *i)
{
	/* Words of pthread_mutex_t: lock, count, owner, users, kind, and 20 bytes of 0. */
	struct mutex {
		int32_t lock;
		uint32_t count;
		int32_t owner;
		uint32_t users;
		int32_t kind;
		int32_t rest[5];
	};
	uint64_t size = 0, at = symbols_find(&i->symbols[i->loader], "_rtld_global", &size);
	unsigned char *bytes;
	struct iovec local, remote;
	int owner = 0;

	if (!at || size > 1 << 20 || !(bytes = malloc(size)))
		return 0;
	local = (struct iovec){bytes, size};
	remote = (struct iovec){(void *)(uintptr_t)at, size};
	if (process_vm_readv(i->pid, &local, 1, &remote, 1, 0) == (ssize_t)size) {
		for (size_t n = 0; !owner && n + 2 * sizeof(struct mutex) <= size; n += 8) {
			struct mutex m[2];

			memcpy(m, bytes + n, sizeof(m));
			if (m[0].kind == 1 && m[1].kind == 1 && !m[0].rest[1] && !m[0].rest[2] && !m[1].rest[1] &&
			    !m[1].rest[2] && (unsigned int)m[0].lock <= 2 && (unsigned int)m[1].lock <= 2)
				owner = m[0].owner ? m[0].owner : m[1].owner;
		}
	}
	free(bytes);
	return owner;
}

static uint64_t state_size(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(13, 0, &a, &b, &c, &d))
		return 0;
	return b;
}

/* Append a text to the parameters. Return: its address in the process, 0: no room. */
static uint64_t add_text(struct inject_parameters *p, size_t *used, uint64_t at, const char *text, size_t size)
{
	uint64_t address = at + offsetof(struct inject_parameters, text) + *used;

	if (size > sizeof(p->text) - *used)
		return 0;
	memcpy(p->text + *used, text, size);
	*used += size;
	return address;
}

/* Fill the parameters for a stack at @at. Return: 0 or -E2BIG. */
static int fill_parameters(const struct injector *i, const struct inject_call *call, uint64_t at,
			   uint64_t serial, struct inject_parameters *p)
{
	const struct symbols *libc = &i->symbols[i->libc];
	size_t used = 0;

	*p = (struct inject_parameters){
		.errno_location = symbols_find(libc, "__errno_location", NULL),
		.dlopen = symbols_find(libc, "dlopen", NULL),
		.dlsym = symbols_find(libc, "dlsym", NULL),
		.dlerror = symbols_find(libc, "dlerror", NULL),
		.entry = call->entry,
		.command = call->command,
		.answer = i->answer,
		.state_size = state_size(),
		.serial = serial,
	};
	p->settings = add_text(p, &used, at, call->settings, call->settings_size);
	p->path = add_text(p, &used, at, call->path, strlen(call->path) + 1);
	p->name = add_text(p, &used, at, call->name, strlen(call->name) + 1);
	if (!p->state_size)
		return -ENOTSUP;
	return p->settings && p->path && p->name ? 0 : -E2BIG;
}

/* Write memory of the process, also such that it may not write itself. Return: 0 or -errno. */
static int write_memory(long pid, uint64_t address, const void *from, size_t size)
{
	char path[32];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%ld/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pwrite(fd, from, size, (off_t)address);
	err = n < 0 ? -errno : n == (ssize_t)size ? 0 : -EFAULT;
	close(fd);
	return err;
}

/* Registers with which the interrupted system call begins anew when the thread is back. */
static void set_restart(struct user_regs_struct *r)
{
	if ((long)r->orig_rax < 0)
		return;
	switch ((long)r->rax) {
	case RESTARTSYS:
	case RESTARTNOINTR:
	case RESTARTNOHAND:
		r->rax = r->orig_rax;
		r->rip -= 2;
		break;
	case RESTART_BLOCK:
		/* The kernel has kept how much time is left; no signal handler runs until then. */
		r->rax = SYS_restart_syscall;
		r->rip -= 2;
	}
}

/* Have the stopped thread make the call. Return: 0 or -errno: then it is as it was. */
static int start_call(const struct injector *i, const struct inject_call *call, const struct seize_thread *t,
		      uint64_t serial)
{
	struct user_regs_struct regs = t->regs;
	struct iovec set = {&regs, sizeof(regs)};
	/* The parameters, and the address where the thread goes on. */
	static struct {
		struct inject_parameters p;
		uint64_t back;
	} frame;
	uint64_t at = regs.rsp - INJECT_RED_ZONE - sizeof(frame);
	int err = fill_parameters(i, call, at, serial, &frame.p);

	if (err)
		return err;
	set_restart(&regs);
	frame.back = regs.rip;
	err = write_memory(i->pid, at, &frame, sizeof(frame));
	if (!err && !i->code_is_there)
		err = write_memory(i->pid, i->code, inject_code, (size_t)(inject_code_end - inject_code));
	if (err)
		return err;
	regs.rsp = at;
	regs.rip = i->code;
	/* No restart by the kernel. */
	regs.orig_rax = -1;
	return ptrace(PTRACE_SETREGSET, t->tid, NT_PRSTATUS, &set) ? -errno : 0;
}

/* Wait for the answer. Return: 0, -ESRCH or -ETIMEDOUT. */
static int await_answer(const struct injector *i, uint64_t serial, int tid, struct report *r)
{
	struct inject_answer answer;
	struct iovec local = {&answer, sizeof(answer)};
	struct iovec remote = {(void *)(uintptr_t)i->answer, sizeof(answer)};
	uint64_t until = now_ns() + CALL_NS;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/task/%d", i->pid, tid);
	while (now_ns() < until) {
		if (process_vm_readv(i->pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(answer))
			return -ESRCH;
		if (answer.serial == serial) {
			r->error_at = answer.error;
			return 0;
		}
		if (access(path, F_OK))
			return -ESRCH;
		nanosleep(&(struct timespec){.tv_nsec = CALL_PAUSE}, NULL);
	}
	return -ETIMEDOUT;
}

/* Try one thread. Return: 0: it has made the call; -EAGAIN: it is not fit, @r->why tells; -errno. */
static int try_thread(struct injector *i, struct unwinder *u, const struct inject_call *call, int tid,
		      uint8_t *stack, struct report *r)
{
	uint64_t begin = now_ns(), serial = begin << 16 ^ (uint64_t)getpid();
	struct seize_thread t;
	const char *unfit_why;
	int err = seize_one(i->pid, tid, &i->objects.maps, stack, &t);

	if (err == -ESRCH || err == -EBUSY)
		return -EAGAIN;
	if (err)
		return err;
	unfit_why = thread_unfit(i, u, &t);
	if (unfit_why)
		err = -EAGAIN;
	else
		err = start_call(i, call, &t, serial);
	seize_let_go(&t);
	if (err) {
		snprintf(r->why, sizeof(r->why), "%s", unfit_why ? unfit_why : strerror(-err));
		/* The stack may end where it is not mapped. */
		return err == -EFAULT || err == -EIO || err == -ESRCH ? -EAGAIN : err;
	}
	err = await_answer(i, serial, tid, r);
	r->stop_ns = now_ns() - begin;
	r->tid = tid;
	return err;
}

/* All threads once, the fittest first. Return: as try_thread(). */
static int try_threads(struct injector *i, struct unwinder *u, const struct inject_call *call, uint8_t *stack,
		       struct report *r)
{
	int *tids, *ranks, err, tried = 0;
	size_t nr;

	err = process_threads(i->pid, &tids, &nr);
	if (err)
		return err;
	ranks = calloc(nr, sizeof(*ranks));
	for (size_t n = 0; ranks && n < nr; n++)
		ranks[n] = fitness(i->pid, tids[n]);
	err = ranks ? -EAGAIN : -ENOMEM;
	for (int rank = FIT_WELL; rank < FIT_NOT && err == -EAGAIN; rank++)
		/* Each try stops a thread for a moment. */
		for (size_t n = 0; n < nr && err == -EAGAIN && tried < 32; n++)
			if (ranks[n] == rank) {
				err = try_thread(i, u, call, tids[n], stack, r);
				tried++;
			}
	free(ranks);
	free(tids);
	return err;
}

/* In the child. */
static void work(struct injector *i, const struct inject_call *call, struct report *r)
{
	const char *unwinds_not;
	struct unwinder *u = unwinder_new(i->memory, &i->objects, &unwinds_not);
	uint8_t *stack = malloc(SEIZE_STACK_MAX);
	uint64_t until = now_ns() + LOOK_NS;
	int busy = 0;

	r->err = -ENOMEM;
	if (!stack)
		return;
	if (!u) {
		snprintf(r->why, sizeof(r->why), "has stacks that cannot be read: %s", unwinds_not);
		r->err = -ENOTSUP;
		return;
	}
	do {
		busy = loader_holder(i);
		r->err = busy ? -EAGAIN : try_threads(i, u, call, stack, r);
		if (r->err == -EAGAIN)
			nanosleep(&(struct timespec){.tv_nsec = LOOK_PAUSE}, NULL);
	} while (r->err == -EAGAIN && now_ns() < until);
	if (r->err == -EAGAIN && busy)
		snprintf(r->why, sizeof(r->why), "is loading an object: thread %d has a lock of the loader, and "
			 "keeps it; try later", busy);
}

/* The text of dlerror() in the process. */
static void read_error(struct injector *i, uint64_t at, char *why)
{
	size_t n = 0;

	memory_forget(i->memory);
	while (n + 1 < INJECT_WHY && memory_read(i->memory, at + n, why + n, 1) && why[n])
		n++;
	why[n] = '\0';
}

int inject_run(struct injector *i, struct inject_call *call, char *why)
{
	struct report *r = seize_bytes(sizeof(*r));
	pid_t child, parent = getpid();
	int err;

	if (!r)
		return refuse(why, -ENOMEM, "cannot be stopped: no memory");
	r->err = -ECANCELED;
	/* The end of the child releases what it has stopped, or was about to stop. */
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			work(i, call, r);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	call->stop_ns = r->stop_ns;
	call->tid = r->tid;
	err = child < 0 ? -EAGAIN : r->err;
	if (err) {
		r->err = err;
		explain(i, r, why);
	} else if (r->error_at) {
		read_error(i, r->error_at, why);
		err = -ENOENT;
	}
	seize_bytes_free(r, sizeof(*r));
	return err;
}
