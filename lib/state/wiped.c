/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wiped.c - see wiped.h. */
#include <sys/mman.h>

#include "../base/syscalls.h"
#include "wiped.h"

void *elide_wiped_alloc(size_t size)
{
	void *p = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p == MAP_FAILED)
		return NULL;
	/* Linux 4.14. Without it children would write into the parent's blocks: do without. */
	if (sys_madvise(p, size, MADV_WIPEONFORK)) {
		sys_munmap(p, size);
		return NULL;
	}
	return p;
}
