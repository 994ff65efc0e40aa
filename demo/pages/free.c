// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * free.c - the list of the free pages in the file: it is in free pages, and valid while the file is
 * clean.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of free pages that a free page holds. */
#define FREE_IDS ((PAGE_BYTES - PAGE_HEADER) / sizeof(uint32_t) - 2)

/**
 * struct free_page - a free page with numbers of free pages, its own among them
 * @unused: 0
 * @tag: of the page
 * @next: next one of the chain, 0 if it is the last
 * @nr: number of @ids
 * @ids: the numbers
 */
struct free_page {
	unsigned char unused[offsetof(struct page_node, tag)];
	struct page_tag tag;
	uint32_t next;
	uint32_t nr;
	uint32_t ids[FREE_IDS];
};

_Static_assert(sizeof(struct free_page) == PAGE_BYTES, "a free page is a page");

/**
 * free_page_read() - read the numbers of free pages
 * @page: a free page of the chain, whose checksum is right
 * @ids: receives the address of the numbers
 * @next: receives the next page of the chain
 *
 * Return: their number, or -EBADMSG.
 */
int free_page_read(const struct page_node *page, const uint32_t **ids, uint32_t *next)
{
	const struct free_page *f = (const struct free_page *)page;

	if (page->tag.kind != PAGE_FREE || !f->nr || f->nr > FREE_IDS)
		return -EBADMSG;
	*ids = f->ids;
	*next = f->next;
	return (int)f->nr;
}

/* Take the numbers of one page of the chain. */
static int take_free(struct store *s, const struct page_node *page, uint32_t *next)
{
	uint32_t *free = area_at(&s->free, 0);
	const uint32_t *ids;
	int nr = free_page_read(page, &ids, next);

	if (nr < 0 || (uint32_t)nr > s->super->nr_free - s->nr_free)
		return -EBADMSG;
	for (int i = 0; i < nr; i++) {
		if (ids[i] < STORE_FIRST || ids[i] >= s->nr)
			return -EBADMSG;
		free[s->nr_free++] = ids[i];
	}
	return 0;
}

/**
 * free_pages_open() - read the numbers of the free pages of a clean file
 * @s: the store, whose superblock was read
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno.
 */
int free_pages_open(struct store *s, char *why, size_t len)
{
	struct page_node *page = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
	uint32_t id = s->super->free;
	int err = 0;

	if (!page) {
		snprintf(why, len, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	while (id && !err) {
		err = store_read_kind(s, id, page, PAGE_FREE);
		if (!err)
			err = take_free(s, page, &id);
	}
	free(page);
	if (!err && s->nr_free != s->super->nr_free)
		err = -EBADMSG;
	if (err == -EBADMSG) {
		snprintf(why, len, "has a damaged list of free pages at page %u", id);
		return err;
	}
	if (err)
		snprintf(why, len, "%s", strerror(-err));
	return err;
}

/**
 * free_pages_write() - write the numbers of the free pages into as many of them as are needed
 * @s: the store, after store_begin(); its superblock gets the first page of the chain
 *
 * Return: 0 or -errno.
 */
int free_pages_write(struct store *s)
{
	const uint32_t *ids = area_at(&s->free, 0);
	struct free_page *page;
	uint32_t next = 0, done = 0;
	int err = 0;

	s->super->nr_free = s->nr_free;
	page = s->nr_free ? aligned_alloc(PAGE_BYTES, PAGE_BYTES) : NULL;
	if (s->nr_free && !page)
		return -ENOMEM;
	while (done < s->nr_free && !err) {
		uint32_t nr = s->nr_free - done < FREE_IDS ? s->nr_free - done : FREE_IDS;

		memset(page, 0, sizeof(*page));
		page->tag = (struct page_tag){ .id = ids[done], .kind = PAGE_FREE };
		page->next = next;
		page->nr = nr;
		memcpy(page->ids, ids + done, nr * sizeof(*ids));
		err = store_write(s, (struct page_node *)page, 1);
		next = ids[done];
		done += nr;
	}
	free(page);
	s->super->free = next;
	return err;
}
