/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proto.h - messages in the encoding of protocol buffers, as far as a profile needs it.
 *
 * Source: protobuf.dev, "Encoding". Must never know what a message means.
 */
#ifndef ELIDE_PROTO_H
#define ELIDE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct proto - a message being made; all zero is the empty one.
 * @bytes:  of @nr, in @room
 * @failed: there was no memory, so the message is incomplete
 */
struct proto {
	char *bytes;
	size_t nr;
	size_t room;
	bool failed;
};

/** proto_number() - add a field that is a number; 0 is the default and is left out. */
void proto_number(struct proto *p, unsigned int field, uint64_t value);

/** proto_bytes() - add a field that is a text or a message. */
void proto_bytes(struct proto *p, unsigned int field, const void *bytes, size_t len);

/** proto_message() - add a message as a field, and empty it, keeping its memory for the next one. */
void proto_message(struct proto *p, unsigned int field, struct proto *message);

/** proto_packed() - add a field of several numbers, zeros included. */
void proto_packed(struct proto *p, unsigned int field, const uint64_t *values, size_t nr);

/** proto_free() - release the memory. */
void proto_free(struct proto *p);

#endif
