/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile.c - the writer of elide.data.
 *
 * Address space for the largest size of the file is reserved at once, so that nothing ever moves.
 * The file itself grows chunk by chunk, and posix_fallocate() backs each chunk before it is
 * touched, because a store to a hole on a full disk is a SIGBUS in the host. If the disk is full,
 * anonymous memory takes the place of further chunks, and one line on standard error says so.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../compiler.h"
#include "datafile-writer.h"
#include "log.h"
#include "testpoint.h"
#include "syscalls.h"

/* Bytes for the name of ELIDE_OUTPUT and what own_name() appends. */
#define OWN_NAME_MAX (PATH_MAX + 48)

/* Processes with one number, in pid namespaces of their own, that may share a directory. */
#define MAX_SAME_PID 1000

static struct {
	char *map;      /* file_max bytes of address space */
	size_t reserve;
	size_t backed;  /* bytes at @map that may be touched */
	bool saved;     /* the bytes still to be backed will be bytes of the file */
	bool claims;    /* the file takes the name of ELIDE_OUTPUT once its header is complete */
	dev_t dev;
	ino_t ino;
	char path[OWN_NAME_MAX];
} file;

/* Chunks are backed several at a time: fewer system calls. */
#define GROW (16 * ELIDE_CHUNK_SIZE)

struct elide_header *elide_data;

/*
 * Field 22 of /proc/PID/stat, clock ticks after boot; 0 if there is no such process. With @pid 0 of
 * this process: no number is formatted, because its length would change the times of an emulated
 * run.
 */
static uint64_t start_time(pid_t pid)
{
	char path[48] = "/proc/self/stat", text[1024], *p;
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything, blanks too */
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

static bool size_limit_allows(size_t size)
{
	struct rlimit limit;

	/* Beyond the limit fallocate raises SIGXFSZ, which would kill the host. */
	return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

/*
 * Extend the file. No descriptor of it stays open between two calls: a host that closes descriptors
 * which it does not know could then open a file of its own with the same number.
 */
static int extend(size_t size)
{
	struct stat st;
	int fd, err;

	if (!size_limit_allows(size))
		return EFBIG;
	fd = sys_open(file.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (fstat(fd, &st))
		err = errno;
	else if (st.st_dev != file.dev || st.st_ino != file.ino)
		err = ESTALE;
	else
		do /* a signal, of a profiler's timer for instance, interrupts it */
			err = posix_fallocate(fd, file.backed, size - file.backed);
		while (err == EINTR);
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
			elide_log("cannot extend %s: %s; %s saved", file.path, strerror(err),
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

/* Replace %p and %e; a % before anything else stands for itself. */
static void expand(char *name, size_t size, const char *pattern, const char *exe)
{
	const char *base = strrchr(exe, '/');
	size_t n = 0;

	base = base ? base + 1 : exe;
	for (; *pattern && n + 1 < size; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p')
			n += snprintf(name + n, size - n, "%d", (int)getpid());
		else if (pattern[0] == '%' && pattern[1] == 'e')
			n += snprintf(name + n, size - n, "%s", base);
		else {
			name[n++] = *pattern;
			continue;
		}
		pattern++;
	}
	name[n < size ? n : size - 1] = '\0';
}

enum older { OLDER_NONE, OLDER_FOREIGN, OLDER_EMPTY, OLDER_DONE, OLDER_SAME_RUN, OLDER_LOCKED };

/*
 * A data file is locked for as long as its process maps it: the lock belongs to
 * the open file description, which the mapping keeps (locks_remove_file() in
 * Linux). That tells a live writer in any pid namespace, where its number and
 * start time tell nothing: in every container there is a process 1. A file system
 * without locks, and overlayfs, which maps another file than was opened, leave
 * the number and start time.
 */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static void lock_file(int fd)
{
	struct flock lock = whole_file;

	sys_fcntl(fd, F_OFD_SETLK, &lock);
}

static bool is_locked(int fd)
{
	struct flock lock = whole_file;

	return !sys_fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Whose file is @name? */
static enum older older_file(const char *name, uint64_t run)
{
	static struct elide_header h;
	enum older older = OLDER_FOREIGN;
	struct stat st;
	int fd = sys_open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);

	if (fd < 0)
		return errno == ENOENT ? OLDER_NONE : OLDER_FOREIGN;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		if (!st.st_size)
			older = OLDER_EMPTY;
		else if (is_locked(fd))
			older = OLDER_LOCKED;
		else if (sys_read(fd, &h, sizeof(h)) == sizeof(h) && h.magic == ELIDE_DATA_MAGIC) {
			if (run && h.run == run)
				older = OLDER_SAME_RUN;
			else if (h.state == ELIDE_FILE_LIVE && start_time(h.pid) == h.pid_start)
				older = OLDER_SAME_RUN;
			else
				older = OLDER_DONE;
		}
	}
	sys_close(fd);
	return older;
}

/*
 * A name of our own: NAME.PID or, until the header is complete, NAME.PID.new with
 * all digits that an id can have: an emulated run must take the same time whatever
 * the id. Where a process of another pid namespace has that: NAME.PID.2 and so on.
 */
static void own_name(char *to, const char *name, bool temporary, unsigned int nr)
{
	char digits[] = "0000000", number[16] = "";
	int pid = getpid();

	for (int i = sizeof(digits) - 2; i >= 0; i--, pid /= 10)
		digits[i] = '0' + pid % 10;
	if (nr > 1)
		snprintf(number, sizeof(number), ".%u", nr);
	if (temporary)
		snprintf(to, OWN_NAME_MAX, "%s.%s.new%s", name, digits, number);
	else
		snprintf(to, OWN_NAME_MAX, "%s.%d%s", name, (int)getpid(), number);
}

#define CREATE_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/*
 * An older data file *@name becomes NAME.old. Where that is foreign: -EEXIST,
 * *@name says which. -EBUSY: *@name is a live process's, which has just taken it.
 */
static int move_away(const char **name)
{
	static char old[OWN_NAME_MAX + 4];
	const char *from = *name;

	snprintf(old, sizeof(old), "%s.old", from);
	if (older_file(old, 0) == OLDER_FOREIGN) {
		*name = old;
		return -EEXIST;
	}
	/* Gone already: another process that starts now has moved it. */
	if (rename(from, old))
		return errno == ENOENT ? 0 : -errno;
	if (older_file(old, 0) != OLDER_LOCKED)
		return 0;
	renameat2(AT_FDCWD, old, AT_FDCWD, from, RENAME_NOREPLACE);
	return -EBUSY;
}

/*
 * Free *@own, a name with our number that exists: it is of an older process of that
 * number, or of us before exec(). -EBUSY: of a live one in another pid namespace,
 * which may not have come to writing and locking it yet.
 */
static int free_own(const char **own)
{
	switch (older_file(*own, 0)) {
	case OLDER_EMPTY:
	case OLDER_LOCKED:
		return -EBUSY;
	case OLDER_FOREIGN:
		return -EEXIST;
	default:
		return move_away(own);
	}
}

static int create(const char *own)
{
	int fd = sys_open(own, CREATE_FLAGS, 0600);

	return fd < 0 ? -errno : fd;
}

/* file.path becomes @own. */
static int become(const char *own)
{
	if (!renameat2(AT_FDCWD, file.path, AT_FDCWD, own, RENAME_NOREPLACE))
		return 0;
	/* Not every file system knows the flag. */
	if (errno == EINVAL && older_file(own, 0) == OLDER_NONE && !rename(file.path, own))
		return 0;
	return -errno;
}

/*
 * @take() the first name with our number that is free or can be freed. *@use is
 * that name or, on error, the one in the way. Returns what @take() did.
 */
static int take_own(const char *name, bool temporary, int (*take)(const char *own),
		    const char **use)
{
	/* Static: this may run on a small thread stack. Callers are serialised. */
	static char own[OWN_NAME_MAX];
	int ret;

	for (unsigned int nr = 1; nr <= MAX_SAME_PID; nr++) {
		own_name(own, name, temporary, nr);
		*use = own;
		ret = take(own);
		if (ret != -EEXIST)
			return ret;
		ret = free_own(use);
		if (ret == -EBUSY)
			continue;
		if (ret)
			return ret;
		ret = take(own);
		if (ret != -EEXIST)
			return ret;
	}
	return -EBUSY;
}

/*
 * Open NAME for this process: an older file becomes NAME.old, a name in use
 * by this run or by a live process leaves NAME.PID for us. What is not a
 * data file is never touched. A file that is to be NAME is made under another
 * name and takes this one with a complete header, see claim_name(): another
 * process that starts at the same time must not find half of one. Returns a
 * descriptor, -1 (one line was said), or -EEXIST where @who needs none.
 */
static int open_file(const char *name, uint64_t run, enum elide_data_who who)
{
	const char *use = name;
	struct stat st;
	int fd, err = 0;

	file.claims = false;
	if (who != ELIDE_DATA_CHILD) {
		switch (older_file(name, run)) {
		case OLDER_SAME_RUN:
		case OLDER_LOCKED:
			if (who == ELIDE_DATA_IDLE)
				return -EEXIST;
			break;
		case OLDER_EMPTY:
		case OLDER_DONE:
			err = move_away(&use);
			__attribute__((fallthrough));
		case OLDER_NONE:
			file.claims = !err;
			break;
		case OLDER_FOREIGN:
			err = -EEXIST;
		}
		if (err && err != -EBUSY)
			goto fail;
	}
	fd = take_own(name, file.claims, create, &use);
	if (fd < 0) {
		err = fd;
		if (err != -EEXIST)
			use = name; /* what the user knows */
		goto fail;
	}
	if (fstat(fd, &st) || !realpath(use, file.path)) {
		use = name;
		err = -errno;
		sys_close(fd);
		goto fail;
	}
	lock_file(fd);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return fd;
fail:
	if (err == -EEXIST)
		elide_log("%s exists and is not a data file: left alone, nothing is saved", use);
	else
		elide_log("cannot write %s: %s; nothing is saved", use, strerror(-err));
	return -1;
}

/* The file becomes NAME or, if another process was faster, NAME.PID. */
static void claim_name(const char *name)
{
	const char *use = name;

	if (!link(file.path, name))
		unlink(file.path);
	else if (errno == EEXIST)
		take_own(name, false, become, &use);
	else
		rename(file.path, name); /* no links: FAT and the like */
	if (!realpath(use, file.path))
		file.saved = false;
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

int elide_data_open(const char *pattern, uint64_t run, size_t max, enum elide_data_who who)
{
	static char name[PATH_MAX], exe[sizeof(((struct elide_header *)0)->exe)];
	struct elide_header *h;
	void *map = MAP_FAILED;
	int fd, err;

	err = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[err > 0 ? err : 0] = '\0';
	expand(name, sizeof(name), pattern, exe);

	fd = open_file(name, run, who);
	if (fd == -EEXIST)
		return fd;
	file.reserve = max;
	file.backed = 0;
	file.saved = fd >= 0;
	if (file.saved) {
		map = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		sys_close(fd);
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
		unlink(file.path); /* or an empty file would pass for ours */
	if (err)
		goto unmap;
	/* A forked child has its own file; it must not be able to write into this one. */
	madvise(map, max, MADV_DONTFORK);

	elide_data = h = map;
	h->version = ELIDE_DATA_VERSION;
	h->header_size = ELIDE_HEADER_SIZE;
	h->chunk_size = ELIDE_CHUNK_SIZE;
	h->size = ELIDE_HEADER_SIZE;
	h->state = ELIDE_FILE_LIVE;
	h->pid = getpid();
	h->pid_start = start_time(0);
	h->run = run;
	h->exit_status = -1;
	memcpy(h->exe, exe, sizeof(h->exe));
	fill_program(h);
	__atomic_store_n(&h->magic, ELIDE_DATA_MAGIC, __ATOMIC_RELEASE); /* pairs with the loader */
	if (file.saved && file.claims)
		claim_name(name);
	return 0;
unmap:
	munmap(map, max);
	file.map = NULL;
	return err;
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

void elide_data_detach(void)
{
	if (file.map)
		mmap(file.map, file.reserve, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

const char *elide_data_path(void)
{
	return file.saved ? file.path : NULL;
}

void elide_data_forget(void)
{
	elide_data = NULL;
	file.map = NULL;
}
