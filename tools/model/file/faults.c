// SPDX-License-Identifier: GPL-2.0-or-later
/* faults.c - see faults.h. */
#include "faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../records.h"

void faults_missing(struct data_file *f, const uint32_t *chunks, const uint32_t *records)
{
	const struct elide_header *h = &f->header;

	for (int type = 0; type < ELIDE_MAX_CHUNK_TYPES; type++) {
		if (h->nr_chunks[type] > chunks[type])
			f->notes.chunks[type] = h->nr_chunks[type] - chunks[type];
		if (h->nr_records[type] > records[type])
			f->notes.records[type] = h->nr_records[type] - records[type];
	}
}

void faults_bad(struct load_notes *n, const char *what)
{
	if (!n->nr_bad++)
		snprintf(n->first_bad, sizeof(n->first_bad), "%s", what);
}

void faults_add(struct load_notes *to, const struct load_notes *n)
{
	if (n->nr_bad && !to->nr_bad)
		memcpy(to->first_bad, n->first_bad, sizeof(to->first_bad));
	to->nr_bad += n->nr_bad;
	to->nr_orphans += n->nr_orphans;
	to->lost_size += n->lost_size;
	if (!to->lost_from)
		to->lost_from = n->lost_from;
	for (int type = 0; type < ELIDE_MAX_CHUNK_TYPES; type++) {
		to->chunks[type] += n->chunks[type];
		to->records[type] += n->records[type];
	}
}

bool faults_any(const struct load_notes *n)
{
	if (n->lost_size || n->nr_bad)
		return true;
	for (int type = 0; type < ELIDE_MAX_CHUNK_TYPES; type++)
		if (n->chunks[type] || n->records[type])
			return true;
	return false;
}

/* Appends to @text, after @between if it has something. */
static void append(char *text, const char *between, const char *format, ...) __printf(3, 4);

static void append(char *text, const char *between, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	if (len && len + 2 < FAULTS_TEXT)
		len += snprintf(text + len, FAULTS_TEXT - len, "%s", between);
	va_start(args, format);
	vsnprintf(text + len, FAULTS_TEXT - len, format, args);
	va_end(args);
}

const char *faults_text(const struct load_notes *n, char *text)
{
	*text = '\0';
	if (n->lost_size)
		append(text, "; ", "the file ends at offset %llu, %llu bytes are lost",
		       (unsigned long long)n->lost_from, (unsigned long long)n->lost_size);
	if (n->nr_bad)
		append(text, "; ", "%llu damaged place%s, the first: %s", (unsigned long long)n->nr_bad,
		       plural(n->nr_bad), n->first_bad);
	for (int type = 0, first = 1; type < ELIDE_MAX_CHUNK_TYPES; type++) {
		if (!n->chunks[type] && !n->records[type])
			continue;
		append(text, first ? "; " : ", ", "%s%s %u", first ? "missing: " : "",
		       record_name(type), n->records[type]);
		first = 0;
	}
	return text;
}

const char *faults_of(const struct data_file *f, char *text)
{
	char what[FAULTS_TEXT];

	if (!faults_any(&f->notes))
		return NULL;
	snprintf(text, LOAD_ERROR_MAX, "%.700s: damaged: %s", f->path,
		 faults_text(&f->notes, what));
	return text;
}
