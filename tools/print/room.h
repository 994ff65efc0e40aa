/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room.h - which setting, and which number, makes room for what was not counted. */
#ifndef ELIDE_ROOM_H
#define ELIDE_ROOM_H

#include <stddef.h>

#include "../model/load.h"

/**
 * room_text() - what to set for something that was beyond a limit.
 * @what: enum elide_dropped
 * @text: set to words that follow "beyond the limit of ...": "; set ELIDE_NAME=NUMBER ..."
 *
 * The file does not have the limits of its process: the numbers come from what is in it.
 */
void room_text(const struct data_file *file, unsigned int what, char *text, size_t size);

#endif
