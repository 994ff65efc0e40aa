/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - what the parts of the store and the checker of its files share.
 */
#ifndef DEMO_PAGES_PARTS_H
#define DEMO_PAGES_PARTS_H

#include "store.h"

int check_file(int fd, FILE *out, struct store_report *report, char *why, size_t len);

bool super_whole(const struct superblock *super, unsigned int slot);
int super_read(int fd, struct superblock *two, char *why, size_t len);
bool page_whole(const struct page_node *page);
int free_pages_open(struct store *s, char *why, size_t len);
int free_pages_write(struct store *s);
int free_page_read(const struct page_node *page, const uint32_t **ids, uint32_t *next);
int store_read_kind(const struct store *s, uint32_t id, struct page_node *page,
		    enum page_kind kind);

#endif
