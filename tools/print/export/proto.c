// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * proto.c - messages in the encoding of protocol buffers, as far as a profile needs it.
 *
 * Must never know what a message means.
 */
#include "proto.h"

#include <stdlib.h>
#include <string.h>

/* Wire types. */
enum { WIRE_VARINT = 0, WIRE_LEN = 2 };

/* Bytes of the longest varint: 64 bits, 7 in each byte. */
#define VARINT_MAX 10

static bool make_room(struct proto *p, size_t len)
{
	size_t room = 2 * p->room + len + 64;
	char *bytes;

	if (p->failed || p->room - p->nr >= len)
		return !p->failed;
	bytes = realloc(p->bytes, room);
	p->failed = !bytes;
	if (p->failed)
		return false;
	p->bytes = bytes;
	p->room = room;
	return true;
}

/* 7 bits in each byte, the lowest first; all bytes but the last have the highest bit set. */
static void put_varint(struct proto *p, uint64_t v)
{
	if (!make_room(p, VARINT_MAX))
		return;
	for (; v >= 0x80; v >>= 7)
		p->bytes[p->nr++] = (char)(v | 0x80);
	p->bytes[p->nr++] = (char)v;
}

static void put_tag(struct proto *p, unsigned int field, unsigned int wire)
{
	put_varint(p, field << 3 | wire);
}

void proto_number(struct proto *p, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	put_tag(p, field, WIRE_VARINT);
	put_varint(p, value);
}

void proto_bytes(struct proto *p, unsigned int field, const void *bytes, size_t len)
{
	put_tag(p, field, WIRE_LEN);
	put_varint(p, len);
	if (!len || !make_room(p, len))
		return;
	memcpy(p->bytes + p->nr, bytes, len);
	p->nr += len;
}

void proto_message(struct proto *p, unsigned int field, struct proto *message)
{
	p->failed |= message->failed;
	proto_bytes(p, field, message->bytes, message->nr);
	message->nr = 0;
}

static size_t varint_size(uint64_t v)
{
	size_t size = 1;

	for (; v >= 0x80; v >>= 7)
		size++;
	return size;
}

void proto_packed(struct proto *p, unsigned int field, const uint64_t *values, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += varint_size(values[i]);
	put_tag(p, field, WIRE_LEN);
	put_varint(p, len);
	for (size_t i = 0; i < nr; i++)
		put_varint(p, values[i]);
}

void proto_free(struct proto *p)
{
	free(p->bytes);
	*p = (struct proto){0};
}
