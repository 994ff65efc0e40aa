/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fatal.h - the end of the program where a transaction can neither go on nor roll back.
 */
#ifndef DEMO_TATP_FATAL_H
#define DEMO_TATP_FATAL_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/**
 * fatal_io() - print what could not be read or written, and end the program
 * @what: the page, the log or the volume
 * @nr: number of the page, or position in the log
 * @err: a negative errno value
 */
static inline void __attribute__((noreturn, cold)) fatal_io(const char *what, uint64_t nr, int err)
{
	fprintf(stderr, "tatp_bench: %s %llu: %s\n", what, (unsigned long long)nr,
		err == -EBADMSG ? "is damaged" : strerror(-err));
	_exit(1);
}

#endif
