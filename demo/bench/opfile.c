// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opfile.c - reads, checks and writes operation files (see opfile.h).
 *
 * Each error is one line on stderr that names the file and the place in it.
 */
#include "opfile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * struct header - the first 24 bytes of a binary file
 * @magic: MAGIC
 * @order: ORDER, which shows the byte order
 * @nr: number of records behind the header
 */
struct header {
	char magic[8];
	uint64_t order;
	uint64_t nr;
};

#define MAGIC "indexop\n"
#define ORDER 0x0102030405060708u
_Static_assert(sizeof(struct header) == sizeof(struct record), "records are aligned");

static int __attribute__((format(printf, 2, 3))) complain(const char *name, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "index_bench: %s", name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return -EINVAL;
}

static void name_of(char *name, const char *folder, unsigned int number, const char *suffix)
{
	snprintf(name, OPFILE_NAME_LEN, "%s/%u.%s", folder, number, suffix);
}

static bool known(uint64_t op)
{
	return op == OPFILE_INSERT || op == OPFILE_SEARCH || op == OPFILE_DELETE;
}

static int check_binary(struct opfile *file, const char *name)
{
	const struct header *header = file->map;
	uint64_t bytes;

	if (header->order != ORDER)
		return complain(name, ": of a machine with another byte order");
	if (__builtin_mul_overflow(header->nr, sizeof(struct record), &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*header), &bytes) || bytes != file->bytes)
		return complain(name, ": truncated or too long: %zu bytes do not fit its %" PRIu64
				" operations", file->bytes, header->nr);
	file->records = (const struct record *)(header + 1);
	file->nr = header->nr;
	for (uint64_t i = 0; i < file->nr; i++) {
		uint64_t op = file->records[i].op;

		if (!known(op))
			return complain(name, ": operation %" PRIu64 ": %#" PRIx64
					" is none of the letters I, S and D", i, op);
		file->nr_of[op]++;
	}
	return 0;
}

/*
 * struct text - a text file that is parsed
 * @name: its name
 * @at: where the parser is
 * @end: end of the text
 * @line: number of the line, from 1
 */
struct text {
	const char *name;
	const char *at, *end;
	uint64_t line;
};

/* Copy the next word of the line, cut at @len. Returns its length, 0 at the end of the line. */
static size_t word(struct text *t, char *to, size_t len)
{
	size_t nr = 0;

	while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r'))
		t->at++;
	for (; t->at < t->end && !isspace((unsigned char)*t->at); t->at++)
		if (nr + 1 < len)
			to[nr++] = *t->at;
	to[nr] = '\0';
	return nr;
}

static int parse_key(struct text *t, const char *word, int64_t *key)
{
	char *end;

	errno = 0;
	*key = strtoll(word, &end, 10);
	if (!*end && !errno && (isdigit((unsigned char)*word) || *word == '-'))
		return 0;
	return complain(t->name, ":%" PRIu64 ": key %s: must be a number from %" PRId64 " to %"
			PRId64, t->line, word, INT64_MIN, INT64_MAX);
}

static int parse_value(struct text *t, const char *word, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	if (!*end && !errno && isdigit((unsigned char)*word))
		return 0;
	return complain(t->name, ":%" PRIu64 ": value %s: must be a number from 0 to %" PRIu64,
			t->line, word, UINT64_MAX);
}

/* Parse a line. Returns 1 with a record, 0 for a comment, -EINVAL after a message. */
static int parse_line(struct text *t, struct record *record)
{
	/* Room for the digits of a number, so that what does not fit is shown in part. */
	char op[24], key[24], value[24], more[24];

	if (!word(t, op, sizeof(op)))
		return 0;
	if (*op == '#') {
		while (t->at < t->end && *t->at != '\n')
			t->at++;
		return 0;
	}
	if (op[1] || !known((unsigned char)*op))
		return complain(t->name, ":%" PRIu64 ": %s is none of the letters I, S and D",
				t->line, isprint((unsigned char)*op) ? op : "a byte");
	if (!word(t, key, sizeof(key)) || !word(t, value, sizeof(value)) ||
	    word(t, more, sizeof(more)))
		return complain(t->name, ":%" PRIu64 ": must be a letter, a key and a value",
				t->line);
	record->op = (unsigned char)*op;
	return parse_key(t, key, &record->key) || parse_value(t, value, &record->value) ? -EINVAL :
											   1;
}

/* Parse the text of @file->map, which is replaced by an array of records. */
static int parse_text(struct opfile *file, const char *name)
{
	struct text t = { .name = name, .at = file->map, .line = 1 };
	struct record *records;
	uint64_t lines = 1;
	int ret = 0;

	t.end = t.at + file->bytes;
	for (const char *p = t.at; p < t.end; p++)
		lines += *p == '\n';
	records = malloc(lines * sizeof(*records));
	if (!records)
		return complain(name, ": out of memory");
	for (; t.at < t.end && ret >= 0; t.line++) {
		ret = parse_line(&t, &records[file->nr]);
		if (ret > 0)
			file->nr_of[records[file->nr++].op]++;
		t.at += t.at < t.end;
	}
	munmap(file->map, file->bytes);
	file->map = NULL;
	file->records = records;
	if (ret >= 0 && file->nr == 0)
		return complain(name, ": has no operation");
	return ret < 0 ? ret : 0;
}

/* The first characters that a text file may have. */
static bool looks_like_text(const char *text)
{
	return isspace((unsigned char)*text) || *text == '#' || isalpha((unsigned char)*text);
}

static int map_file(struct opfile *file, const char *name, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return complain(name, ": %s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return complain(name, ": not a regular file");
	if (!st.st_size)
		return complain(name, ": empty");
	file->bytes = (size_t)st.st_size;
	file->map = mmap(NULL, file->bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (file->map != MAP_FAILED)
		return 0;
	file->map = NULL;
	return complain(name, ": %s", strerror(errno));
}

/**
 * opfile_exists() - true if a folder has the file of a number
 * @folder: the folder
 * @number: number of the file
 */
bool opfile_exists(const char *folder, unsigned int number)
{
	char name[OPFILE_NAME_LEN];

	name_of(name, folder, number, "ops");
	if (!access(name, F_OK))
		return true;
	name_of(name, folder, number, "txt");
	return !access(name, F_OK);
}

/**
 * opfile_open() - read and check a file
 * @file: receives the operations; call opfile_close() in any case
 * @folder: the folder
 * @number: number of the file
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int opfile_open(struct opfile *file, const char *folder, unsigned int number)
{
	char name[OPFILE_NAME_LEN];
	int fd, ret;

	*file = (struct opfile){ .nr = 0 };
	name_of(name, folder, number, "ops");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		name_of(name, folder, number, "txt");
		fd = open(name, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return complain(name, ": %s", strerror(errno));
	ret = map_file(file, name, fd);
	close(fd);
	if (ret)
		return ret;
	if (file->bytes >= sizeof(struct header) && !memcmp(file->map, MAGIC, strlen(MAGIC)))
		return check_binary(file, name);
	if (!memcmp(file->map, MAGIC, file->bytes < strlen(MAGIC) ? file->bytes : strlen(MAGIC)))
		return complain(name, ": truncated: %zu bytes", file->bytes);
	if (!looks_like_text(file->map))
		return complain(name, ": of another format");
	return parse_text(file, name);
}

/**
 * opfile_close() - free the memory of a file
 * @file: the file
 */
void opfile_close(struct opfile *file)
{
	if (file->map)
		munmap(file->map, file->bytes);
	else
		free((void *)(uintptr_t)file->records);
	*file = (struct opfile){ .nr = 0 };
}

/*
 * struct opfile_writer - a binary file that is written
 * @to: the file
 * @name: its name
 */
struct opfile_writer {
	FILE *to;
	char name[OPFILE_NAME_LEN];
};

/**
 * opfile_create() - begin a binary file
 * @folder: the folder
 * @number: number of the file
 * @nr: number of operations that opfile_add() will add
 *
 * Return: the writer, or NULL after one line on stderr.
 */
struct opfile_writer *opfile_create(const char *folder, unsigned int number, uint64_t nr)
{
	struct opfile_writer *writer = malloc(sizeof(*writer));
	struct header header = { .order = ORDER, .nr = nr };

	if (!writer) {
		complain(folder, ": out of memory");
		return NULL;
	}
	/* A string without its end, which compilers warn of where it initializes. */
	memcpy(header.magic, MAGIC, sizeof(header.magic));
	name_of(writer->name, folder, number, "ops");
	writer->to = fopen(writer->name, "wxe");
	if (!writer->to) {
		complain(writer->name, ": %s", strerror(errno));
		free(writer);
		return NULL;
	}
	fwrite(&header, sizeof(header), 1, writer->to);
	return writer;
}

/**
 * opfile_add() - add an operation
 * @writer: the file
 * @op: the letter
 * @key: the key
 * @value: its value
 */
void opfile_add(struct opfile_writer *writer, char op, int64_t key, uint64_t value)
{
	struct record record = { (unsigned char)op, key, value };

	fwrite(&record, sizeof(record), 1, writer->to);
}

/**
 * opfile_finish() - end a file
 * @writer: the file, which is freed
 *
 * Return: 0, or -EIO after one line on stderr if any part could not be written.
 */
int opfile_finish(struct opfile_writer *writer)
{
	bool bad = ferror(writer->to);
	int err = 0;

	if (fclose(writer->to) || bad) {
		complain(writer->name, ": %s", errno ? strerror(errno) : "cannot be written");
		err = -EIO;
	}
	free(writer);
	return err;
}

/**
 * opfile_remove() - remove a binary file, if it is there
 * @folder: the folder
 * @number: number of the file
 */
void opfile_remove(const char *folder, unsigned int number)
{
	char name[OPFILE_NAME_LEN];

	name_of(name, folder, number, "ops");
	unlink(name);
}
