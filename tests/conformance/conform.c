/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conform.c - conform [PART...]: what each lock call answers with each combination of the
 * lock's attributes: errors, deadlines on every clock, owners that end. A line for each case.
 * It is the same whether the locks are elided, counted, or left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../lib/compiler.h"
#include "conform.h"

/* Of the cases of a part; each has a lock of its own. */
#define MAX_SUBJECTS 2048

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"mutex", conform_mutex}, {"rwlock", conform_rwlock}, {"spin", conform_spin},
	{"cond", conform_cond}, {"c11", conform_c11},
};

struct subject *new_subject(clockid_t clock, bool shared)
{
	static struct {
		struct subject *subjects;
		unsigned int nr;
	} rooms[2];
	struct subject **subjects = &rooms[shared].subjects, *s;

	/* There from the start: in a transaction the first touch of a page would abort it. */
	if (!*subjects)
		*subjects = mmap(NULL, MAX_SUBJECTS * sizeof(*s), PROT_READ | PROT_WRITE,
				 (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_POPULATE,
				 -1, 0);
	if (*subjects == MAP_FAILED || rooms[shared].nr == MAX_SUBJECTS)
		abort();
	s = &(*subjects)[rooms[shared].nr++];
	s->clock = clock;
	return s;
}

int main(int argc, char **argv)
{
	/* What came before a script that hangs is there to read. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		bool wanted = argc < 2;

		for (int j = 1; j < argc; j++)
			wanted |= !strcmp(argv[j], parts[i].name);
		if (wanted)
			parts[i].run();
	}
	return fflush(stdout) != 0;
}
