/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject-code.h - code that a thread of another process runs: it loads a library, calls a function of it, and
 * goes on where it was.
 *
 * The thread needs nobody for that: whoever has started it may be killed at any time. The code is constant
 * and may be run by several threads at once, as all that it writes is on the stack of the thread, but for
 * the answer.
 */
#ifndef ELIDE_INJECT_CODE_H
#define ELIDE_INJECT_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes below the stack pointer that a function may use (System V ABI for x86-64, 3.2.2). */
#define INJECT_RED_ZONE 128

/* Bytes of struct inject_parameters. */
#define INJECT_PARAMETERS 8192

/**
 * struct inject_parameters - at the thread's stack pointer when it begins. Addresses are those of its process.
 * @errno_location, @dlopen, @dlsym, @dlerror: functions of libc
 * @entry:   the function to be called; 0: @name in the library @path
 * @path, @name: texts
 * @command, @settings: arguments of the function
 * @answer:  struct inject_answer
 * @state_size: bytes that XSAVE writes
 * @serial:  is written into the answer
 * @text:    the texts
 */
struct inject_parameters {
	uint64_t errno_location;
	uint64_t dlopen;
	uint64_t dlsym;
	uint64_t dlerror;
	uint64_t entry;
	uint64_t path;
	uint64_t name;
	uint64_t command;
	uint64_t settings;
	uint64_t answer;
	uint64_t state_size;
	uint64_t serial;
	char text[INJECT_PARAMETERS - 12 * sizeof(uint64_t)];
};

/**
 * struct inject_answer - what the thread leaves.
 * @serial: of its parameters, once all is done
 * @error:  address of the text of dlerror(3); 0: the function was called
 */
struct inject_answer {
	uint64_t serial;
	uint64_t error;
};

/* The code, up to the address of the second. */
extern const unsigned char inject_code[], inject_code_end[];

#endif
