/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * misuse.c - calls that a correct program does not make, counted by place.
 *
 * Must never change what a call returns.
 */
#include "../base/datafile-writer.h"
#include "../base/testpoint.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/registry.h"
#include "misuse.h"

static struct elide_chunk *chunk; /* the places, in the data file */

void elide_misuse_forget(void)
{
	chunk = NULL;
}

static void count(enum elide_misuse_type type, uint32_t tid, enum elide_kind kind, const void *site,
		  const void *lock)
{
	struct elide_misuse *m = chunk ? (struct elide_misuse *)(chunk + 1) : NULL;
	uint32_t index;

	for (uint32_t i = 0; m && i < chunk->nr_records; i++, m++) {
		if (m->type == type && m->site == (uintptr_t)site) {
			m->count++;
			return;
		}
	}
	elide_module_of_past((uintptr_t)site);
	m = elide_data_record(&chunk, ELIDE_CHUNK_MISUSE, sizeof(*m));
	if (!m)
		return;
	index = elide_registry_class(lock);
	*m = (struct elide_misuse){
		.type = type,
		.tid = tid,
		.kind = kind,
		.class = index == ELIDE_NONE ? 0 : index + 1,
		.site = (uintptr_t)site,
		.lock = elide_recorded_known(lock),
		.count = 1,
	};
	test_point(misuse_publish);
	elide_data_publish(chunk);
}

void elide_misuse_locked(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			 const void *lock)
{
	count(type, 0, kind, site, lock);
}

struct call {
	enum elide_misuse_type type;
	uint32_t tid;
	enum elide_kind kind;
	const void *site;
	const void *lock;
};

static void misuse_global(void *arg)
{
	const struct call *call = arg;

	test_point(misuse_entered);
	elide_module_of(call->site);
	count(call->type, call->tid, call->kind, (const void *)elide_recorded(call->site), call->lock);
	test_point(misuse_done);
}

__cold void elide_misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			 const void *lock)
{
	struct call call = {type, 0, kind, site, lock};

	elide_global_run(misuse_global, &call);
}

__cold void elide_misuse_died(uint32_t tid, enum elide_kind kind, const void *site, const void *lock)
{
	struct call call = {ELIDE_MISUSE_OWNER_DIED, tid, kind, site, lock};

	elide_global_run(misuse_global, &call);
}
