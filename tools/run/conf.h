/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf.h - files of settings: elide report --suggest writes them, elide run --conf reads them.
 *
 *   # a comment
 *   build-id OBJECT HEX    of an object the settings were made for
 *   NAME = VALUE           as elide run --set takes it; LD_BIND_NOW too
 *
 * Must never interpret a setting: see settings.h.
 */
#ifndef ELIDE_CONF_H
#define ELIDE_CONF_H

/**
 * conf_read() - read a file of settings.
 * @elf: the program that will run, NULL if it is not known
 * @quiet: say nothing about objects
 * @set: called with each setting; @where is "FILE:LINE"
 *
 * Warns of objects other than those the file was made for. An invalid line is left out with one message.
 *
 * Return: 0, or -errno if it cannot be read.
 */
int conf_read(const char *path, const char *elf, int quiet,
	      void (*set)(void *arg, const char *where, const char *name, const char *value),
	      void *arg);

#endif
