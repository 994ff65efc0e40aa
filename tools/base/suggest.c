// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * suggest.c - the valid name that is nearest to a wrong one.
 *
 * Must never allocate.
 */
#include <ctype.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "suggest.h"

/* Bytes of a word that count; every name and value here is shorter. */
#define LONGEST 63

unsigned int suggest_distance(const char *a, const char *b)
{
	/* Wagner & Fischer (1974): above[j] is the distance of a's first i to b's first j bytes. */
	unsigned int above[LONGEST + 1], here[LONGEST + 1];
	size_t la = strnlen(a, LONGEST), lb = strnlen(b, LONGEST);

	for (size_t j = 0; j <= lb; j++)
		above[j] = j;
	for (size_t i = 1; i <= la; i++) {
		here[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			int differ = tolower((unsigned char)a[i - 1]) !=
				     tolower((unsigned char)b[j - 1]);
			unsigned int least = above[j - 1] + differ;

			if (least > above[j] + 1)
				least = above[j] + 1;
			if (least > here[j - 1] + 1)
				least = here[j - 1] + 1;
			here[j] = least;
		}
		memcpy(above, here, sizeof(above));
	}
	return above[lb];
}

const char *suggest(const char *word, const char *const *names, size_t nr)
{
	const char *best = names[0];
	unsigned int least = suggest_distance(word, best);

	for (size_t i = 1; i < nr; i++) {
		unsigned int d = suggest_distance(word, names[i]);

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
