/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - the stack that the program begins with; see image.c.
 *
 * Must never be needed by code that runs later than startup.c.
 */
#ifndef RTMGRIND_IMAGE_H
#define RTMGRIND_IMAGE_H

#include "rtmgrind.h"

/* include/uapi/linux/auxvec.h */
#define AT_NULL 0
#define AT_IGNORE 1
#define AT_PHDR 3
#define AT_PHNUM 5
#define AT_BASE 7
#define AT_ENTRY 9
#define AT_PLATFORM 15
#define AT_HWCAP 16
#define AT_RANDOM 25
#define AT_EXECFN 31

/* Bytes that the length of a padded name is a multiple of; names of files are mostly shorter. */
#define PADDED 512

SizeT image_pad_name(HChar *to, const HChar *name, SizeT length);
const UWord *image_lay_out(ThreadId tid);
void image_restore(void);

#endif
