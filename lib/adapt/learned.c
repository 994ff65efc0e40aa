/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learned.c - see learned.h.
 *
 * A hot lock is none of a program's text or data, but of one process: it is not kept. Must never
 * have the process end or wait because of what is in the file.
 */
#include <errno.h>
#include <string.h>

#include "../base/cpuid.h"
#include "../base/datafile-name.h"
#include "../base/log.h"
#include "../base/reserve.h"
#include "../base/small-file.h"
#include "../base/text.h"
#include "../emulator.h"
#include "../policy/probe.h"
#include "../state/call.h"
#include "../state/learned.h"
#include "../state/modules.h"
#include "../state/tunables.h"
#include "learned.h"

/* An address in an object: by these, as the object may be unloaded when the process ends. */
struct place {
	uint16_t module; /* number of the module + 1; 0: it lies in none */
	uint64_t offset;
};

/**
 * struct origin - what a class began with.
 * @entry: number of its entry in the file + 1, 0: none
 * @object: of the class
 * @found: bits by site: the file has it, so its sections cannot be elided
 * @sites: where the sites are
 */
struct origin {
	uint32_t entry;
	uint16_t object;
	uint8_t found;
	struct place sites[LEARN_SITES];
};

static struct {
	enum elide_learned state;
	bool reads;      /* the file may be used, and is written at the end */
	char machine[sizeof(((struct learned_header *)0)->machine)];
	struct learned_file file;
	struct origin *origins; /* by index in adapt_classes */
	uint32_t nr_origins, max_origins;
	uint32_t nr_classes, nr_sites; /* that were found */
	const struct elide_module *modules[ELIDE_MAX_MODULES]; /* by number, where that was met */
	struct learned_image *image;
	char *bytes;     /* for the file as it is at the end, and for the new one */
} learned;

static const char *const texts[] = {
#define ELIDE_LEARNED(id, help) help,
#include "../learned.def"
#undef ELIDE_LEARNED
};

/* The machine, where arms that were best on it are tried at once. */
static void describe_machine(char *text, size_t size)
{
	struct rtmgrind_machine m;
	unsigned int regs[4];

	cpuid_leaf(1, regs);
	if (rtmgrind_request(RTMGRIND_MACHINE, (unsigned long)&m, sizeof(m)))
		elide_text(text, size,
			   "processors=%u rtm=%d model=%s cores=%u smt=%u sockets=%u mhz=%u %s",
			 elide_process.nr_processors, elide_process.rtm, m.model, m.cores, m.smt,
			 m.sockets, m.mhz, m.changes);
	else
		elide_text(text, size, "processors=%u rtm=%d cpu=%x", elide_process.nr_processors,
			 elide_process.rtm, regs[CPUID_EAX]);
}

/* The name of the file, of this process: %p differs in a child. Callers are serialised. */
static const char *file_name(void)
{
	static char name[ELIDE_SMALL_PATH + 1], exe[sizeof(((struct elide_header *)0)->exe)];

	elide_data_program(exe, sizeof(exe));
	elide_data_name_expand(name, sizeof(name), elide_tunables.learned, exe);
	return name;
}

/* How long that takes depends on the names of the program and of the file. */
static const char *timeless_file_name(void)
{
	const char *name;

	rtmgrind_time_stops();
	name = file_name();
	rtmgrind_time_goes_on();
	return name;
}

/* Read the file and look at it. @bytes: room for LEARNED_MAX. *@err: why it cannot be read. */
static enum elide_learned open_file(struct learned_file *f, const char *name, void *bytes, int *err)
{
	ssize_t n = elide_small_read(name, bytes, LEARNED_MAX);

	*err = 0;
	f->header = NULL;
	if (n == -ENOENT)
		return ELIDE_LEARNED_new;
	if (n == -EFBIG || n == -ELOOP || n == -EINVAL)
		return ELIDE_LEARNED_foreign;
	if (n < 0) {
		*err = -n;
		return ELIDE_LEARNED_unreadable;
	}
	return learned_open(f, bytes, n, learned.machine);
}

/* What may be another's file is not replaced. */
static bool is_left_alone(enum elide_learned state)
{
	return state == ELIDE_LEARNED_foreign || state == ELIDE_LEARNED_unreadable;
}

static void complain(const char *name, enum elide_learned state, int err)
{
	if (state > ELIDE_LEARNED_idle)
		elide_log("%s %s%s%s", name, texts[state], err ? ": " : "",
			  err ? elide_text_error(err) : "");
	else if (state == ELIDE_LEARNED_idle && elide_tunables.verbose)
		elide_log("%s: %s", name, texts[state]);
}

void adapt_learned_start(uint32_t max_classes)
{
	const char *name;
	void *bytes;
	int err = 0;

	if (!*elide_tunables.learned)
		return;
	name = timeless_file_name();
	learned.state = ELIDE_LEARNED_idle;
	if (elide_process.mode > ELIDE_RUN_PROFILE && elide_process.config.measures) {
		bytes = elide_reserve(LEARNED_MAX);
		learned.origins = elide_reserve((max_classes + 1) * sizeof(*learned.origins));
		learned.max_origins = max_classes + 1;
		describe_machine(learned.machine, sizeof(learned.machine));
		learned.state = bytes && learned.origins ?
					open_file(&learned.file, name, bytes, &err) :
					ELIDE_LEARNED_memory;
		learned.reads = learned.state != ELIDE_LEARNED_memory;
	}
	rtmgrind_time_stops();
	complain(name, learned.state, err);
	rtmgrind_time_goes_on();
}

static struct origin *origin_of(const struct adapt_class *p)
{
	uint32_t nr = p - adapt_classes;

	return learned.reads && nr < learned.max_origins ? &learned.origins[nr] : NULL;
}

static void tell(void)
{
	if (elide_data)
		adapt_learned_fill(elide_data);
}

/* Number of an object + 1, which is remembered for the end. */
static uint16_t module_of(const struct elide_module *m)
{
	uint32_t number = elide_module_number(m);

	learned.modules[number] = m;
	return number + 1;
}

/* Index of an object in the file; of another build of it one line is written. */
static uint32_t object_of(const struct elide_module *m)
{
	bool other_build;
	uint32_t index = learned_object(&learned.file, m, &other_build);

	if (other_build && learned.state != ELIDE_LEARNED_build) {
		rtmgrind_time_stops();
		elide_log("%s %s: %s", file_name(), texts[ELIDE_LEARNED_build], m->path);
		rtmgrind_time_goes_on();
		learned.state = ELIDE_LEARNED_build;
		tell();
	}
	return index;
}

/* The key of a class in the file, but for its object. */
static struct learned_class class_key(const struct elide_class *info, const struct elide_module *m,
				      uint32_t class_index)
{
	return (struct learned_class){
		.type = info->type,
		.kind = info->kind,
		.offset = (uintptr_t)elide_at_run_time(info->address) - m->base,
		.array = info->array,
		.shared = elide_class_shared(class_index),
	};
}

void adapt_learned_class(struct adapt_class *p)
{
	const struct elide_class *info = elide_class_info(p->class_index);
	struct origin *o = origin_of(p);
	const struct learned_class *known;
	const struct elide_module *m;
	struct learned_class wanted;

	if (!o)
		return;
	learned.nr_origins = p - adapt_classes + 1;
	m = elide_module_of_past(info->address);
	if (!m)
		return;
	o->object = module_of(m);
	wanted = class_key(info, m, p->class_index);
	wanted.object = object_of(m);
	known = wanted.object == LEARNED_NONE ? NULL : learned_class(&learned.file, &wanted);
	if (!known)
		return;
	o->entry = known - learned.file.classes + 1;
	learn_begin_with(&p->learn, &(struct learn_known){
		.arm = learned.file.arm[known->arm],
		/* An arm that the other library did not have has not been challenged with. */
		.asked = learned.file.same_arms ? known->asked : 0,
		.due = learned.file.same_arms ? known->due_us * LEARN_US : 0,
		.confidence = known->confidence,
		.period = known->period_us * LEARN_US,
		.aborts = known->aborts,
		.waits = known->waits,
	});
	learned.nr_classes++;
	tell();
}

enum policy_arm_name adapt_learned_find_site(struct adapt_class *p, uint32_t nr, uint64_t key)
{
	enum policy_arm_name arm = learn_settled(&p->learn, nr);
	struct origin *o = origin_of(p);
	const struct elide_module *m;
	struct learned_site wanted;

	if (!o)
		return arm;
	m = elide_module_of_past((uintptr_t)elide_key_site(key));
	if (!m)
		return arm;
	o->sites[nr].module = module_of(m);
	o->sites[nr].offset = (uintptr_t)elide_at_run_time((uintptr_t)elide_key_site(key)) - m->base;
	if (!o->entry)
		return arm;
	wanted = (struct learned_site){
		.object = object_of(m),
		.kind = elide_key_kind(key),
		.offset = o->sites[nr].offset,
	};
	if (!learned_site(&learned.file, &learned.file.classes[o->entry - 1], &wanted))
		return arm;
	o->found |= 1u << nr;
	learned.nr_sites++;
	tell();
	return POLICY_ARM_real;
}

void adapt_learned_site(struct adapt_class *p, uint32_t nr)
{
	const struct origin *o = origin_of(p);

	if (o && o->found >> nr & 1)
		learn_site_with(&p->learn, nr);
}

void adapt_learned_fill(struct elide_header *h)
{
	h->learned_state = learned.state;
	h->learned_classes = learned.nr_classes;
	h->learned_sites = learned.nr_sites;
	if (learned.state && !*h->learned)
		elide_text(h->learned, sizeof(h->learned), "%.*s", (int)sizeof(h->learned) - 1,
			 timeless_file_name());
}

void adapt_learned_forget(void)
{
	for (uint32_t i = 1; i < learned.nr_origins; i++)
		adapt_classes[i].learn.decided = false;
}

/* The unelidable sites of a class, as far as they lie in objects with a build-id. */
static void gather_sites(const struct adapt_class *p, const struct origin *o, struct learned_class *c)
{
	for (uint32_t i = 0; i < p->learn.nr_sites; i++) {
		struct learned_site *to = &c->sites[c->nr_sites];

		if (!o->sites[i].module || !learn_site_keep(&p->learn, i))
			continue;
		*to = (struct learned_site){
			.object = learned_image_object(learned.image,
						       learned.modules[o->sites[i].module - 1]),
			.kind = elide_key_kind(p->keys[i]),
			.offset = o->sites[i].offset,
		};
		c->nr_sites += to->object != LEARNED_NONE;
	}
}

static void gather_class(struct adapt_class *p, const struct origin *o)
{
	const struct elide_class *info = elide_class_info(p->class_index);
	const struct elide_module *m;
	struct learned_class c;
	struct learn_known k;
	uint32_t waited_us = 0;

	if (!p->learn.decided)
		waited_us = learn_waited(&p->learn, p->start) / LEARN_US;
	if (!o->object || (!p->learn.decided && !waited_us))
		return;
	m = learned.modules[o->object - 1];
	c = class_key(info, m, p->class_index);
	c.object = learned_image_object(learned.image, m);
	if (c.object == LEARNED_NONE)
		return;
	/* One lock of an array was used this time: it is still the array of the file. */
	if (!c.array && o->entry) {
		c.offset = learned.file.classes[o->entry - 1].offset;
		c.array = learned.file.classes[o->entry - 1].array;
	}
	learn_keep(&p->learn, &k);
	c.arm = k.arm;
	c.asked = k.asked;
	c.confidence = k.confidence;
	c.period_us = k.period / LEARN_US;
	c.due_us = k.due / LEARN_US;
	c.aborts = k.aborts;
	c.waits = k.waits;
	gather_sites(p, o, &c);
	learned_image_class(learned.image, &c, waited_us);
}

void adapt_learned_gather(void)
{
	if (!learned.reads || is_left_alone(learned.state) || !learned.nr_origins)
		return;
	learned.image = elide_reserve(sizeof(*learned.image));
	learned.bytes = elide_reserve(2 * LEARNED_MAX);
	if (!learned.image || !learned.bytes) {
		learned.image = NULL;
		return;
	}
	for (uint32_t i = 1; i < learned.nr_origins; i++) {
		struct adapt_class *p = &adapt_classes[i];
		int tries = 0;

		/* Another thread goes on, or one has ended in there: then of this class nothing is kept. */
		while (!adapt_class_try_lock(p) && tries < KNOWN_TRIES)
			tries++;
		if (tries == KNOWN_TRIES)
			continue;
		gather_class(p, &learned.origins[i]);
		adapt_class_unlock(p);
	}
}

bool adapt_learned_gathered(void)
{
	return learned.image && learned.image->nr_classes;
}

void adapt_learned_write(void)
{
	enum elide_learned state;
	struct learned_file now;
	const char *name;
	int lock, err;
	size_t size;

	if (!adapt_learned_gathered())
		return;
	name = file_name();
	lock = elide_small_lock(name);
	/* What another process has written meanwhile; of a damaged file nothing is kept. */
	state = open_file(&now, name, learned.bytes, &err);
	if (is_left_alone(state)) {
		complain(name, state, err);
		goto unlock;
	}
	learned_image_merge(learned.image, &now);
	if (!learned.image->nr_classes)
		goto unlock;
	if (learned.image->left_out)
		elide_log("%s: no room for %u lock classes", name, learned.image->left_out);
	size = learned_image_write(learned.image, learned.machine, learned.bytes + LEARNED_MAX);
	err = elide_small_replace(name, learned.bytes + LEARNED_MAX, size);
	if (err)
		elide_log("cannot write %s: %s; what was learnt is not kept", name,
			  elide_text_error(-err));
unlock:
	elide_small_unlock(lock);
}
