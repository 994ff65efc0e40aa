/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_datafile.c - the data file's room and its end: no state of the disk harms the host. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "data-folder.h"

#define MIB (1 << 20)

static void mode_and_header(void)
{
	struct stat st;
	struct elide_header h;
	int fd;

	umask(0);
	open_data("data", MIB);
	check(!stat(".data.live", &st) && (st.st_mode & 0777) == 0600);
	fd = open(".data.live", O_RDONLY);
	check(read(fd, &h, sizeof(h)) == sizeof(h));
	check(h.magic == ELIDE_DATA_MAGIC && h.version == ELIDE_DATA_VERSION);
	check(h.header_size == ELIDE_HEADER_SIZE && h.chunk_size == ELIDE_CHUNK_SIZE);
	check(h.size == ELIDE_HEADER_SIZE && h.state == ELIDE_FILE_LIVE && h.exit_status == -1);
	check(strstr(h.exe, "test_datafile") && h.args_len > 0);
	check(strstr(h.args, "test_datafile") && !h.args[h.args_len - 1]);
}

/* What a child maps where its parent's file is stays, and the rest becomes memory of zeroes. */
static void child_keeps_its_own_mapping(void)
{
	char *map, *own;
	int status;
	pid_t pid;

	open_data("data", MIB);
	map = (char *)elide_data;
	pid = fork();
	if (!pid) {
		own = mmap(map + 2 * ELIDE_CHUNK_SIZE, ELIDE_CHUNK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		check(own == map + 2 * ELIDE_CHUNK_SIZE);
		memset(own, 1, ELIDE_CHUNK_SIZE);
		elide_data_detach();
		elide_data_detach();
		check(own[0] && own[ELIDE_CHUNK_SIZE - 1]);
		check(!map[0] && !own[-1] && !own[ELIDE_CHUNK_SIZE]);
		map[0] = 1;
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && !status);
	check(elide_data->magic == ELIDE_DATA_MAGIC);
}

/* A file NAME.PID of a child that takes few locks is small, and none of it is missing. */
static void file_of_a_child_is_small(void)
{
	struct elide_chunk *chunks[4] = {NULL};
	struct stat st;

	check(!elide_data_open("data", 0, 4 * MIB, ELIDE_DATA_CHILD));
	for (int i = 0; i < 4; i++) {
		check(elide_data_record(&chunks[i], ELIDE_CHUNK_ROWS, sizeof(struct elide_row)));
		elide_data_publish(chunks[i]);
	}
	check(!stat(elide_data_path(), &st) && (uint64_t)st.st_size >= elide_data->size);
	check(st.st_blocks * 512 <= 32768);
	for (int i = 0; i < 4; i++)
		memset(chunks[i] + 1, 0x5a, 4096 - sizeof(**chunks));
	/* Records that go on in the next pages, and chunks that are used as a whole. */
	use();
	memset(elide_data_chunk(ELIDE_CHUNK_SPANS, 48) + 1, 0x5a, ELIDE_CHUNK_SIZE - 64);
	fill();
	elide_data_close();
	check(!stat(elide_data_path(), &st) && (uint64_t)st.st_size == elide_data->size);
}

/* No more is touched of it than the disk has room for. */
static void file_of_a_child_on_a_full_disk(void)
{
	check(!mkdir("disk", 0700));
	if (mount("none", "disk", "tmpfs", 0, "size=64k")) {
		fprintf(stderr, "a small file system cannot be mounted here: %s\n", strerror(errno));
		_exit(SKIPPED);
	}
	check(!elide_data_open("disk/data", 0, MIB, ELIDE_DATA_CHILD));
	use();
	fill();
	elide_data_close();
	check(!umount2("disk", MNT_DETACH));
}

/* At the end the room that was not used is given back, and a late record has a place all the same. */
static void unused_room_is_given_back(void)
{
	struct elide_chunk *chunk = NULL;
	struct stat st;

	open_data("data", MIB);
	check(elide_data_record(&chunk, ELIDE_CHUNK_ROWS, sizeof(struct elide_row)));
	elide_data_publish(chunk);
	elide_data_close();
	check(!stat("data", &st) && (uint64_t)st.st_size == elide_data->size);
	fill();
	check(!stat("data", &st) && st.st_size == ELIDE_HEADER_SIZE + ELIDE_CHUNK_SIZE);
}

static void idle_process_of_a_run_needs_none(void)
{
	put_older("data", 42);
	check(elide_data_open("data", 42, MIB, ELIDE_DATA_ALONE) == -EEXIST);
	check(elide_data_open("data", 42, MIB, ELIDE_DATA_EXIT) == -EEXIST);
	check(!elide_data);
}

/* What a process without a lock call leaves: a header, whole, under the name that it is given. */
static void idle_process_writes_at_its_end(void)
{
	static char bytes[ELIDE_HEADER_SIZE + 1];
	const struct elide_header *h = (const struct elide_header *)bytes;
	int fd;

	check(!elide_data_open("data", 42, MIB, ELIDE_DATA_EXIT) && elide_data);
	check(access("data", F_OK));
	elide_data->end_ns = 7;
	elide_data_close();
	check(!system("test $(ls -A | wc -l) = 1 && test -f data"));
	fd = open("data", O_RDONLY);
	check(read(fd, bytes, sizeof(bytes)) == ELIDE_HEADER_SIZE);
	check(h->magic == ELIDE_DATA_MAGIC && h->state == ELIDE_FILE_CLOSED && h->end_ns == 7);
	check(h->run == 42 && h->size == ELIDE_HEADER_SIZE && h->pid == (uint32_t)getpid());
	check(elide_data_path() && strstr(elide_data_path(), "/data"));
}

/* If it cannot be written, nothing that looks like a file of ours is left. */
static void idle_process_on_a_full_disk(void)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };

	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_EXIT));
	check(!setrlimit(RLIMIT_FSIZE, &limit));
	elide_data_close();
	check(!elide_data_path());
	check(!system("test $(ls -A | wc -l) = 0"));
}

static void unwritable_directory(void)
{
	open_data("/proc/elide.data", MIB);
	use();
}

static void missing_directory(void)
{
	open_data("nowhere/data", MIB);
	use();
}

static void size_limit_at_start(void)
{
	struct rlimit limit = {1000, 1000};

	check(!setrlimit(RLIMIT_FSIZE, &limit));
	open_data("data", MIB);
	use();
}

static void size_limit_later(void)
{
	struct rlimit limit = {600000, 600000};

	check(!setrlimit(RLIMIT_FSIZE, &limit));
	open_data("data", 4 * MIB);
	check(fill() == (4 * MIB - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE);
}

static void grows_to_its_bound(void)
{
	struct stat st;

	open_data("data", 8 * MIB);
	check(fill() == (8 * MIB - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE);
	check(!stat(".data.live", &st));
	check((uint64_t)st.st_size >= elide_data->size && st.st_size <= 8 * MIB);
	/* Every block is there: a hole would be a SIGBUS on a full disk. */
	check(st.st_blocks * 512 >= st.st_size);
}

static void replaced_file_is_not_extended(void)
{
	struct stat st;

	open_data("data", 4 * MIB);
	check(!rename(".data.live", "moved"));
	put(".data.live", "another file");
	fill();
	elide_data_close();
	check(holds(".data.live", "another file") && !exists("data"));
	check(!stat(".data.live", &st) && st.st_size == 12);
}

static void full_disk(void)
{
	check(!mkdir("disk", 0700));
	if (mount("none", "disk", "tmpfs", 0, "size=512k")) {
		fprintf(stderr, "a small file system cannot be mounted here: %s\n", strerror(errno));
		_exit(SKIPPED);
	}
	open_data("disk/data", 4 * MIB);
	check(fill() == (4 * MIB - ELIDE_HEADER_SIZE) / ELIDE_CHUNK_SIZE);
	check(!umount2("disk", MNT_DETACH));
}

static void on_alarm(int signal)
{
}

/* A profiler's timer interrupts system calls: that must not cost the data. */
static void signals_do_not_end_the_file(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval every = {{0, 50}, {0, 50}}, off = {{0, 0}, {0, 0}};
	struct stat st;

	check(!sigaction(SIGALRM, &action, NULL));
	check(!setitimer(ITIMER_REAL, &every, NULL));
	open_data("data", 16 * MIB);
	fill();
	check(!setitimer(ITIMER_REAL, &off, NULL));
	check(!stat(".data.live", &st) && (uint64_t)st.st_size >= elide_data->size);
}

#define TESTS(T) \
	T(mode_and_header, NULL) \
	T(file_of_a_child_is_small, NULL) \
	T(file_of_a_child_on_a_full_disk, "elide: cannot extend /tmp/elide-test-") \
	T(unused_room_is_given_back, NULL) \
	T(child_keeps_its_own_mapping, NULL) \
	T(idle_process_of_a_run_needs_none, NULL) \
	T(unwritable_directory, "elide: cannot write /proc/elide.data: ") \
	T(missing_directory, "elide: cannot write nowhere/data: No such file or directory; nothing is saved\n") \
	T(idle_process_writes_at_its_end, NULL) \
	T(idle_process_on_a_full_disk, "elide: cannot write /tmp/elide-test-") \
	T(size_limit_at_start, "elide: cannot extend /tmp/elide-test-") \
	T(size_limit_later, "elide: cannot extend /tmp/elide-test-") \
	T(grows_to_its_bound, NULL) \
	T(replaced_file_is_not_extended, "elide: cannot extend /tmp/elide-test-") \
	T(full_disk, "elide: cannot extend /tmp/elide-test-") \
	T(signals_do_not_end_the_file, NULL)

TESTS(DATA_TEST)

int main(void)
{
	static const struct CMUnitTest tests[] = {TESTS(DATA_ENTRY)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
