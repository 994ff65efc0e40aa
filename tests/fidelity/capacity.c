// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * capacity.c - how much a transaction can write and read: thesis 4.6.1, 4.6.2.
 *
 * usage: capacity OVER_KIB, a size in KiB that the first level cannot hold
 *
 * As there: a buffer grows, a transaction writes or reads all of it, and the
 * largest one that ever committed counts. A store or load a line, as those
 * to the other bytes of a line change nothing.
 */
#include "fidelity.h"

/* Attempts at a size: with 2 % of success one commits. */
#define WRITES 200
/* The thesis tries on until somebody stops it. */
#define READS 300
#define WRITE_MAX_KIB 64
#define READ_MAX_KIB  (32 * KIB)

/* The buffer holds zeroes; a load whose value nobody uses need not happen. */
static volatile char sink;

static bool try_write(char *data, size_t size)
{
	size_t i;

	if (rtm_begin() != RTM_STARTED)
		return false;
	for (i = 0; i < size; i += CACHE_LINE)
		*(volatile char *)(data + i) = 1;
	rtm_end();
	return true;
}

static bool try_read(char *data, size_t size)
{
	size_t i;
	char sum = 0;

	if (rtm_begin() != RTM_STARTED)
		return false;
	for (i = 0; i < size; i += CACHE_LINE)
		sum += *(volatile char *)(data + i);
	rtm_end();
	sink = sum;
	return true;
}

/* Per cent of the attempts that commit. */
static double success(bool (*try)(char *data, size_t size), char *data, int kib, int attempts)
{
	int i, nr = 0;

	for (i = 0; i < attempts; i++)
		nr += try(data, (size_t)kib * KIB);
	return 100.0 * nr / attempts;
}

int main(int argc, char **argv)
{
	char *data;
	int kib, over, largest = 0, half = 0;
	double rate;

	if (argc != 2)
		return 2;
	over = atoi(argv[1]);
	fidelity_begin(true);
	data = lines_alloc((size_t)READ_MAX_KIB * KIB);
	fidelity_measure();
	for (kib = 1; kib <= WRITE_MAX_KIB; kib++) {
		rate = success(try_write, data, kib, WRITES);
		curve("write", kib, rate);
		if (rate > 0)
			largest = kib;
		if (kib == over)
			figure("write_over_l1", rate);
	}
	figure("write_largest", largest);
	largest = 0;
	/* Steps of an eighth; twice without any success is the end. */
	for (kib = 32; kib <= READ_MAX_KIB && kib <= 4 * (largest + 32); kib += kib / 8) {
		rate = success(try_read, data, kib, READS);
		curve("read", kib, rate);
		if (rate > 0)
			largest = kib;
		if (rate >= 50)
			half = kib;
	}
	figure("read_largest", largest);
	figure("read_half", half);
	return 0;
}
