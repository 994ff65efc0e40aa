/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conform.h - the parts of the conformance program, each of which prints its cases.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stddef.h>

#include "script.h"

/** struct row - a script and its name. */
struct row {
	const char *name;
	const char *script;
};

/**
 * new_subject() - one at an address that no other case has had.
 * @clock: of deadlines where a call has no argument for it
 * @shared: in memory that is shared with other processes
 */
struct subject *new_subject(clockid_t clock, bool shared);

/* What a mutex is, by its attributes. */
#define NORMAL     1u /* also the default type, and the adaptive one of glibc */
#define RECURSIVE  2u
#define ERRORCHECK 4u
#define ANY_TYPE   7u
#define ROBUST     8u
#define STALLED    16u
#define PI         32u
#define NO_PI      64u
#define ANY        (ANY_TYPE | ROBUST | STALLED | PI | NO_PI)

/**
 * mutex_init_as() - initialise a mutex with the combination of attributes of that number, from 0.
 * @is: receives what it is, for the scripts that fit
 * @about: receives the attributes' names
 *
 * Return: 0, an error of pthread_mutex_init(), -1 after the last.
 */
int mutex_init_as(unsigned int number, pthread_mutex_t *m, unsigned int *is, char *about,
		  size_t size);

/** mutex_init_by_name() - the same with those attributes. */
int mutex_init_by_name(const char *name, pthread_mutex_t *m, unsigned int *is);

void conform_mutex(void);
void conform_rwlock(void);
void conform_spin(void);
void conform_cond(void);
void conform_c11(void);

#endif
