/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_datafile.c - where the data file goes, whose files are left alone, and
 * that no state of the disk harms the host. Each test runs in a child and in
 * a directory of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../lib/base/datafile-children.h"
#include "../../lib/base/datafile-writer.h"
#include "child.h"

#define MIB (1 << 20)
#define SKIPPED 77

static char message[2048];

/* Run @test in a child inside a fresh directory; what it says on stderr comes back in @message. */
static void in_child(void (*test)(void))
{
	char directory[] = "/tmp/elide-test-XXXXXX", command[64];
	int ends[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		check(!chdir(directory));
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		test();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], message + used, sizeof(message) - 1 - used)) > 0)
		used += n;
	message[used] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		printf("skip datafile: %s", message);
		skip();
	}
	if (status)
		fail_msg("status %#x: %s", status, message);
}

static void open_data(const char *name, size_t max)
{
	check(!elide_data_open(name, 0, max, ELIDE_DATA_FIRST));
	check(elide_data && elide_data->magic == ELIDE_DATA_MAGIC);
	check(elide_data->pid == (uint32_t)getpid());
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static bool holds(const char *name, const char *text)
{
	char buffer[64] = "";
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer) - 1);

	close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(buffer, text);
}

static bool exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

/* Is the data file that has the name that of process @pid? */
static bool is_of(const char *name, pid_t pid)
{
	struct elide_header h = {0};
	int fd = open(name, O_RDONLY);

	check(fd < 0 || read(fd, &h, sizeof(h)) == sizeof(h));
	close(fd);
	return fd >= 0 && h.magic == ELIDE_DATA_MAGIC && h.pid == (uint32_t)pid;
}

/* A data file that a process which has ended left behind, @threads of which took locks. */
static void put_ended(const char *name, uint64_t run, uint32_t threads, uint64_t end_ns)
{
	struct elide_header h = {.magic = ELIDE_DATA_MAGIC, .state = ELIDE_FILE_CLOSED, .run = run,
				 .nr_threads = threads, .start_realtime_ns = 1000,
				 .end_ns = end_ns};
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	check(fd >= 0 && write(fd, &h, sizeof(h)) == sizeof(h));
	close(fd);
}

static void put_older(const char *name, uint64_t run)
{
	put_ended(name, run, 1, 0);
}

/* The file can be used in memory whatever became of it on disk. */
static void use(void)
{
	struct elide_chunk *chunk = NULL;

	for (int i = 0; i < 200; i++) {
		struct elide_row *row = elide_data_record(&chunk, ELIDE_CHUNK_ROWS, sizeof(*row));

		check(row && !row->commits);
		row->commits = i;
		elide_data_publish(chunk);
	}
	check(elide_data->size > ELIDE_HEADER_SIZE + 2 * ELIDE_CHUNK_SIZE);
}

/* Chunks of rows until the file is full. */
static unsigned int fill(void)
{
	unsigned int n = 0;
	struct elide_chunk *chunk;

	while ((chunk = elide_data_chunk(ELIDE_CHUNK_ROWS, sizeof(struct elide_row)))) {
		check(chunk->magic == ELIDE_CHUNK_MAGIC && !chunk->nr_records);
		memset(chunk + 1, 0x5a, ELIDE_CHUNK_SIZE - sizeof(*chunk));
		n++;
	}
	return n;
}

static void name_is_expanded(void)
{
	char expect[64];

	open_data("a-%e-%p-%x-%", MIB);
	snprintf(expect, sizeof(expect), ".a-test_datafile-%d-%%x-%%.live", (int)getpid());
	check(exists(expect));
	elide_data_close();
	check(!exists(expect) && exists(strtok(expect + 1, "."))); /* the name has no other dot */
}

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

static void older_becomes_old(void)
{
	put_older("data", 0);
	open_data("data", MIB);
	check(exists("data.old"));
	check(elide_data->state == ELIDE_FILE_LIVE);
}

static void foreign_is_left_alone(void)
{
	put("data", "my thesis");
	open_data("data", MIB);
	check(holds("data", "my thesis") && !exists("data.old"));
}

static void foreign_old_is_left_alone(void)
{
	put_older("data", 0);
	put("data.old", "my thesis");
	open_data("data", MIB);
	check(holds("data.old", "my thesis"));
}

static void symlink_is_not_followed(void)
{
	put("target", "");
	check(!symlink("target", "data"));
	open_data("data", MIB);
	check(holds("target", ""));
	check(!exists("data.old"));
}

static void directory_is_left_alone(void)
{
	check(!mkdir("data", 0700));
	open_data("data", MIB);
	check(!rmdir("data"));
}

static void same_run_gets_its_pid(void)
{
	char expect[64];

	put_older("data", 42);
	check(!elide_data_open("data", 42, MIB, ELIDE_DATA_FIRST));
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && !exists("data.old"));
	check(elide_data->run == 42);
	elide_data_close();
	check(is_of(strcpy(expect, elide_data_path()), getpid()) && strstr(expect, "/data."));
}

static void live_file_gets_its_pid(void)
{
	char expect[64];

	open_data("data", MIB);
	elide_data_forget();
	open_data("data", MIB); /* the writer is this very process, which maps the first one still */
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && exists(".data.live") && !exists("data.old"));
}

/* In a volume that containers share: the writers live, but not by our /proc. */
static void other_namespaces_file_is_left_alone(void)
{
	char own[64], second[64];

	snprintf(own, sizeof(own), ".data.%d.live", (int)getpid());
	snprintf(second, sizeof(second), ".data.%d.2.live", (int)getpid());
	for (int i = 0; i < 3; i++) {
		open_data("data", MIB);
		elide_data->pid_start++;
		elide_data_forget();
		check(exists(".data.live") && exists(own) == (i > 0) && exists(second) == (i > 1));
	}
	check(!system("test $(ls -A | wc -l) = 3"));
}

static void killed_process_leaves_an_older_file(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		open_data("data", MIB);
		raise(SIGKILL);
	}
	check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	open_data("data", MIB);
	check(is_of("data.old", pid) && is_of(".data.live", getpid()));
	check(!system("test $(ls -A | wc -l) = 2"));
}

static void child_gets_its_pid(void)
{
	char expect[64];

	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && !exists("data") && !exists(".data.live"));
}

/* A process number comes again in a run of many: no file of the run makes room, those of others do. */
static void child_gets_a_number_again(void)
{
	char name[32], second[64], third[64];

	snprintf(name, sizeof(name), "data.%d", (int)getpid());
	snprintf(second, sizeof(second), "%s.2", name);
	snprintf(third, sizeof(third), "%s.3", name);
	put_ended(name, 7, 1, 0);
	check(!elide_data_open("data", 7, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	check(is_of(name, 0) && is_of(second, getpid()));
	munmap(elide_data, MIB);
	elide_data_forget();
	/* Without the launcher: of those that started at 1000 and later, while this one did at 900. */
	unlink(name);
	unlink(second);
	put_ended(name, 0, 1, 0);
	put_ended(second, 0, 1, 0);
	elide_data_start(900, 0);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	check(is_of(name, 0) && is_of(second, 0) && is_of(third, getpid()));
	munmap(elide_data, MIB);
	elide_data_forget();
	elide_data_start(1100, 0);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	strcat(second, ".old");
	check(is_of(name, getpid()) && !exists(second));
	strcat(name, ".old");
	check(is_of(name, 0));
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

/* Twenty processes start at once: each has a file, one of them the name, and nobody complains. */
static void processes_that_start_together(void)
{
	struct {
		int go, opened;
	} volatile *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[20];
	int status;

	for (int i = 0; i < 20; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			while (!all->go)
				sched_yield();
			open_data("data", MIB);
			/* All are alive together, unless one of them has failed. */
			__atomic_fetch_add(&all->opened, 1, __ATOMIC_SEQ_CST);
			for (int ms = 0; all->opened < 20 && ms < 20000; ms++)
				usleep(1000);
			_exit(0);
		}
	}
	all->go = 1;
	for (int i = 0; i < 20; i++)
		check(waitpid(pids[i], &status, 0) == pids[i] && !status);
	check(!system("test $(ls -A | wc -l) = 20 && test -f .data.live"));
}

/* Who truncates the name, or copies another file to it, does not meet the mapped file. */
static void name_is_replaced_meanwhile(void)
{
	open_data("data", MIB);
	check(!exists("data"));
	put("data", "");
	use();
	elide_data_close();
	check(is_of("data", getpid()) && !system("test $(ls -A | wc -l) = 1"));
}

static void older_is_put_there_meanwhile(void)
{
	open_data("data", MIB);
	put_older("data", 0);
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old") && !system("test $(ls -A | wc -l) = 2"));
}

static void foreign_is_put_there_meanwhile(void)
{
	char expect[64];

	open_data("data", MIB);
	put("data", "my thesis");
	elide_data_close();
	snprintf(expect, sizeof(expect), "data.%d", (int)getpid());
	check(holds("data", "my thesis") && is_of(expect, getpid()));
	check(!system("test $(ls -A | wc -l) = 2"));
}

/* What a killed process counted is kept, even if its name is taken by a file of another kind. */
static void foreign_is_in_the_way_of_a_killed_process(void)
{
	char expect[64];
	pid_t pid = fork();
	int status;

	if (!pid) {
		open_data("data", MIB);
		raise(SIGKILL);
	}
	check(waitpid(pid, &status, 0) == pid);
	put("data", "my thesis");
	check(elide_data_open("data", 0, MIB, ELIDE_DATA_FIRST) == 0 && !elide_data_path());
	snprintf(expect, sizeof(expect), "data.%d", (int)pid);
	check(holds("data", "my thesis") && is_of(expect, pid) && !system("test $(ls -A | wc -l) = 2"));
}

static void folder_goes_away(void)
{
	check(!mkdir("folder", 0700));
	open_data("folder/data", 4 * MIB);
	check(!rename("folder", "moved") && !mkdir("folder", 0700));
	use();
	elide_data_close();
	check(is_of("moved/.data.live", getpid()) && !rmdir("folder"));
}

/* There is no room in such a name for more bytes: the file has it from the start. */
static void long_name(void)
{
	char name[251], expect[270];

	memset(name, 'n', 250);
	name[250] = '\0';
	put_older(name, 0);
	open_data(name, MIB);
	check(is_of(name, getpid()));
	snprintf(expect, sizeof(expect), "%s.old", name);
	check(exists(expect));
	use();
	elide_data_close();
	check(is_of(name, getpid()) && !system("test $(ls -A | wc -l) = 2"));
}

/* After exec(): the file that the program before it wrote is of this very process. */
static void file_of_the_program_before(void)
{
	int go[2], status;
	char byte, expect[64];
	pid_t pid;

	check(!pipe(go));
	pid = fork();
	if (!pid) {
		open_data("data", MIB);
		munmap(elide_data, MIB); /* as exec() does */
		elide_data_forget();
		open_data("data", MIB);
		elide_data_close();
		check(write(go[1], "x", 1) == 1);
		_exit(0);
	}
	close(go[1]);
	check(read(go[0], &byte, 1) == 1 && waitpid(pid, &status, 0) == pid && !status);
	snprintf(expect, sizeof(expect), "data.%d", (int)pid);
	check(is_of("data", pid) && is_of(expect, pid) && !system("test $(ls -A | wc -l) = 2"));
}

/* The command that a service is stopped with must not take the name of what the service counted. */
static void idle_process_displaces_no_counts(void)
{
	put_ended("data", 0, 3, 5000);
	check(elide_data_open("data", 0, MIB, ELIDE_DATA_EXIT) == -EEXIST);
	check(!system("test $(ls -A | wc -l) = 1"));
	/* In a run of its own it does. */
	check(!elide_data_open("data", 42, MIB, ELIDE_DATA_EXIT));
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old"));
}

static void idle_process_displaces_an_idle_one(void)
{
	put_ended("data", 0, 0, 5000);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_EXIT));
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old"));
}

/* One that began before the other ended was beside it, and does not follow it. */
static void process_beside_an_ended_one(void)
{
	char expect[64];

	put_ended("data", 0, 3, 5000); /* it ended at 6000 */
	elide_data_start(5999, 0);
	open_data("data", MIB);
	elide_data_close();
	snprintf(expect, sizeof(expect), "data.%d", (int)getpid());
	check(is_of(expect, getpid()) && is_of("data", 0));
	munmap(elide_data, MIB);
	elide_data_forget();
	elide_data_start(6001, 0);
	open_data("data", MIB);
	elide_data_close();
	check(is_of("data", getpid()) && is_of("data.old", 0));
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
	memset(elide_data_chunk(ELIDE_CHUNK_MOMENTS, 48) + 1, 0x5a, ELIDE_CHUNK_SIZE - 64);
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

/* Set when the file was last written. */
static void set_age(const char *name, int seconds)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	check(!utimensat(AT_FDCWD, name, times, 0));
}

/* Of the files of children the oldest go, if their processes have ended, and none of another name. */
static void children_are_bounded(void)
{
	static const char *const stay[] = {"data", "dat.1", "data.1x", "data.x", "data.old", "data.2.base",
					   "data-%p.3", "edata.4"};
	struct elide_header h = {.magic = ELIDE_DATA_MAGIC, .state = ELIDE_FILE_CLOSED};
	char name[64];
	int fd;

	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		put_older(stay[i], 0);
		set_age(stay[i], 100000);
	}
	put("data.99", "my thesis");
	set_age("data.99", 100000);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	set_age(elide_data_path(), 100000);
	for (int i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), i % 2 ? "data.5000%d" : ".data.5000%d.live", i);
		h.dropped[ELIDE_DROPPED_FILES] = i == 3 ? 100 : 0;
		fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);
		check(fd >= 0 && write(fd, &h, sizeof(h)) == sizeof(h));
		close(fd);
		set_age(name, 1000 - i);
	}
	/* With the foreign and the live one there are 42. */
	check(!elide_children_bound("data", "/bin/x", 42));
	check(elide_children_bound("data", "/bin/x", 37) == 105);
	for (int i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), i % 2 ? "data.5000%d" : ".data.5000%d.live", i);
		check(exists(name) == (i > 5));
	}
	check(elide_children_bound("data", "/bin/x", 1) == 35);
	check(exists(elide_data_path()) && holds("data.99", "my thesis"));
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++)
		check(exists(stay[i]));
	check(!elide_children_bound("%e%p", "/bin/data", 1) && exists("data.1x"));
}

/* A process that has just created the file, and has no header yet. */
static void unfinished_file_is_left_alone(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char expect[64];
	int fd;

	put(".data.live", "");
	fd = open(".data.live", O_RDWR);
	check(!fcntl(fd, F_OFD_SETLK, &lock));
	open_data("data", MIB);
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && holds(".data.live", ""));
}

/* One that was killed then. */
static void unfinished_file_is_replaced(void)
{
	put(".data.live", "");
	open_data("data", MIB);
	check(is_of(".data.live", getpid()) && !system("test $(ls -A | wc -l) = 1"));
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

/* What the test must have said on stderr: nothing, or one line that begins so. */
static void said(const char *start)
{
	if (!start) {
		assert_string_equal(message, "");
		return;
	}
	if (strncmp(message, start, strlen(start)))
		fail_msg("said \"%s\" and not \"%s...\"", message, start);
	assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1);
}

#define TEST(name, words)                     \
	static void test_##name(void **state) \
	{                                     \
		in_child(name);               \
		said(words);                  \
	}

TEST(name_is_expanded, NULL)
TEST(mode_and_header, NULL)
TEST(older_becomes_old, NULL)
TEST(foreign_is_left_alone, "elide: data exists and is not a data file: left alone, nothing is saved\n")
TEST(foreign_old_is_left_alone, "elide: data.old exists and is not a data file: left alone, nothing is saved\n")
TEST(name_is_replaced_meanwhile, NULL)
TEST(older_is_put_there_meanwhile, NULL)
TEST(foreign_is_put_there_meanwhile, "elide: /tmp/elide-test-")
TEST(foreign_is_in_the_way_of_a_killed_process, "elide: data exists and is not a data file: left alone")
TEST(folder_goes_away, NULL)
TEST(long_name, NULL)
TEST(file_of_the_program_before, NULL)
TEST(idle_process_displaces_no_counts, NULL)
TEST(idle_process_displaces_an_idle_one, NULL)
TEST(process_beside_an_ended_one, NULL)
TEST(file_of_a_child_is_small, NULL)
TEST(file_of_a_child_on_a_full_disk, "elide: cannot extend /tmp/elide-test-")
TEST(unused_room_is_given_back, NULL)
TEST(children_are_bounded, NULL)
TEST(unfinished_file_is_replaced, NULL)
TEST(unfinished_file_is_left_alone, NULL)
TEST(symlink_is_not_followed, "elide: data exists and is not a data file")
TEST(directory_is_left_alone, "elide: data exists and is not a data file")
TEST(same_run_gets_its_pid, NULL)
TEST(live_file_gets_its_pid, NULL)
TEST(other_namespaces_file_is_left_alone, NULL)
TEST(killed_process_leaves_an_older_file, NULL)
TEST(child_gets_its_pid, NULL)
TEST(child_gets_a_number_again, NULL)
TEST(child_keeps_its_own_mapping, NULL)
TEST(processes_that_start_together, NULL)
TEST(idle_process_of_a_run_needs_none, NULL)
TEST(unwritable_directory, "elide: cannot write /proc/elide.data: ")
TEST(missing_directory, "elide: cannot write nowhere/data: No such file or directory; nothing is saved\n")
TEST(idle_process_writes_at_its_end, NULL)
TEST(idle_process_on_a_full_disk, "elide: cannot write /tmp/elide-test-")
TEST(size_limit_at_start, "elide: cannot extend /tmp/elide-test-")
TEST(size_limit_later, "elide: cannot extend /tmp/elide-test-")
TEST(grows_to_its_bound, NULL)
TEST(replaced_file_is_not_extended, "elide: cannot extend /tmp/elide-test-")
TEST(full_disk, "elide: cannot extend /tmp/elide-test-")
TEST(signals_do_not_end_the_file, NULL)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_is_expanded),
		cmocka_unit_test(test_mode_and_header),
		cmocka_unit_test(test_older_becomes_old),
		cmocka_unit_test(test_foreign_is_left_alone),
		cmocka_unit_test(test_foreign_old_is_left_alone),
		cmocka_unit_test(test_name_is_replaced_meanwhile),
		cmocka_unit_test(test_older_is_put_there_meanwhile),
		cmocka_unit_test(test_foreign_is_put_there_meanwhile),
		cmocka_unit_test(test_foreign_is_in_the_way_of_a_killed_process),
		cmocka_unit_test(test_folder_goes_away),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_file_of_the_program_before),
		cmocka_unit_test(test_idle_process_displaces_no_counts),
		cmocka_unit_test(test_idle_process_displaces_an_idle_one),
		cmocka_unit_test(test_process_beside_an_ended_one),
		cmocka_unit_test(test_file_of_a_child_is_small),
		cmocka_unit_test(test_file_of_a_child_on_a_full_disk),
		cmocka_unit_test(test_unused_room_is_given_back),
		cmocka_unit_test(test_children_are_bounded),
		cmocka_unit_test(test_unfinished_file_is_replaced),
		cmocka_unit_test(test_unfinished_file_is_left_alone),
		cmocka_unit_test(test_symlink_is_not_followed),
		cmocka_unit_test(test_directory_is_left_alone),
		cmocka_unit_test(test_same_run_gets_its_pid),
		cmocka_unit_test(test_live_file_gets_its_pid),
		cmocka_unit_test(test_other_namespaces_file_is_left_alone),
		cmocka_unit_test(test_killed_process_leaves_an_older_file),
		cmocka_unit_test(test_child_gets_its_pid),
		cmocka_unit_test(test_child_gets_a_number_again),
		cmocka_unit_test(test_child_keeps_its_own_mapping),
		cmocka_unit_test(test_processes_that_start_together),
		cmocka_unit_test(test_idle_process_of_a_run_needs_none),
		cmocka_unit_test(test_idle_process_writes_at_its_end),
		cmocka_unit_test(test_idle_process_on_a_full_disk),
		cmocka_unit_test(test_unwritable_directory),
		cmocka_unit_test(test_missing_directory),
		cmocka_unit_test(test_size_limit_at_start),
		cmocka_unit_test(test_size_limit_later),
		cmocka_unit_test(test_grows_to_its_bound),
		cmocka_unit_test(test_replaced_file_is_not_extended),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_signals_do_not_end_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
