/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile.c - the writer of elide.data; its name is the business of datafile-name.c.
 *
 * Address space for the largest size of the file is reserved at once, so that nothing ever moves.
 * The file itself grows chunk by chunk, and posix_fallocate() backs each chunk before it is
 * touched, because a store to a hole on a full disk is a SIGBUS in the host. If the disk is full,
 * anonymous memory takes the place of further chunks, and one line on standard error says so.
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

static struct {
	char *map;      /* file_max bytes of address space */
	size_t reserve;
	size_t backed;  /* bytes at @map that may be touched */
	bool saved;     /* the bytes still to be backed will be bytes of the file */
	bool detached;  /* @map is the parent's, and elide_data_detach() was called */
	bool created;   /* there is a file, which holds at least the first of them */
	bool is_child;  /* it is the file of a forked child */
	const char *pattern; /* value of ELIDE_OUTPUT */
	int idle;       /* descriptor of the file of a process that ends without a lock call; -1 */
} file = {.idle = -1};

/* All that the file of such a process has: it is written at once, and nothing is mapped. */
static union {
	struct elide_header header;
	char bytes[ELIDE_HEADER_SIZE];
} idle;

/* Chunks are backed several at a time: fewer system calls. */
#define GROW (16 * ELIDE_CHUNK_SIZE)

struct elide_header *elide_data;

/* Descriptor of the file, of elide_data_keep(); -1: none. */
static int kept = -1;

/* The least number of that: programs that close descriptors one by one begin with low ones. */
#define KEPT_FROM 512

/*
 * Of the descendants by fork(): @nr that could not write a file, and the error of the last; @files
 * that they wrote. In memory that they share; NULL: none could be had.
 */
static struct {
	uint32_t nr;
	int32_t err;
	uint32_t files;
} *descendants;

/* 0 if the descriptor is of the file, else an error. */
static int is_ours(int fd)
{
	struct stat st;

	if (sys_fstat(fd, &st))
		return errno;
	return st.st_dev == elide_data_name.dev && st.st_ino == elide_data_name.ino ? 0 : ESTALE;
}

/* A descriptor of the file: @kept, or one to be closed; -errno. */
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
 * Extend the file. No descriptor of it stays open between two calls: a host that closes descriptors
 * which it does not know could then open a file of its own with the same number.
 */
static int extend(size_t size)
{
	int fd, err;

	if (!sys_size_allowed(size))
		return EFBIG;
	fd = open_again();
	if (fd < 0)
		return -fd;
	do /* a signal, of a profiler's timer for instance, interrupts it */
		err = posix_fallocate(fd, file.backed, size - file.backed);
	while (err == EINTR);
	if (fd != kept)
		sys_close(fd);
	return err;
}

/* Back the bytes up to @size, by anonymous memory if the file cannot grow. */
static int back(size_t size)
{
	void *p;
	int err;

	if (size > file.reserve)
		return -ENOSPC;
	if (file.saved) {
		err = extend(size);
		if (err) {
			elide_log("cannot extend %s: %s; %s saved", elide_data_name.final, strerror(err),
				  file.backed ? "what follows is not" : "nothing is");
			file.saved = false;
		}
	}
	if (!file.saved) {
		p = mmap(file.map + file.backed, size - file.backed, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
	}
	file.backed = size;
	return 0;
}

static void fill_host(struct elide_header *h)
{
	struct utsname name;

	_Static_assert(sizeof(h->host) == sizeof(name.nodename), "a whole name");
	if (!uname(&name))
		memcpy(h->host, name.nodename, sizeof(h->host));
}

static void fill_program(struct elide_header *h)
{
	int fd = sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = sys_read(fd, h->args, sizeof(h->args));
		sys_close(fd);
	}
	h->args_len = n > 0 ? n : 0;
}

/* Map the file, or memory in its place, and back what is needed at first. */
static int map_file(const char *name, int fd, size_t max)
{
	void *map = MAP_FAILED;
	int err;

	file.reserve = max;
	file.backed = 0;
	file.detached = false;
	if (file.saved) {
		map = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED) {
			elide_log("cannot map %s: %s; nothing is saved", name, strerror(errno));
			file.saved = false;
		}
	}
	if (!file.saved)
		map = mmap(NULL, max, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	file.map = map;
	err = back(ELIDE_HEADER_SIZE + GROW);
	if (fd >= 0 && !file.saved)
		sys_unlink(elide_data_name.path); /* or an empty file would pass for ours */
	file.created = file.saved;
	if (err) {
		munmap(map, max);
		file.map = NULL;
		return err;
	}
	/* A forked child has its own file; it must not be able to write into this one. */
	madvise(map, max, MADV_DONTFORK);
	elide_data = map;
	return 0;
}

/* What the header of a file must have before the file counts as one. */
static void fill_start(uint64_t run, const char *exe)
{
	struct elide_header *h = elide_data;

	h->version = ELIDE_DATA_VERSION;
	h->header_size = ELIDE_HEADER_SIZE;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->size = ELIDE_HEADER_SIZE;
	h->state = ELIDE_FILE_LIVE;
	h->pid = getpid();
	h->pid_start = elide_start_time(0);
	h->run = run;
	h->exit_status = -1;
	memcpy(h->exe, exe, sizeof(h->exe));
	fill_program(h);
	fill_host(h);
	__atomic_store_n(&h->magic, ELIDE_DATA_MAGIC, __ATOMIC_RELEASE); /* pairs with the loader */
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
	/* Not earlier: on overlayfs the lock goes with the descriptor, and the header is known by then. */
	if (fd >= 0 && who != ELIDE_DATA_EXIT)
		sys_close(fd);
	return 0;
}

/* Write the file of an idle process. Returns 0 or an error. */
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

/* The end of the file of an idle process. Is there a file? */
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
	elide_log("cannot write %s: %s; nothing is saved", elide_data_name.final, strerror(err));
	sys_unlink(elide_data_name.path);
	file.saved = false;
	return false;
}

void elide_data_close(void)
{
	bool there;

	WRITE_ONCE(elide_data->state, ELIDE_FILE_CLOSED);
	there = elide_data == &idle.header ? close_idle() : file.created;
	/* A child that shares the memory, as of clone(CLONE_VM), is not the process that ends. */
	if (!there || elide_data->pid != (uint32_t)getpid())
		return;
	elide_data_name_finish();
	/* Once for all of them: not by each child, which would be the square of their number. */
	if (!file.is_child && descendants && READ_ONCE(descendants->files))
		elide_children_finish(file.pattern, elide_data->exe);
}

struct elide_chunk *elide_data_chunk(enum elide_chunk_type type, unsigned int record_size)
{
	struct elide_header *h = elide_data;
	struct elide_chunk *chunk;
	size_t end = h->size + ELIDE_CHUNK_SIZE;

	if (end > file.reserve)
		return NULL;
	if (end > file.backed) {
		size_t size = file.backed + GROW;

		if (back(size > file.reserve ? file.reserve : size))
			return NULL;
	}
	chunk = (struct elide_chunk *)(file.map + h->size);
	chunk->type = type;
	chunk->record_size = record_size;
	chunk->nr_records = 0;
	WRITE_ONCE(chunk->magic, ELIDE_CHUNK_MAGIC);
	__atomic_store_n(&h->size, end, __ATOMIC_RELEASE); /* pairs with the loader */
	return chunk;
}

void *elide_data_record(struct elide_chunk **chunk, enum elide_chunk_type type,
			unsigned int record_size)
{
	struct elide_chunk *c = *chunk;

	if (!c || sizeof(*c) + (c->nr_records + 1) * record_size > ELIDE_CHUNK_SIZE) {
		c = elide_data_chunk(type, record_size);
		if (!c)
			return NULL;
		*chunk = c;
	}
	return (char *)(c + 1) + c->nr_records * record_size;
}

void elide_data_publish(struct elide_chunk *chunk)
{
	test_point(slow_publish);
	/* Pairs with the loader: a counted record is complete. */
	__atomic_store_n(&chunk->nr_records, chunk->nr_records + 1, __ATOMIC_RELEASE);
}

void elide_data_start(uint64_t began_ns)
{
	void *p = mmap(NULL, sizeof(*descendants), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	descendants = p == MAP_FAILED ? NULL : p;
	elide_data_name.began = began_ns;
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
	/* There may be fewer. */
	if (kept >= 0)
		sys_close(fd);
	else
		kept = fd;
}

void elide_data_detach(void)
{
	if (!file.map || file.detached)
		return;
	elide_fill_gap(file.map, file.backed, ELIDE_CHUNK_SIZE);
	file.detached = true;
}

const char *elide_data_path(void)
{
	return file.saved ? elide_data_name.path : NULL;
}

void elide_data_forget(void)
{
	/* The parent's, as long as the name is the parent's, too. */
	if (kept >= 0 && !is_ours(kept))
		sys_close(kept);
	kept = -1;
	elide_data_detach();
	elide_data = NULL;
	file.map = NULL;
	file.created = false;
}
