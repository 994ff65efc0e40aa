// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lazy_binding.c - sections are the first to call a function of a library, which the
 * dynamic linker then looks for. Repaired: the same program, linked with -z now.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "planted.h"

struct field {
	long length;
	long nr;
} APART;

static pthread_mutex_t config_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct field fields[PLANTED_THREADS];
static const char *volatile text = "12, 34";
static const wchar_t *volatile wide = L"12, 34";

/* Built with -fno-builtin: each is a call. */
PLACE long parse(long which)
{
	switch (which % 16) {
	case 0: return strtol(text, NULL, 10);
	case 1: return strcspn(text, ",");
	case 2: return strspn(text, "123");
	case 3: return !!strpbrk(text, ",");
	case 4: return !!strstr(text, "34");
	case 5: return strnlen(text, 4);
	case 6: return strcasecmp(text, "12");
	case 7: return strncasecmp(text, "12", 2);
	case 8: return !!strrchr(text, '4');
	case 9: return !!memrchr(text, '4', 6);
	case 10: return wcslen(wide);
	case 11: return wcscspn(wide, L",");
	case 12: return wcstol(wide, NULL, 10);
	case 13: return !!wcschr(wide, L'4');
	case 14: return towupper(wide[0]);
	default: return strverscmp(text, "13");
	}
}

PLACE void read_field(struct field *field, long which)
{
	pthread_mutex_lock(&config_lock);
	field->length += parse(which);
	field->nr++;
	pthread_mutex_unlock(&config_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		read_field(&fields[w->thread], i);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, nr = 0;

	/* Both calls are known, so that only what the section does is not. */
	pthread_mutex_lock(&config_lock);
	pthread_mutex_unlock(&config_lock);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += fields[i].nr;
	return planted_end("fields", nr, rounds);
}
