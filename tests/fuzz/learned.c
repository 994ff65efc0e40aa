// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * learned.c - the input is a file of ELIDE_LEARNED, as it is and with a checksum that fits.
 *
 * What it has is looked up and merged into a new file, which then must be sound.
 */
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/state/learned.h"
#include "fuzz.h"

#define MACHINE "processors=4 rtm=2"

static struct learned_image image;
static uint64_t bytes[LEARNED_MAX / 8], written[LEARNED_MAX / 8];

static void look_up(const struct learned_file *f)
{
	for (uint32_t i = 0; i < f->header->nr_classes; i++) {
		struct learned_class wanted = f->classes[i];
		const struct learned_class *c;

		must(wanted.object < f->header->nr_objects);
		for (int64_t off = -1; off <= 1; off++) {
			wanted.offset = f->classes[i].offset + (uint64_t)off;
			c = learned_class(f, &wanted);
			if (!c)
				continue;
			must(f->arm[c->arm] < POLICY_NR_ARMS && f->arm[c->arm] != POLICY_ARM_probe);
			for (uint32_t site = 0; site < c->nr_sites; site++) {
				const struct learned_site *s = learned_site(f, c, &c->sites[site]);

				must(!s || s->object < f->header->nr_objects);
			}
		}
	}
}

/* One object and class of our own, and what the file has. */
static void merge(const struct learned_file *f)
{
	static const struct elide_module module = {.build_id_len = 20, .path = "/opt/program"};
	struct learned_class own = {.type = ELIDE_CLASS_STATIC, .kind = ELIDE_KIND_MUTEX};
	struct learned_file again;
	bool other_build;
	size_t size;

	learned_object(f, &module, &other_build);
	memset(&image, 0, sizeof(image));
	own.object = learned_image_object(&image, &module);
	learned_image_class(&image, &own, 0);
	own.offset = 0x1000;
	learned_image_class(&image, &own, 1);
	learned_image_merge(&image, f);
	size = learned_image_write(&image, MACHINE, written);
	must(size <= LEARNED_MAX);
	must(learned_open(&again, written, size, MACHINE) == ELIDE_LEARNED_used);
	must(again.header->nr_classes >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct learned_header *h = (struct learned_header *)bytes;
	struct learned_file f;

	if (size > LEARNED_MAX)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	if (learned_open(&f, bytes, size, MACHINE) != ELIDE_LEARNED_used && size >= sizeof(*h) &&
	    size % 8 == 0)
		h->checksum = learned_checksum(bytes, size);
	if (learned_open(&f, bytes, size, MACHINE) == ELIDE_LEARNED_used) {
		look_up(&f);
		merge(&f);
	} else {
		must(!f.header);
	}
	return 0;
}
