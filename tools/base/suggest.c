// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * suggest.c - the valid name that is nearest to a wrong one.
 *
 * Must never allocate.
 */
#include <ctype.h>
#include <stdio.h>
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

/* Letters that two words begin with, whatever their case. */
static size_t common_start(const char *a, const char *b)
{
	size_t nr = 0;

	while (a[nr] && tolower((unsigned char)a[nr]) == tolower((unsigned char)b[nr]))
		nr++;
	return nr;
}

/*
 * The distance of a name from a word. A common start of START_MIN letters outweighs what is missing at
 * the end, because people write the beginning of a long name.
 */
#define START_MIN 3

static int remoteness(const char *word, const char *name)
{
	size_t start = common_start(word, name);

	return (int)suggest_distance(word, name) - (start >= START_MIN ? 2 * (int)start : 0);
}

const char *suggest_words(const char *word, const char *before, const char *const *names, size_t nr,
			  char *to, size_t size)
{
	const char *best = suggest(word, names, nr);
	size_t len = strlen(word);

	*to = '\0';
	if (common_start(word, best) >= START_MIN || 2 * suggest_distance(word, best) <= len + 1)
		snprintf(to, size, ", nearest is %s%s", before, best);
	return to;
}

const char *suggest(const char *word, const char *const *names, size_t nr)
{
	const char *best = names[0];
	int least = remoteness(word, best);

	for (size_t i = 1; i < nr; i++) {
		int d = remoteness(word, names[i]);

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
