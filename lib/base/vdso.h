/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vdso.h - the clocks, without libc's clock_gettime(), which another library may wrap.
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
 * Return: 0; -1 if that takes a system call, and none may be made or it fails.
 */
int elide_clock(clockid_t clock, struct timespec *ts);

/** elide_clock_ns() - elide_clock() in ns; UINT64_MAX if the clock cannot be read. */
uint64_t elide_clock_ns(clockid_t clock);

/**
 * elide_vdso_settle() - before a filter comes: stop using the vDSO's function if it makes system calls.
 *
 * It does so if user space cannot read the kernel's clock source, as "hpet".
 */
void elide_vdso_settle(void);

#pragma GCC visibility pop

#endif
