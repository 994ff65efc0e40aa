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
	long n;

	switch (which % 16) {
	case 0:
		n = strtol(text, NULL, 10);
		break;
	case 1:
		n = strcspn(text, ",");
		break;
	case 2:
		n = strspn(text, "123");
		break;
	case 3:
		n = !!strpbrk(text, ",");
		break;
	case 4:
		n = !!strstr(text, "34");
		break;
	case 5:
		n = strnlen(text, 4);
		break;
	case 6:
		n = strcasecmp(text, "12");
		break;
	case 7:
		n = strncasecmp(text, "12", 2);
		break;
	case 8:
		n = !!strrchr(text, '4');
		break;
	case 9:
		n = !!memrchr(text, '4', 6);
		break;
	case 10:
		n = wcslen(wide);
		break;
	case 11:
		n = wcscspn(wide, L",");
		break;
	case 12:
		n = wcstol(wide, NULL, 10);
		break;
	case 13:
		n = !!wcschr(wide, L'4');
		break;
	case 14:
		n = towupper(wide[0]);
		break;
	default:
		n = strverscmp(text, "13");
	}
	return n + which;
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
