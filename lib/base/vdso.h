/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vdso.h - the clocks, without libc's clock_gettime(), which another library may stand in front of.
 */
#ifndef ELIDE_VDSO_H
#define ELIDE_VDSO_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/**
 * elide_vdso_start() - find the kernel's function for clock_gettime(2) in the vDSO.
 * @base: where the vDSO is mapped (AT_SYSINFO_EHDR), 0: nowhere, as under Valgrind
 */
void elide_vdso_start(uintptr_t base);

/**
 * elide_clock() - as clock_gettime(2): by the vDSO, else by the system call.
 *
 * Return: 0; -1 where that takes a system call and none may be made.
 */
int elide_clock(clockid_t clock, struct timespec *ts);

/** elide_clock_ns() - the same in ns; UINT64_MAX where it cannot be asked. */
uint64_t elide_clock_ns(clockid_t clock);

/**
 * elide_vdso_settle() - before a filter comes: is the vDSO's function free of system calls?
 *
 * Where the kernel's clock source is one that user space cannot read, as "hpet", it makes the
 * system call itself: then it is not called any more.
 */
void elide_vdso_settle(void);

#pragma GCC visibility pop

#endif
