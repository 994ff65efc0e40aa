// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkdata.c - writes a made-up data file: mkdata FILE SCENARIO [RUN [PID]], or a large one:
 * mkdata FILE large CLASSES SITES
 * or one as "elide" of a process with a seccomp filter and lines it could not write: mkdata FILE unsaid
 *
 * Must never be taken for a measurement: see synth.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* The last of the lines has what must reach no terminal, and no end in its array. */
static void unsaid(const char *path)
{
	static const char last[] = "cannot write \033]0;title\007 <b>&";
	struct elide_header *h;
	struct synth s;

	synth_make(&s, SYNTH_ELIDE, 0, 4242);
	h = synth_header(&s);
	h->filter = 1;
	h->nr_unsaid = 2;
	memset(h->unsaid, 'z', sizeof(h->unsaid));
	memcpy(h->unsaid, last, sizeof(last) - 1);
	synth_write(&s, path, s.size);
	synth_free(&s);
}

int main(int argc, char **argv)
{
	uint64_t run = argc > 3 ? strtoull(argv[3], NULL, 16) : 0;
	uint32_t pid = argc > 4 ? strtoul(argv[4], NULL, 10) : 4242;

	if (argc == 5 && !strcmp(argv[2], "large")) {
		synth_large(argv[1], strtoul(argv[3], NULL, 10), pid);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[2], "unsaid")) {
		unsaid(argv[1]);
		return 0;
	}
	for (int i = 0; argc > 2 && i < SYNTH_NR; i++) {
		struct synth s;

		if (strcmp(argv[2], synth_names[i]))
			continue;
		synth_make(&s, i, run, pid);
		synth_write(&s, argv[1], s.size);
		synth_free(&s);
		return 0;
	}
	fprintf(stderr, "usage: mkdata FILE elide|profile|killed|idle|full|later [RUN [PID]]\n"
			"       mkdata FILE large CLASSES SITES\n"
			"       mkdata FILE unsaid\n");
	return 2;
}
