/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hle.h - hardware lock elision: XACQUIRE and XRELEASE; see hle.c.
 *
 * Must never be needed to tell whether a transaction is open.
 */
#ifndef RTMGRIND_HLE_H
#define RTMGRIND_HLE_H

#include "decode.h"

enum hle_insn { HLE_NONE, HLE_XACQUIRE, HLE_XRELEASE };

/* The instruction that the running thread executes elides its write. */
extern Bool hle_elides;

void hle_init(UInt nr_threads);
enum hle_insn hle_recognise(const struct decoded *insn);
Bool hle_is_immediate(const struct decoded *insn);
UInt hle_width(const struct decoded *insn);

void hle_acquire(VexGuestAMD64State *guest, Addr pc);
void hle_release(Addr pc);
void hle_write(Addr addr, UWord size);
void hle_finish(Addr pc);

void hle_check_store(ThreadId tid, Addr addr, SizeT size);
void hle_hide(ThreadId tid, Addr line, UChar *copy);
void hle_rollback(ThreadId tid);
void hle_park(ThreadId tid);
void hle_unpark(ThreadId tid);
void hle_forget(ThreadId tid);

#endif
