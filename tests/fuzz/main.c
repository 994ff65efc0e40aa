// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - replays the files named on the command line through a fuzz target. */
#include <stdio.h>

#include "fuzz.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static uint8_t bytes[1 << 20];
		FILE *f = fopen(argv[i], "rb");
		uint8_t *exact;
		size_t size;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		/* Of the very size, so that a read beyond its end is seen. */
		exact = malloc(size ? size : 1);
		must(exact != NULL);
		for (size_t at = 0; at < size; at++)
			exact[at] = bytes[at];
		LLVMFuzzerTestOneInput(exact, size);
		free(exact);
	}
	return 0;
}
