/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data-folder.h - tests of the data file, each in a child and in a directory of its own.
 *
 * TESTS(T) of the file that includes it lists them: T(NAME, WORDS), where WORDS is what the only line on
 * standard error begins with, or NULL.
 */
#ifndef TESTS_UNIT_DATA_FOLDER_H
#define TESTS_UNIT_DATA_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "child.h"

#define SKIPPED 77

static char message[2048];

/* Run @test in a child inside a fresh directory; what it says on stderr comes back in @message. */
static inline void in_child(void (*test)(void))
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

static inline void open_data(const char *name, size_t max)
{
	check(!elide_data_open(name, 0, max, ELIDE_DATA_FIRST));
	check(elide_data && elide_data->magic == ELIDE_DATA_MAGIC);
	check(elide_data->pid == (uint32_t)getpid());
}

static inline void put(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	check(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static inline bool holds(const char *name, const char *text)
{
	char buffer[64] = "";
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer) - 1);

	close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(buffer, text);
}

static inline bool exists(const char *name)
{
	struct stat st;

	return !lstat(name, &st);
}

/* Is the data file that has the name that of process @pid? */
static inline bool is_of(const char *name, pid_t pid)
{
	struct elide_header h = {0};
	int fd = open(name, O_RDONLY);

	check(fd < 0 || read(fd, &h, sizeof(h)) == sizeof(h));
	close(fd);
	return fd >= 0 && h.magic == ELIDE_DATA_MAGIC && h.pid == (uint32_t)pid;
}

/* A data file that a process which has ended left behind, @threads of which took locks. */
static inline void put_ended(const char *name, uint64_t run, uint32_t threads, uint64_t end_ns)
{
	struct elide_header h = {.magic = ELIDE_DATA_MAGIC, .state = ELIDE_FILE_CLOSED, .run = run,
				 .nr_threads = threads, .start_realtime_ns = 1000,
				 .end_ns = end_ns};
	int fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);

	check(fd >= 0 && write(fd, &h, sizeof(h)) == sizeof(h));
	close(fd);
}

static inline void put_older(const char *name, uint64_t run)
{
	put_ended(name, run, 1, 0);
}

/* The file can be used in memory whatever became of it on disk. */
static inline void use(void)
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
static inline unsigned int fill(void)
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

/* What the test must have said on stderr: nothing, or one line that begins so. */
static inline void said(const char *start)
{
	if (!start) {
		assert_string_equal(message, "");
		return;
	}
	if (strncmp(message, start, strlen(start)))
		fail_msg("said \"%s\" and not \"%s...\"", message, start);
	assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1);
}

/* The tests of TESTS() as functions for cmocka, and its entries of them. */
#define DATA_TEST(name, words)                \
	static void test_##name(void **state) \
	{                                     \
		in_child(name);               \
		said(words);                  \
	}
#define DATA_ENTRY(name, words) cmocka_unit_test(test_##name),

#endif
