/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room.h - which setting, with which number, makes room for data that were not counted. */
#ifndef ELIDE_ROOM_H
#define ELIDE_ROOM_H

#include <stddef.h>

#include "../model/load.h"

/**
 * room_text() - the setting for data that were beyond a limit.
 * @what: enum elide_dropped
 * @text: set to words that follow "beyond the limit of ...": "; set ELIDE_NAME=NUMBER ..."
 *
 * The file does not have the limits of its process, so the number comes from the size of its contents.
 */
void room_text(const struct data_file *file, unsigned int what, char *text, size_t size);

#endif
