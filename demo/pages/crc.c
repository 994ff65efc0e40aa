// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crc.c - CRC32C by the processor's instruction, or by a table where it has none.
 *
 * The instruction has a latency of 3 cycles and one can begin in each. So three parts of the
 * data are summed at once, and their checksums are joined: the checksum of A and B together is that
 * of B, exclusive or that of A moved on by as many zeros as B has bytes. Moving on is linear, so a
 * table for each byte of the checksum does it. Source: Gopal, Ozturk, Guilford, Wolrich, Feghali,
 * Dixon and Karakoyunlu, "Fast CRC computation for iSCSI polynomial using CRC32 instruction",
 * Intel, 2011.
 */
#include "crc.h"

#include <string.h>

/* 0x1edc6f41 with its bits reversed. */
#define POLYNOMIAL 0x82f63b78u

/* Bytes of each of the three parts: three of 1360 and four times 4080 make 16320 of 16384. */
#define PART 1360

static uint32_t byte_table[256];
/* move_table[i][b]: a checksum with byte b at i alone, moved on by PART zeros. */
static uint32_t move_table[4][256];

static uint32_t sum_bytes(uint32_t crc, const unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		crc = byte_table[(crc ^ p[i]) & 0xff] ^ crc >> 8;
	return crc;
}

static uint32_t move(uint32_t crc)
{
	static const unsigned char zeros[PART];

	return sum_bytes(crc, zeros, PART);
}

/* Moving on is linear, so that of a byte is the exclusive or of those of its bits. */
static void __attribute__((constructor)) fill_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		byte_table[i] = crc;
	}
	for (unsigned int bit = 0; bit < 32; bit++)
		move_table[bit / 8][1u << bit % 8] = move(1u << bit);
	for (unsigned int at = 0; at < 4; at++)
		for (uint32_t b = 1; b < 256; b++)
			move_table[at][b] = move_table[at][b & -b] ^ move_table[at][b & (b - 1)];
}

/**
 * crc32c_table() - as crc32c(), without the processor's instruction
 * @crc: 0, or the checksum of the bytes before
 * @data: the bytes
 * @len: their number
 *
 * Return: the checksum.
 */
uint32_t crc32c_table(uint32_t crc, const void *data, size_t len)
{
	return ~sum_bytes(~crc, data, len);
}

#ifdef __x86_64__
static uint32_t moved(uint32_t crc)
{
	return move_table[0][crc & 0xff] ^ move_table[1][crc >> 8 & 0xff] ^
	       move_table[2][crc >> 16 & 0xff] ^ move_table[3][crc >> 24];
}

static inline uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static __attribute__((target("sse4.2"))) uint32_t sum_words(uint32_t crc, const unsigned char *p,
							    size_t len)
{
	uint64_t a = crc;

	for (; len >= 8; p += 8, len -= 8)
		a = __builtin_ia32_crc32di(a, word_at(p));
	for (; len; p++, len--)
		a = __builtin_ia32_crc32qi((uint32_t)a, *p);
	return (uint32_t)a;
}

static __attribute__((target("sse4.2"))) uint32_t sum_parts(uint32_t crc, const unsigned char *p,
							    size_t len)
{
	for (; len >= 3 * PART; p += 3 * PART, len -= 3 * PART) {
		uint64_t a = crc, b = 0, c = 0;

		for (size_t i = 0; i < PART; i += 8) {
			a = __builtin_ia32_crc32di(a, word_at(p + i));
			b = __builtin_ia32_crc32di(b, word_at(p + PART + i));
			c = __builtin_ia32_crc32di(c, word_at(p + 2 * PART + i));
		}
		crc = moved(moved((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
	}
	return sum_words(crc, p, len);
}
#endif

/**
 * crc32c() - the checksum of bytes
 * @crc: 0, or the checksum of the bytes before
 * @data: the bytes
 * @len: their number
 *
 * Safe for any thread.
 *
 * Return: the checksum.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return ~sum_parts(~crc, data, len);
#endif
	return crc32c_table(crc, data, len);
}
