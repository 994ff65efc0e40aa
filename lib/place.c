/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * place.c - is an address in a thread's stack or in the heap? From /proc/self/maps.
 *
 * What was read is kept, and read again when an address is in none of it.
 * Memory that was a stack and is heap now is told as what it was.
 */
#include <string.h>

#include "evidence.h"
#include "syscalls.h"

/* Anonymous mappings remembered; a program with more has some of unknown kind. */
#define MAX_RANGES 512

/* Times the file is read: addresses that stay unknown must not cost a system call each for ever. */
#define MAX_READS 1000

struct range {
	uint64_t start, end;
	enum elide_data_type type;
};

static struct range ranges[MAX_RANGES];
static uint32_t nr_ranges, nr_reads;

static bool has_stack(uint64_t start, uint64_t end)
{
	for (const struct elide_thread *t = elide_threads_all(); t; t = t->next)
		if (t->stack_at >= start && t->stack_at < end)
			return true;
	return false;
}

static uint64_t parse_hex(const char **at)
{
	uint64_t value = 0;

	for (;; (*at)++) {
		if (**at >= '0' && **at <= '9')
			value = value * 16 + (**at - '0');
		else if (**at >= 'a' && **at <= 'f')
			value = value * 16 + (**at - 'a' + 10);
		else
			return value;
	}
}

/* START-END PERMISSIONS OFFSET DEVICE INODE [NAME] */
static void add_line(const char *line)
{
	uint64_t start = parse_hex(&line), end;
	const char *name = line;
	bool stack;

	if (*line++ != '-')
		return;
	end = parse_hex(&line);
	name = line;
	for (int fields = 0; fields < 3 && name; fields++)
		name = strchr(name + 1, ' ');
	/* A file's mapping has an inode. */
	if (!name || name[1] != '0' || nr_ranges == MAX_RANGES)
		return;
	name += 2;
	while (*name == ' ')
		name++;
	stack = !strcmp(name, "[stack]") || has_stack(start, end);
	if (*name && !stack && strcmp(name, "[heap]") && strncmp(name, "[anon", 5))
		return;
	ranges[nr_ranges++] = (struct range){start, end, stack ? ELIDE_DATA_STACK : ELIDE_DATA_HEAP};
}

static void read_maps(void)
{
	static char buffer[4096];
	size_t have = 0;
	ssize_t n;
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);

	nr_reads++;
	nr_ranges = 0;
	if (fd < 0)
		return;
	while ((n = sys_read(fd, buffer + have, sizeof(buffer) - have)) > 0) {
		char *line = buffer, *end;

		have += n;
		while ((end = memchr(line, '\n', buffer + have - line))) {
			*end = '\0';
			add_line(line);
			line = end + 1;
		}
		have = buffer + have - line;
		/* Names are cut off by nobody: a line that does not fit is a file's. */
		if (have == sizeof(buffer))
			have = 0;
		memmove(buffer, line, have);
	}
	sys_close(fd);
}

enum elide_data_type elide_place(uint64_t address)
{
	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < nr_ranges; i++)
			if (address >= ranges[i].start && address < ranges[i].end)
				return ranges[i].type;
		if (again || nr_reads >= MAX_READS)
			break;
		read_maps();
	}
	return ELIDE_DATA_UNKNOWN;
}
