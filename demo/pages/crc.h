/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crc.h - CRC32C, the checksum of pages (RFC 3720, section 12.1; polynomial 0x1edc6f41).
 */
#ifndef DEMO_PAGES_CRC_H
#define DEMO_PAGES_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);
uint32_t crc32c_table(uint32_t crc, const void *data, size_t len);

#endif
