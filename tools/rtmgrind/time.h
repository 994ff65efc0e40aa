/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time.h - clocks, sleeps, and conversion to virtual time; see time.c.
 *
 * Must never read a clock of the host.
 */
#ifndef RTMGRIND_TIME_H
#define RTMGRIND_TIME_H

#include "rtmgrind.h"

Long time_base(Int clock);
Long time_cpu_cycles(Bool process);
Long time_after(Long cycles);
Long time_ns(Long cycles);
Bool time_cpu_clock(Int clock, ThreadId *tid);
Long time_cpu(ThreadId tid);
Long time_cycles(ULong seconds, ULong ns);
Long time_never(Long cycles);
Long time_saturated_ns(Long seconds, Long ns);
Bool time_valid_spec(const struct vki_itimerspec *spec);
void time_read_date(struct vki_timespec *ts);
Bool time_read_timeout(Addr timespec, Long *deadline);
Bool time_read_deadline(Int clock, Addr timespec, Long *deadline);
enum syscall_verdict time_call(VexGuestAMD64State *guest, Bool *ours);

#endif
