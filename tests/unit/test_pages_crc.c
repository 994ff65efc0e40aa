// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_crc.c - the checksum of pages: published vectors, and the instruction against the
 * table on random data of every length up to two rounds of three parts, in any alignment.
 */
#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/pages/crc.h"

#define MOST 8300

static unsigned char data[MOST + 8];

/* RFC 3720, appendix B.4, and the check value of the catalogue of parametrised CRCs. */
static void test_vectors(void **state)
{
	static const unsigned char command[48] = {
		0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, 0x28, [40] = 0x02,
	};
	unsigned char up[32], down[32], ones[32], zeros[32] = { 0 };

	memset(ones, 0xff, sizeof(ones));
	for (unsigned char i = 0; i < 32; i++) {
		up[i] = i;
		down[i] = 31 - i;
	}
	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(0, zeros, 32), 0x8a9136aa);
	assert_int_equal(crc32c(0, ones, 32), 0x62a8ab43);
	assert_int_equal(crc32c(0, up, 32), 0x46dd794e);
	assert_int_equal(crc32c(0, down, 32), 0x113fdb5c);
	assert_int_equal(crc32c(0, command, 48), 0xd9963a56);
	assert_int_equal(crc32c_table(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c_table(0, command, 48), 0xd9963a56);
}

static void test_lengths(void **state)
{
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)rng_next(&rng);
	for (size_t len = 0; len <= MOST; len += len < 64 ? 1 : 1 + rng_below(&rng, 40)) {
		const unsigned char *at = data + rng_below(&rng, 8);
		size_t first = len ? rng_below(&rng, len) : 0;
		uint32_t crc = crc32c_table(0, at, len);

		assert_int_equal(crc32c(0, at, len), crc);
		assert_int_equal(crc32c(crc32c(0, at, first), at + first, len - first), crc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
