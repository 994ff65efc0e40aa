// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * change.c - what a log record does to a page, for a transaction, its rollback and recovery.
 */
#include "sm.h"

#include <string.h>

/**
 * change_apply() - carry out the change of a record
 * @page: its page, latched for writing
 * @r: a record of one page
 */
void change_apply(struct page *page, const struct log_record *r)
{
	uint64_t entry[2];

	switch (r->type) {
	case LOG_ROW_UPDATE:
		memcpy(heap_page_row(page, r->slot) + r->off, r->payload + r->n, r->n);
		break;
	case LOG_ROW_INSERT:
		memcpy(heap_page_row(page, r->slot), r->payload, r->n);
		heap_page_set(page, r->slot, true);
		break;
	case LOG_ROW_DELETE:
		heap_page_set(page, r->slot, false);
		break;
	case LOG_INDEX_INSERT:
		memcpy(entry, r->payload, sizeof(entry));
		node_insert(page, entry[0], entry[1]);
		break;
	case LOG_INDEX_DELETE:
		memcpy(entry, r->payload, sizeof(entry));
		node_delete(page, entry[0]);
		break;
	case LOG_FORMAT:
		memset(page, 0, PAGE_BYTES);
		page->id = r->page;
		page->kind = PAGE_HEAP;
		page->store = r->store;
		page->stride = r->off;
		break;
	default:
		break;
	}
}

/**
 * change_reverse() - make the record that reverses another one
 * @to: receives it, without the fields of its transaction; has room for LOG_RECORD_MAX bytes
 * @r: a record of a change of rows or an index
 */
void change_reverse(struct log_record *to, const struct log_record *r)
{
	static const uint8_t reverse[NR_LOG_TYPES] = {
		[LOG_ROW_UPDATE] = LOG_ROW_UPDATE,
		[LOG_ROW_INSERT] = LOG_ROW_DELETE,
		[LOG_ROW_DELETE] = LOG_ROW_INSERT,
		[LOG_INDEX_INSERT] = LOG_INDEX_DELETE,
		[LOG_INDEX_DELETE] = LOG_INDEX_INSERT,
	};

	memcpy(to, r, r->len);
	to->type = reverse[r->type];
	if (r->type == LOG_ROW_UPDATE) {
		memcpy(to->payload, r->payload + r->n, r->n);
		memcpy(to->payload + r->n, r->payload, r->n);
	}
}
