/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* what-if.c - see what-if.h. */
#include <stdlib.h>

#include "../state/class.h"
#include "../state/modules.h"
#include "../what-if.h"
#include "what-if.h"

bool elide_what_if;

static unsigned int per_mille;
static struct {
	uint64_t class;
	uint64_t site;
} sections[ELIDE_WHAT_IF_MAX];
static unsigned int nr_sections;

/* By class, with those of each kind for locks beyond the bounds: it is known to be in no section. */
static bool others[ELIDE_MAX_CLASSES + ELIDE_NR_KINDS];

void elide_what_if_start(const char *text)
{
	char *end;

	elide_what_if = *text && rtmgrind_request(RTMGRIND_VERSION, 0, 0);
	per_mille = (unsigned int)strtoull(text, &end, 10);
	while (*end == ',' && end[1] && end[1] != ',' && nr_sections < ELIDE_WHAT_IF_MAX) {
		sections[nr_sections].class = strtoull(end + 1, &end, 16);
		if (*end == ':')
			sections[nr_sections++].site = strtoull(end + 1, &end, 16);
	}
}

static uint64_t key_of(unsigned int type, uint64_t recorded)
{
	const void *address = elide_at_run_time(recorded);
	bool in_object;
	const struct elide_module *m = elide_module_known(address, &in_object);

	return m ? elide_place_key(type, m->path, (uintptr_t)address - m->base) : 0;
}

unsigned int elide_what_if_faster(const struct elide_row *row)
{
	const struct elide_class *class;
	bool other = true;
	uint64_t key;

	if (!nr_sections || row->class_index >= ARRAY_SIZE(others) || others[row->class_index])
		return 0;
	class = elide_class_info(row->class_index);
	key = key_of(class->type, class->address);
	for (unsigned int i = 0; i < nr_sections; i++) {
		if (sections[i].class != key)
			continue;
		if (!sections[i].site || sections[i].site == key_of(0, row->site))
			return per_mille;
		other = false;
	}
	others[row->class_index] = other;
	return 0;
}
