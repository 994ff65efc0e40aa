/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fidelity.h - what the programs of the fidelity suite share.
 *
 * Each is an ordinary program: natively it runs where the processor has RTM,
 * under rtmgrind on whatever machine that simulates. It prints a line a
 * figure, "NAME VALUE", and a line a point of a curve, "curve NAME X Y".
 * None of them may know what is accepted: that is in tests/fidelity/rows.
 */
#ifndef TESTS_FIDELITY_H
#define TESTS_FIDELITY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/rtm.h"

#define KIB 1024

/* Exit status that says: this processor has no RTM. */
#define FIDELITY_SKIP 77

/* Status bits that say why; the retry bit is advice. */
#define STATUS_WHY(status) ((status) & 0x3fu & ~RTM_RETRY)

/**
 * fidelity_begin() - first call of main(): set-up is outside the region of interest.
 * @rtm: the program uses RTM: ends the process with FIDELITY_SKIP where there is none
 */
void fidelity_begin(bool rtm);

/** fidelity_measure() - set-up is over: from here on the machine is simulated. */
void fidelity_measure(void);

/** fidelity_emulated() - under rtmgrind? */
bool fidelity_emulated(void);

/** figure() - report a figure. */
void figure(const char *name, double value);

/** curve() - report a point of a curve. */
void curve(const char *name, double x, double y);

/**
 * lines_alloc() - memory that has been touched, aligned to a page.
 * @size: bytes
 *
 * Return: never NULL; ends the process when there is none.
 */
char *lines_alloc(size_t size);

/** pin() - run the calling thread on a processor, where the system lets it. */
void pin(int cpu);

/** seconds_now() - monotonic time. */
double seconds_now(void);

/**
 * in_threads() - run a function in threads, each pinned to the processor of its number.
 * @nr: threads
 * @work: called with the thread's number, when all have been started
 * @arg: passed to it
 *
 * Return: cycles from the start of all to the end of the last.
 */
uint64_t in_threads(int nr, void (*work)(int thread, void *arg), void *arg);

/* Knuth's MMIX generator: the high bits are good, and it lives in a register. */
static inline uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state;
}

/* Where the sequence of number @nr begins; far from that of the next one. */
static inline uint64_t random_start(uint64_t nr)
{
	nr *= 0x9e3779b97f4a7c15u;
	nr = (nr ^ nr >> 32) * 0xd6e8feb86659fd93u;
	return nr ^ nr >> 32;
}

/* A number below @n, from the high bits. */
static inline uint64_t random_below(uint64_t *state, uint32_t n)
{
	return (random_next(state) >> 32) * n >> 32;
}

#endif
