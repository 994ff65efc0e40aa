/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-late.c - dlclose() of a thread that is preempted at its end: the object has gone, and others may load. */
#include <dlfcn.h>
#include <unistd.h>

int dlclose(void *handle)
{
	int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	int rc = next(handle);

	usleep(500);
	return rc;
}
