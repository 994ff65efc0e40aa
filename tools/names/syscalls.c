// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscalls.c - names of system calls.
 *
 * Must never list a system call: syscalls.inc is made from <asm/unistd_64.h>.
 */
#include <stddef.h>

#include "../../lib/compiler.h"
#include "syscalls.h"

static const char *const names[] = {
#define SYSCALL(name, nr) [nr] = #name,
#include "syscalls.inc"
#undef SYSCALL
};

const char *syscall_name(int nr)
{
	return nr >= 0 && (unsigned int)nr < ARRAY_SIZE(names) ? names[nr] : NULL;
}
