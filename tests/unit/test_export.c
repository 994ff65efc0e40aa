// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_export - what the exports are made of: exact shares, texts by number, messages of protocol
 * buffers. The bytes are those of examples in the description of the encoding.
 */
#include "unit.h"
#include "../../tools/base/intern.h"
#include "../../tools/print/export/proto.h"
#include "../../tools/print/export/share.h"

static void assert_bytes(const struct proto *p, const char *bytes, size_t nr)
{
	assert_false(p->failed);
	assert_int_equal(p->nr, nr);
	assert_memory_equal(p->bytes, bytes, nr);
}

static void numbers_and_texts(void **state)
{
	struct proto p = {0};

	proto_number(&p, 1, 150);
	assert_bytes(&p, "\x08\x96\x01", 3);
	proto_number(&p, 2, 0); /* the default */
	proto_bytes(&p, 2, "testing", 7);
	assert_bytes(&p, "\x08\x96\x01\x12\x07testing", 12);
	proto_number(&p, 16, UINT64_MAX);
	assert_int_equal(p.nr, 12 + 2 + 10);
	assert_memory_equal(p.bytes + 12, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	proto_free(&p);
}

static void messages_and_lists(void **state)
{
	static const uint64_t list[] = {3, 270, 86942, 0};
	struct proto p = {0}, inner = {0};

	proto_packed(&p, 6, list, 4);
	assert_bytes(&p, "\x32\x07\x03\x8e\x02\x9e\xa7\x05\x00", 9);
	p.nr = 0;
	proto_number(&inner, 1, 150);
	proto_message(&p, 3, &inner);
	assert_bytes(&p, "\x1a\x03\x08\x96\x01", 5);
	assert_int_equal(inner.nr, 0);
	inner.failed = true;
	proto_message(&p, 3, &inner);
	assert_true(p.failed);
	proto_free(&p);
	proto_free(&inner);
}

static void keys_keep_their_numbers(void **state)
{
	struct intern t = {0};
	char key[16];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			snprintf(key, sizeof(key), "key %d", i);
			assert_int_equal(intern(&t, key, strlen(key)), i);
		}
	assert_int_equal(intern(&t, "", 0), 5000);
	assert_int_equal(intern(&t, "key", 3), 5001);
	assert_int_equal(t.nr, 5002);
	assert_memory_equal(t.bytes + t.keys[42].at, "key 42", 6);
	intern_free(&t);
}

static void no_unit_is_lost(void **state)
{
	static const uint64_t totals[] = {0, 1, 7, 1000003, UINT64_MAX / 3};
	static const uint64_t weights[] = {1, 0, 3, 1000, 7, UINT32_MAX, 2};

	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++) {
		struct share s = {.total = totals[i]};
		uint64_t sum = 0;

		for (size_t j = 0; j < sizeof(weights) / sizeof(*weights); j++)
			s.weights += weights[j];
		for (size_t j = 0; j < sizeof(weights) / sizeof(*weights); j++) {
			uint64_t part = share_next(&s, weights[j]);
			long double exact = (long double)s.total * weights[j] / s.weights;

			assert_true(part <= exact + 1 && part + 1 >= exact);
			sum += part;
		}
		assert_int_equal(sum, totals[i]);
		assert_int_equal(s.given, totals[i]);
	}
	assert_int_equal(share_next(&(struct share){.total = 5}, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_texts),
		cmocka_unit_test(messages_and_lists),
		cmocka_unit_test(keys_keep_their_numbers),
		cmocka_unit_test(no_unit_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
