/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* learned.c - see learned.h. */
#include <string.h>

#include "../compiler.h"
#include "learned.h"

static const struct learned_arm own_arms[] = {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) {#id},
#include "../arms.def"
#undef ELIDE_ARM
};

_Static_assert(POLICY_NR_ARMS <= LEARNED_ARMS, "the file has no room for the arms");

uint64_t learned_checksum(const void *bytes, size_t size)
{
	const uint64_t *words = bytes;
	uint64_t sum = size;

	/* FNV-1a by words, with a rotation, so that the high bits of a word reach the low ones of the sum. */
	for (size_t i = 0; i < size / sizeof(*words); i++) {
		uint64_t word = i == offsetof(struct learned_header, checksum) / sizeof(*words) ?
				0 : words[i];

		sum = (sum ^ word) * 0x100000001b3ull;
		sum = sum << 29 | sum >> 35;
	}
	return sum;
}

static bool has_end(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/* The order of classes in the file. */
static int compare(const struct learned_class *a, const struct learned_class *b)
{
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->shared != b->shared)
		return a->shared < b->shared ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool is_site(const struct learned_header *h, const struct learned_site *s)
{
	return s->object < h->nr_objects && s->kind > ELIDE_KIND_NONE && s->kind < ELIDE_NR_KINDS;
}

static bool is_class(const struct learned_header *h, const struct learned_class *c)
{
	if (c->object >= h->nr_objects || c->arm >= h->nr_arms || c->nr_sites > LEARNED_SITES ||
	    c->type < ELIDE_CLASS_INIT || c->type > ELIDE_CLASS_FIRST || c->shared > 1 ||
	    c->kind <= ELIDE_KIND_NONE || c->kind >= ELIDE_NR_KINDS || c->confidence > 1000)
		return false;
	for (uint32_t i = 0; i < c->nr_sites; i++)
		if (!is_site(h, &c->sites[i]))
			return false;
	return true;
}

/* Do the tables fill the file? Their bounds are small, so nothing overflows. */
static bool is_whole(const struct learned_header *h, size_t size)
{
	return h->size == size && h->header_size == sizeof(*h) && h->nr_arms <= LEARNED_ARMS &&
	       h->nr_objects <= LEARNED_OBJECTS &&
	       h->nr_classes <= LEARNED_MAX / sizeof(struct learned_class) &&
	       size == sizeof(*h) + h->nr_arms * sizeof(struct learned_arm) +
			       h->nr_objects * sizeof(struct learned_object) +
			       h->nr_classes * sizeof(struct learned_class) &&
	       has_end(h->machine, sizeof(h->machine));
}

static uint32_t own_arm(const struct learned_arm *arm)
{
	for (uint32_t i = 0; i < POLICY_NR_ARMS; i++)
		if (i != POLICY_ARM_probe && !strcmp(own_arms[i].name, arm->name))
			return i;
	return LEARNED_NONE;
}

static bool has_sound_tables(const struct learned_header *h, const struct learned_file *f)
{
	for (uint32_t i = 0; i < h->nr_arms; i++)
		if (!has_end(f->arms[i].name, sizeof(f->arms[i].name)))
			return false;
	for (uint32_t i = 0; i < h->nr_objects; i++) {
		const struct learned_object *o = &f->objects[i];

		if (!o->build_id_len || o->build_id_len > sizeof(o->build_id) ||
		    !has_end(o->path, sizeof(o->path)))
			return false;
	}
	for (uint32_t i = 0; i < h->nr_classes; i++)
		if (!is_class(h, &f->classes[i]) ||
		    (i && compare(&f->classes[i - 1], &f->classes[i]) >= 0))
			return false;
	return true;
}

enum elide_learned learned_open(struct learned_file *f, const void *bytes, size_t size,
				const char *machine)
{
	const struct learned_header *h = bytes;

	f->header = NULL;
	if (!size)
		return ELIDE_LEARNED_new;
	if (size < sizeof(h->magic) || h->magic != LEARNED_MAGIC)
		return ELIDE_LEARNED_foreign;
	if (size < sizeof(*h))
		return ELIDE_LEARNED_damaged;
	if (h->version != LEARNED_VERSION)
		return ELIDE_LEARNED_version;
	if (!is_whole(h, size) || learned_checksum(bytes, size) != h->checksum)
		return ELIDE_LEARNED_damaged;
	f->arms = (const void *)(h + 1);
	f->objects = (const void *)(f->arms + h->nr_arms);
	f->classes = (const void *)(f->objects + h->nr_objects);
	if (!has_sound_tables(h, f))
		return ELIDE_LEARNED_damaged;
	if (strcmp(h->machine, machine))
		return ELIDE_LEARNED_machine;
	for (uint32_t i = 0; i < h->nr_arms; i++)
		f->arm[i] = own_arm(&f->arms[i]);
	f->same_arms = h->nr_arms == POLICY_NR_ARMS && !memcmp(f->arms, own_arms, sizeof(own_arms));
	f->header = h;
	return ELIDE_LEARNED_used;
}

/* The end of a path that is longer than there is room for. */
static const char *path_end(const char *path)
{
	size_t len = strlen(path), room = sizeof(((struct learned_object *)0)->path) - 1;

	return len > room ? path + len - room : path;
}

static bool is_build(const struct learned_object *o, const void *build_id, uint32_t len)
{
	return o->build_id_len == len && !memcmp(o->build_id, build_id, len);
}

uint32_t learned_object(const struct learned_file *f, const struct elide_module *m,
			bool *other_build)
{
	uint32_t nr = f->header ? f->header->nr_objects : 0;

	*other_build = false;
	for (uint32_t i = 0; i < nr && m->build_id_len; i++)
		if (is_build(&f->objects[i], m->build_id, m->build_id_len)) {
			*other_build = false;
			return i;
		} else if (!strcmp(f->objects[i].path, path_end(m->path))) {
			*other_build = true;
		}
	return LEARNED_NONE;
}

/* Number of classes of a sorted table up to @wanted, inclusive. */
static uint32_t not_behind(const struct learned_class *classes, uint32_t nr,
			   const struct learned_class *wanted)
{
	uint32_t from = 0;

	while (from < nr) {
		uint32_t middle = from + (nr - from) / 2;

		if (compare(&classes[middle], wanted) <= 0)
			from = middle + 1;
		else
			nr = middle;
	}
	return from;
}

const struct learned_class *learned_class(const struct learned_file *f,
					  const struct learned_class *wanted)
{
	const struct learned_class *c;
	uint32_t nr;

	if (!f->header)
		return NULL;
	nr = not_behind(f->classes, f->header->nr_classes, wanted);
	if (!nr)
		return NULL;
	c = &f->classes[nr - 1];
	if (c->object != wanted->object || c->type != wanted->type || c->kind != wanted->kind ||
	    c->shared != wanted->shared || f->arm[c->arm] == LEARNED_NONE)
		return NULL;
	if (c->offset == wanted->offset ||
	    (c->type == ELIDE_CLASS_STATIC && wanted->offset - c->offset < c->array))
		return c;
	return NULL;
}

const struct learned_site *learned_site(const struct learned_file *f, const struct learned_class *c,
					const struct learned_site *wanted)
{
	for (uint32_t i = 0; i < c->nr_sites; i++) {
		const struct learned_site *s = &c->sites[i];

		if (s->object == wanted->object && s->offset == wanted->offset &&
		    s->kind == wanted->kind)
			return s;
	}
	return NULL;
}

/* Index of an object, which may be new; LEARNED_NONE: there is no room. */
static uint32_t add_object(struct learned_image *image, const void *build_id, uint32_t len,
			   const char *path)
{
	struct learned_object *o;
	uint32_t i;

	for (i = 0; i < image->nr_objects; i++)
		if (is_build(&image->objects[i], build_id, len))
			return i;
	if (i == LEARNED_OBJECTS)
		return LEARNED_NONE;
	o = &image->objects[i];
	*o = (struct learned_object){.build_id_len = len};
	memcpy(o->build_id, build_id, len);
	strcpy(o->path, path_end(path));
	image->nr_objects++;
	return i;
}

uint32_t learned_image_object(struct learned_image *image, const struct elide_module *m)
{
	return m->build_id_len ? add_object(image, m->build_id, m->build_id_len, m->path) :
				 LEARNED_NONE;
}

void learned_image_class(struct learned_image *image, const struct learned_class *c,
			 uint32_t waited_us)
{
	if (image->nr_classes == LEARNED_CLASSES) {
		image->left_out++;
		return;
	}
	image->waited_us[image->nr_classes] = waited_us;
	image->classes[image->nr_classes++] = *c;
}

/* Shell's method (CACM 2/7, 1959), halving the gap each time: qsort() may allocate. */
static void sort(struct learned_image *image)
{
	struct learned_class *classes = image->classes;
	uint32_t *waited = image->waited_us, nr = image->nr_classes;

	for (uint32_t gap = nr / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < nr; i++) {
			struct learned_class c = classes[i];
			uint32_t c_waited = waited[i], to = i;

			for (; to >= gap && compare(&classes[to - gap], &c) > 0; to -= gap) {
				classes[to] = classes[to - gap];
				waited[to] = waited[to - gap];
			}
			classes[to] = c;
			waited[to] = c_waited;
		}
}

/* Leave out the classes about which nothing was decided here, and which the other file has not got. */
static void drop_undecided(struct learned_image *image)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < image->nr_classes; i++) {
		if (image->waited_us[i])
			continue;
		image->waited_us[nr] = 0;
		image->classes[nr++] = image->classes[i];
	}
	image->nr_classes = nr;
}

/* Has the new file another build of the object @o, and not @o itself? */
static bool is_outdated(const struct learned_image *image, const struct learned_object *o,
			uint32_t nr_own)
{
	bool same_path = false;

	for (uint32_t i = 0; i < nr_own; i++) {
		if (is_build(&image->objects[i], o->build_id, o->build_id_len))
			return false;
		same_path = same_path || !strcmp(image->objects[i].path, o->path);
	}
	return same_path;
}

/* Copy a class of @f with the numbers of the new file. Return: false if that does not take it. */
static bool translate(struct learned_image *image, const struct learned_file *f, uint32_t nr_own,
		      const struct learned_class *from, struct learned_class *to)
{
	const struct learned_object *o = &f->objects[from->object];

	*to = *from;
	to->nr_sites = 0;
	to->reserved = to->reserved2 = 0;
	memset(to->sites, 0, sizeof(to->sites));
	if (f->arm[from->arm] == LEARNED_NONE || is_outdated(image, o, nr_own))
		return false;
	to->arm = f->arm[from->arm];
	to->asked = f->same_arms ? to->asked : 0;
	to->due_us = f->same_arms ? to->due_us : 0;
	to->object = add_object(image, o->build_id, o->build_id_len, o->path);
	if (to->object == LEARNED_NONE) {
		image->left_out++;
		return false;
	}
	for (uint32_t i = 0; i < from->nr_sites; i++) {
		struct learned_site s = from->sites[i];

		o = &f->objects[s.object];
		if (is_outdated(image, o, nr_own))
			continue;
		s.reserved = 0;
		s.object = add_object(image, o->build_id, o->build_id_len, o->path);
		if (s.object != LEARNED_NONE)
			to->sites[to->nr_sites++] = s;
	}
	return true;
}

void learned_image_merge(struct learned_image *image, const struct learned_file *f)
{
	uint32_t nr = image->nr_classes, nr_own = image->nr_objects, at;
	struct learned_class c;

	sort(image);
	for (uint32_t i = 0; f->header && i < f->header->nr_classes; i++) {
		if (!translate(image, f, nr_own, &f->classes[i], &c))
			continue;
		at = not_behind(image->classes, nr, &c);
		if (!at || compare(&image->classes[at - 1], &c)) {
			learned_image_class(image, &c, 0);
		} else if (image->waited_us[at - 1]) {
			c.due_us -= c.due_us < image->waited_us[at - 1] ? c.due_us :
									  image->waited_us[at - 1];
			image->classes[at - 1] = c;
			image->waited_us[at - 1] = 0;
		}
	}
	drop_undecided(image);
}

/* Append to the bytes of a file. */
static char *append(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

size_t learned_image_write(struct learned_image *image, const char *machine, void *bytes)
{
	struct learned_header *h = bytes;
	char *end = (char *)(h + 1);

	sort(image);
	*h = (struct learned_header){
		.magic = LEARNED_MAGIC,
		.version = LEARNED_VERSION,
		.header_size = sizeof(*h),
		.nr_arms = POLICY_NR_ARMS,
		.nr_objects = image->nr_objects,
		.nr_classes = image->nr_classes,
	};
	strncpy(h->machine, machine, sizeof(h->machine) - 1);
	end = append(end, own_arms, sizeof(own_arms));
	end = append(end, image->objects, image->nr_objects * sizeof(*image->objects));
	end = append(end, image->classes, image->nr_classes * sizeof(*image->classes));
	h->size = end - (char *)bytes;
	h->checksum = learned_checksum(bytes, h->size);
	return h->size;
}
