/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * member.h - the type and the member that a lock is, by the types that the function which locks it knows.
 */
#ifndef ELIDE_MEMBER_H
#define ELIDE_MEMBER_H

#include <elfutils/libdw.h>
#include <stdbool.h>

/* Members that a lock may be: a function that knows more of them says nothing. Chosen. */
#define MEMBERS_MAX 8

/**
 * struct members - what a lock may be, by all functions that lock it; all zero: nothing is known yet.
 * @known: a function has said something
 * @names: "Queue::m"; @nr of them
 */
struct members {
	bool known;
	size_t nr;
	char *names[MEMBERS_MAX];
};

/**
 * members_of_function() - leave the members that a function may lock.
 * @function: DWARF entry of it, or of a place where it is inlined
 * @kind: enum elide_kind of the lock's class
 * @members: what other functions have said
 *
 * Its parameters and variables are searched for members that are locks, through one pointer or reference; if
 * that finds none, through up to three. A lock that types of the standard library wrap is the member of the
 * type around them, as is one that is all of a type whose name is that of a kind of lock.
 *
 * Return: false if it says nothing: it is passed a lock, or no structure with one. Then its caller may.
 */
bool members_of_function(Dwarf_Die *function, unsigned int kind, struct members *members);

/** members_take() - the lock is not the member of that name. */
void members_take(struct members *members, const char *name);

/** members_free() - release the names. */
void members_free(struct members *members);

/** member_in_header() - is it a header of the system, or of Rust's std or locks? @file: as the compiler wrote it */
bool member_in_header(const char *file);

#endif
