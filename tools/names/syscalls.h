/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscalls.h - names of system calls; the build makes the list from the kernel's header.
 *
 * Must never list a system call.
 */
#ifndef ELIDE_SYSCALLS_H
#define ELIDE_SYSCALLS_H

/** syscall_name() - the name of a system call's number on x86-64; NULL if it is unknown. */
const char *syscall_name(int nr);

#endif
