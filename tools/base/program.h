/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - what a program's file says of it before it is started.
 *
 * Must never start the program.
 */
#ifndef ELIDE_PROGRAM_H
#define ELIDE_PROGRAM_H

#include <limits.h>
#include <stddef.h>

/**
 * struct program - a program, and the ELF file that the kernel will load for it.
 * @path:       as found
 * @elf:        the file loaded: the program, or the interpreter of a script
 * @is_script:  the program begins with #!
 * @is_elf:     @elf is an ELF file; otherwise the following members are unknown
 * @is_amd64:   64-bit code for x86-64, the only kind into which the library can be loaded
 * @is_32bit:   ELF class 32
 * @is_static:  has no loader, so that nothing is preloaded
 * @is_musl:    its loader is that of musl
 * @is_go:      linked by Go's linker, also with C code and a loader
 * @is_privileged: this user gains privileges by executing it (setuid, setgid, file capabilities),
 *              so that the loader ignores LD_PRELOAD
 * @sanitizer: name of the runtime of AddressSanitizer or ThreadSanitizer that it needs; empty if it
 *            needs none
 */
struct program {
	char sanitizer[64];
	char path[PATH_MAX];
	char elf[PATH_MAX];
	int is_script;
	int is_elf;
	int is_amd64;
	int is_32bit;
	int is_static;
	int is_musl;
	int is_go;
	int is_privileged;
};

/**
 * program_find() - find a program as execvp(3) does.
 * @path: PATH_MAX bytes
 *
 * Return: 0; -ENOENT; -EACCES if it cannot be executed.
 */
int program_find(const char *name, char *path);

/**
 * program_inspect() - fill @p for the program at @path.
 *
 * Return: 0 or -errno.
 */
int program_inspect(const char *path, struct program *p);

/**
 * product_path() - the path of a file that is installed with this executable.
 * @relative: from the directory of the executable
 * @path: PATH_MAX bytes
 *
 * Return: 0 or -errno.
 */
int product_path(const char *relative, char *path);

#endif
