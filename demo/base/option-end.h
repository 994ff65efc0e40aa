/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option-end.h - ends a list of options: see option-begin.h. */
#undef OPT_CHOICE
#undef OPT_UINT
#undef OPT_FLAG
#undef OPT_TEXT
