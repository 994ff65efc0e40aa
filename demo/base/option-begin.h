/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option-begin.h - the macros of options that who includes a list has not defined. A list includes it
 * first, and option-end.h last.
 */
#ifndef OPT_CHOICE
#define OPT_CHOICE(...)
#endif
#ifndef OPT_UINT
#define OPT_UINT(...)
#endif
#ifndef OPT_FLAG
#define OPT_FLAG(...)
#endif
#ifndef OPT_TEXT
#define OPT_TEXT(...)
#endif
