/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile.c - the writer of elide.data; datafile-name.c names the file.
 *
 * Address space for the largest size of the file is reserved at once, so that nothing ever moves.
 * The file itself grows, and sys_extend() backs each part of it before it is touched, because a store to
 * a hole on a full disk raises SIGBUS in the host. If the disk is full, anonymous memory takes the place
 * of further chunks, and one line on standard error says so.
 *
 * Chunks are backed several at a time, to save system calls. A program may have thousands of child
 * processes, most of them with a few records of a few types: so a file NAME.PID grows by few chunks at
 * first. The file of a child that locks once takes 24 KiB of the disk. The unused rest is given back at
 * the end.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../compiler.h"
#include "datafile-children.h"
#include "datafile-name.h"
#include "datafile-writer.h"
#include "log.h"
#include "reserve.h"
#include "syscalls.h"
#include "testpoint.h"
#include "text.h"

static struct {
	char *map;      /* file_max bytes of address space */
	size_t reserve;
	size_t backed;  /* bytes at @map that may be touched */
	size_t used;    /* bytes at @map with header and chunks: header.size, until @ended */
	bool saved;     /* bytes backed from now on are bytes of the file, not memory */
	bool detached;  /* @map is the parent's, and elide_data_detach() was called */
	bool small;     /* it is a file NAME.PID, which mostly has few records */
	bool ended;     /* the file has its last size: later chunks go to memory, without a message */
	bool created;   /* there is a file, with at least the first bytes */
	bool is_child;  /* it is the file of a forked child */
	unsigned int max_files; /* files NAME.PID that may be there; 0: any number */
	const char *pattern; /* value of ELIDE_OUTPUT */
	int idle;       /* descriptor of the file of a process that ends without a lock call; -1 */
} file = {.idle = -1};

/* The whole file of such a process, which is written at once and not mapped. */
static union {
	struct elide_header header;
	char bytes[ELIDE_HEADER_SIZE];
} idle;

/* Bytes by which the file grows. */
#define GROW (64 * ELIDE_CHUNK_SIZE)

/*
 * Bytes by which a small file grows, up to SMALL_END, and which it has at first: a chunk each of objects,
 * classes, threads and rows.
 */
#define GROW_SMALL (4 * ELIDE_CHUNK_SIZE)
#define SMALL_END  (ELIDE_HEADER_SIZE + 32 * ELIDE_CHUNK_SIZE)

struct elide_header *elide_data;

/* See elide_data_leave_out_args(). */
static bool without_args;

/* Descriptor of the file from elide_data_keep(); -1: none. */
static int kept = -1;

/* Its least number: programs that close descriptors one by one begin with low ones. */
#define KEPT_FROM 512

/*
 * Descendants by fork(), in memory that they share; NULL: there is none.
 * @nr, @err: those that could not write a file, and the error of the last
 * @files: files that they wrote
 */
static struct {
	uint32_t nr;
	int32_t err;
	uint32_t files;
} *descendants;

/* Is the descriptor of the file? Return: 0 or an error. */
static int is_ours(int fd)
{
	struct stat st;

	if (sys_fstat(fd, &st))
		return errno;
	return st.st_dev == elide_data_name.dev && st.st_ino == elide_data_name.ino ? 0 : ESTALE;
}

/* Open the file again. Return: a descriptor, to be closed unless it is @kept; -errno. */
static int open_again(void)
{
	int fd = sys_open(elide_data_name.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0), err = errno;

	if (fd >= 0) {
		err = is_ours(fd);
		if (!err)
			return fd;
		sys_close(fd);
	}
	/* After chroot() another file may have the name, and after setuid() it may be out of reach. */
	return kept >= 0 && !is_ours(kept) ? kept : -err;
}

/*
 * Have the disk back bytes @from to @to. Return: 0 or an error. No descriptor of the file stays open
 * between two calls: a host may close descriptors that it does not know, and then open a file of its own
 * with the same number.
 */
static int extend(size_t from, size_t to)
{
	int fd, err;

	if (!sys_size_allowed(to))
		return EFBIG;
	fd = open_again();
	if (fd < 0)
		return -fd;
	err = sys_extend(fd, from, to);
	if (!err)
		sys_fill(fd, from, to);
	if (fd != kept)
		sys_close(fd);
	return err;
}

static void tell_unsaved(int err)
{
	elide_log("cannot extend %s: %s; %s saved", elide_data_name.final, elide_text_error(err),
		  file.backed ? "what follows is not" : "nothing is");
	file.saved = false;
}

/*
 * Back bytes @from to @to, by anonymous memory if the file cannot grow. Nothing in them may be in use.
 */
static int back(size_t from, size_t to)
{
	bool in_file = file.saved && !file.ended;
	/* Under a filter the file cannot grow. */
	int err = in_file ? extend(from, to) : 0;
	void *p;

	if (READ_ONCE(sys_forbidden))
		return -ENOSPC;
	if (err)
		tell_unsaved(err);
	if (!in_file || err) {
		p = sys_mmap(file.map + from, to - from, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
		if (p == MAP_FAILED)
			return -errno;
	}
	file.backed = to;
	return 0;
}

/*
 * Back the first bytes of the open file, or memory in their place. Return: 0 or -errno.
 */
static int back_first(int fd)
{
	const size_t size = ELIDE_HEADER_SIZE + (file.small ? GROW_SMALL : GROW);
	int err = 0;

	if (size > file.reserve)
		return -ENOSPC;
	if (file.saved)
		err = sys_size_allowed(size) ? sys_extend(fd, 0, size) : EFBIG;
	if (err)
		tell_unsaved(err);
	if (!file.saved)
		return back(0, size);
	file.backed = size;
	return 0;
}

static void fill_host(struct elide_header *h)
{
	struct utsname name;

	_Static_assert(sizeof(h->host) == sizeof(name.nodename), "a whole name");
	if (!sys_call(uname, (long)&name, 0, 0, 0, 0, 0))
		memcpy(h->host, name.nodename, sizeof(h->host));
}

static void fill_program(struct elide_header *h)
{
	/* Static: threads may have small stacks. Callers are serialised. */
	static char args[sizeof(h->args)];
	int fd = sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = sys_read(fd, args, sizeof(args));
		sys_close(fd);
	}
	if (n > 0 && without_args) {
		n = strnlen(args, n - 1) + 1;
		args[n - 1] = '\0';
		h->args_left_out = 1;
	}
	h->args_len = n > 0 ? n : 0;
	memcpy(h->args, args, h->args_len);
	/* Leave no copy of arguments that the file has not got. */
	memset(args, 0, sizeof(args));
}

void elide_data_leave_out_args(void)
{
	without_args = true;
}

/* Map the file, or memory in its place, and back the first bytes. */
static int map_file(const char *name, int fd, size_t max)
{
	void *map = MAP_FAILED;
	int err;

	file.reserve = max;
	file.backed = 0;
	file.used = ELIDE_HEADER_SIZE;
	file.detached = false;
	file.ended = false;
	file.small = elide_data_name.own;
	if (file.saved) {
		map = sys_mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
		if (map == MAP_FAILED) {
			elide_log("cannot map %s: %s; nothing is saved", name,
				  elide_text_error(errno));
			file.saved = false;
		}
	}
	if (!file.saved)
		map = sys_mmap(NULL, max, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (map == MAP_FAILED)
		return -errno;
	file.map = map;
	err = back_first(fd);
	if (fd >= 0 && !file.saved)
		sys_unlink(elide_data_name.path); /* leave no empty file */
	file.created = file.saved;
	if (err) {
		sys_munmap(map, max);
		file.map = NULL;
		return err;
	}
	/* A forked child has its own file; it must not be able to write into this one. */
	sys_madvise(map, max, MADV_DONTFORK);
	/* Mostly one page is touched at a time: reading ahead would cost more. */
	sys_madvise(map, max, MADV_RANDOM);
	elide_data = map;
	return 0;
}

/* Write what a file's header needs to count as a data file. */
static void fill_start(uint64_t run, const char *exe)
{
	struct elide_header *h = elide_data;

	h->version = ELIDE_DATA_VERSION;
	h->header_size = ELIDE_HEADER_SIZE;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->size = ELIDE_HEADER_SIZE;
	h->state = ELIDE_FILE_LIVE;
	h->pid = sys_getpid();
	h->pid_start = elide_start_time(0);
	h->run = run;
	h->exit_status = -1;
	memcpy(h->exe, exe, sizeof(h->exe));
	fill_program(h);
	fill_host(h);
	__atomic_store_n(&h->magic, ELIDE_DATA_MAGIC, __ATOMIC_RELEASE); /* pairs with the loader */
}

/* One in this many new files, a power of two, finds out whether there are too many. */
#define BOUND_EVERY 128

/*
 * Process ids and inode numbers mostly count up, in steps that depend on the program. Multiplied by 2^32
 * divided by the golden ratio, they have evenly spread high bits, whatever the step is.
 */
static void bound_children(void)
{
	uint32_t mixed = (uint32_t)(elide_data->pid + elide_data_name.ino) * 2654435769u;

	if (file.max_files && mixed < UINT32_MAX / BOUND_EVERY)
		elide_data->dropped[ELIDE_DROPPED_FILES] =
			elide_children_bound(file.pattern, elide_data->exe, file.max_files);
}

static void count_descendant(int fd)
{
	if (!descendants)
		return;
	if (fd >= 0) {
		__atomic_add_fetch(&descendants->files, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&descendants->err, -fd, __ATOMIC_RELAXED);
	__atomic_add_fetch(&descendants->nr, 1, __ATOMIC_RELAXED);
}

int elide_data_open(const char *pattern, uint64_t run, size_t max, enum elide_data_who who)
{
	static char name[PATH_MAX], exe[sizeof(((struct elide_header *)0)->exe)];
	int fd, err;

	elide_data_program(exe, sizeof(exe));
	elide_data_name_expand(name, sizeof(name), pattern, exe);

	fd = elide_data_name_open(name, run, who);
	if (fd == -EEXIST)
		return fd;
	file.saved = fd >= 0;
	file.is_child = who == ELIDE_DATA_CHILD;
	file.pattern = pattern;
	if (file.is_child)
		count_descendant(fd);
	if (who == ELIDE_DATA_EXIT) {
		file.idle = fd;
		elide_data = &idle.header;
	} else {
		err = map_file(name, fd, max);
		if (err) {
			if (fd >= 0)
				sys_close(fd);
			return err;
		}
	}
	fill_start(run, exe);
	if (elide_data_name.own)
		bound_children();
	/* Not earlier: on overlayfs the lock ends with the descriptor, and only now the header is written. */
	if (fd >= 0 && who != ELIDE_DATA_EXIT)
		sys_close(fd);
	return 0;
}

/* Write the file of an idle process. Return: 0 or an error. */
static int write_idle(void)
{
	size_t done = 0;

	if (!sys_size_allowed(sizeof(idle)))
		return EFBIG;
	while (done < sizeof(idle)) {
		ssize_t n = sys_write(file.idle, idle.bytes + done, sizeof(idle) - done);

		if (n < 0 && errno != EINTR)
			return errno;
		done += n > 0 ? n : 0;
	}
	return 0;
}

/* Write and close the file of an idle process. Return: is there a file? */
static bool close_idle(void)
{
	int err;

	if (file.idle < 0)
		return false;
	err = write_idle();
	sys_close(file.idle);
	file.idle = -1;
	if (!err)
		return true;
	elide_log("cannot write %s: %s; nothing is saved", elide_data_name.final, elide_text_error(err));
	sys_unlink(elide_data_name.path);
	file.saved = false;
	return false;
}

/*
 * Give back what was backed beyond the last chunk. Other threads may still count in their rows: these, and
 * all else that is in use, lie before that.
 */
static void shrink(void)
{
	int fd;

	if (!file.saved || elide_data->size >= file.backed)
		return;
	fd = open_again();
	if (fd < 0)
		return;
	file.ended = true;
	file.backed = elide_data->size;
	sys_ftruncate(fd, file.backed);
	if (fd != kept)
		sys_close(fd);
}

void elide_data_close(void)
{
	bool there;

	WRITE_ONCE(elide_data->state, ELIDE_FILE_CLOSED);
	there = elide_data == &idle.header ? close_idle() : file.created;
	if (elide_data != &idle.header)
		shrink();
	/* Not in a child of clone(CLONE_VM), which shares the memory. */
	if (!there || elide_data->pid != (uint32_t)sys_getpid())
		return;
	elide_data_name_finish();
	/* Once for all: if each child did it, the time would grow with the square of their number. */
	if (!file.is_child && descendants && READ_ONCE(descendants->files))
		elide_children_finish(file.pattern, elide_data->exe);
}

/* Back the next chunk, and some after it. Return: 0 or -errno. */
static int back_chunk(size_t at)
{
	size_t end = at + (file.small && at < SMALL_END ? GROW_SMALL : GROW);

	return back(at, end < file.reserve ? end : file.reserve);
}

struct elide_chunk *elide_data_chunk(enum elide_chunk_type type, unsigned int record_size)
{
	struct elide_header *h = elide_data;
	size_t at = file.used, end = at + ELIDE_CHUNK_SIZE;
	struct elide_chunk *chunk;

	if (end > file.reserve || (end > file.backed && back_chunk(at)))
		return NULL;
	chunk = (struct elide_chunk *)(file.map + at);
	chunk->type = type;
	chunk->record_size = record_size;
	chunk->nr_records = 0;
	chunk->nr = h->nr_chunks[type];
	chunk->check = ELIDE_CHECK_START;
	WRITE_ONCE(chunk->magic, ELIDE_CHUNK_MAGIC);
	file.used = end;
	/* The chunk is in memory, so the header must not count it. */
	if (file.ended)
		return chunk;
	/* Both pair with the loader: chunks that the header counts are complete. */
	__atomic_store_n(&h->size, end, __ATOMIC_RELEASE);
	__atomic_store_n(&h->nr_chunks[type], chunk->nr + 1, __ATOMIC_RELEASE);
	return chunk;
}

bool elide_data_has_room(const struct elide_chunk *chunk, unsigned int record_size)
{
	return sizeof(*chunk) + (chunk->nr_records + 1) * record_size <= ELIDE_CHUNK_SIZE;
}

void *elide_data_record(struct elide_chunk **chunk, enum elide_chunk_type type,
			unsigned int record_size)
{
	struct elide_chunk *c = *chunk;

	if (!c || !elide_data_has_room(c, record_size)) {
		c = elide_data_chunk(type, record_size);
		if (!c)
			return NULL;
		*chunk = c;
	}
	return (char *)(c + 1) + c->nr_records * record_size;
}

/*
 * Does the header count the chunk? Not after the end of the file, nor in a child that a handler has forked
 * in the middle of a global-lock path: there the chunk is the parent's.
 */
static bool is_counted(const struct elide_chunk *chunk)
{
	return elide_data && (size_t)((const char *)chunk - file.map) < elide_data->size;
}

void elide_data_publish(struct elide_chunk *chunk)
{
	const char *record = (char *)(chunk + 1) + chunk->nr_records * chunk->record_size;

	WRITE_ONCE(chunk->check, elide_record_check(chunk->check, chunk->type, record,
						    chunk->record_size));
	test_point(global_publish);
	/* Both pair with the loader: a counted record is complete, and in the checksum. */
	__atomic_store_n(&chunk->nr_records, chunk->nr_records + 1, __ATOMIC_RELEASE);
	if (is_counted(chunk))
		__atomic_add_fetch(&elide_data->nr_records[chunk->type], 1, __ATOMIC_RELEASE);
}

void elide_data_start(uint64_t began_ns, unsigned int max_files)
{
	void *p = sys_mmap(NULL, sizeof(*descendants), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);

	descendants = p == MAP_FAILED ? NULL : p;
	elide_data_name.began = began_ns;
	file.max_files = max_files;
}

void elide_data_none(int err)
{
	count_descendant(-err);
	elide_data_forget();
}

void elide_data_close_off(unsigned int chunks)
{
	size_t size = file.used + chunks * ELIDE_CHUNK_SIZE;

	if (!file.map)
		return;
	if (size > file.reserve)
		size = file.reserve;
	if (size > file.backed)
		back(file.backed, size);
	sys_madvise(file.map, file.reserve, MADV_DOFORK);
}

void elide_data_open_up(void)
{
	if (file.map)
		sys_madvise(file.map, file.reserve, MADV_DONTFORK);
}

void elide_data_tell_lost(void)
{
	/* Relaxed: each number is of use by itself. */
	if (descendants && __atomic_load_n(&descendants->nr, __ATOMIC_RELAXED)) {
		elide_data->dropped[ELIDE_DROPPED_PROCESSES] =
			__atomic_load_n(&descendants->nr, __ATOMIC_RELAXED);
		elide_data->lost_error = __atomic_load_n(&descendants->err, __ATOMIC_RELAXED);
	}
}

void elide_data_keep(void)
{
	int fd;

	if (!file.saved || (kept >= 0 && !is_ours(kept)))
		return;
	kept = -1;
	fd = open_again();
	if (fd < 0)
		return;
	kept = sys_fcntl(fd, F_DUPFD_CLOEXEC, (void *)KEPT_FROM);
	/* The limit of descriptors may be lower. */
	if (kept >= 0)
		sys_close(fd);
	else
		kept = fd;
}

void elide_data_detach(void)
{
	/* Under a filter the child has the parent's mapping: elide_data_close_off(). */
	if (!file.map || file.detached || READ_ONCE(sys_forbidden))
		return;
	elide_fill_gap(file.map, file.backed, ELIDE_CHUNK_SIZE);
	file.detached = true;
}

int elide_data_leave(void)
{
	void *copy;

	/* The header alone: nothing is mapped. */
	if (!file.map || elide_data == &idle.header)
		return 0;
	copy = sys_mmap(NULL, file.backed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (copy == MAP_FAILED)
		return -errno;
	memcpy(copy, file.map, file.used < file.backed ? file.used : file.backed);
	/* One step for the threads that count meanwhile. */
	if (sys_call(mremap, (long)copy, file.backed, file.backed, MREMAP_MAYMOVE | MREMAP_FIXED,
		     (long)file.map, 0) < 0) {
		int err = errno;

		sys_munmap(copy, file.backed);
		return -err;
	}
	if (file.reserve > file.backed)
		sys_munmap(file.map + file.backed, file.reserve - file.backed);
	file.reserve = file.backed;
	file.saved = file.created = false;
	if (kept >= 0 && !is_ours(kept))
		sys_close(kept);
	kept = -1;
	return 0;
}

const char *elide_data_path(void)
{
	return file.saved ? elide_data_name.path : NULL;
}

const char *elide_data_path_last(void)
{
	return elide_data_name.path;
}

void elide_data_forget(void)
{
	/* It is the parent's: elide_data_name still has the parent's file. */
	if (kept >= 0 && !is_ours(kept))
		sys_close(kept);
	kept = -1;
	elide_data_detach();
	elide_data = NULL;
	file.map = NULL;
	file.created = false;
}
