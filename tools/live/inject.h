/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject.h - have a thread of another process load a library and call a function of it.
 *
 * Must never leave a thread where it cannot go on by itself, whatever ends this process.
 */
#ifndef ELIDE_INJECT_H
#define ELIDE_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"
#include "process.h"

/* Bytes of a message of this part. */
#define INJECT_WHY 512

/**
 * struct injector - a process whose threads can be made to do so.
 * @pid: its id
 * @memory, @objects: its memory, and the objects in it
 * @libc, @loader: indexes of these objects
 * @code: where the code is, or will be
 * @code_is_there: it is
 * @answer: where the answer will be
 * @own_malloc: the program has its own malloc(3), in its own object
 */
struct injector {
	long pid;
	struct memory *memory;
	struct objects objects;
	size_t libc;
	size_t loader;
	uint64_t code;
	bool code_is_there;
	uint64_t answer;
	bool own_malloc;
	struct symbols *symbols;
};

/**
 * struct inject_call - what is to be called.
 * @entry: address of the function; 0: @name in the library @path, which is loaded
 * @settings, @settings_size: bytes of its second argument
 * @stop_ns: set to the time for which the thread did not do its own work
 * @tid: set to the thread
 */
struct inject_call {
	uint64_t entry;
	const char *path;
	const char *name;
	uint64_t command;
	const char *settings;
	size_t settings_size;
	uint64_t stop_ns;
	int tid;
};

/**
 * inject_open() - look at a process, which goes on.
 * @why: INJECT_WHY bytes, on failure filled with words that follow "process PID "
 *
 * Return: 0 or -errno; inject_close() releases @i in any case.
 */
int inject_open(struct injector *i, long pid, char *why);

/**
 * inject_run() - have a thread of the process make the call.
 * @why: as of inject_open()
 *
 * The thread is one that is outside of the loader, of malloc and of signal handlers, if possible one
 * that waits in a system call which the kernel restarts; only that one is stopped. All others run, as they
 * may have locks that the call needs.
 *
 * Return: 0; -ENOENT: the library could not be loaded, and @why is what dlerror(3) says; another -errno.
 */
int inject_run(struct injector *i, struct inject_call *call, char *why);

/** inject_close() - release what inject_open() took. */
void inject_close(struct injector *i);

#endif
