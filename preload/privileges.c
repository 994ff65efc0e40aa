/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * privileges.c - setuid(), chroot() and their kin: open the data file before the process can no longer do so.
 *
 * A server starts as root, forks, and each worker gives up its privileges before its first lock call, which
 * would create the worker's file. Does nothing inside an elided section, which the system call aborts, nor in
 * the child of vfork(), which has no global-lock paths.
 */
#include <unistd.h>

#include "life/start.h"
#include "wrap.h"

static void keep(void)
{
	if (elide_process.running && !elide_inside(elide_self))
		elide_keep_file();
}

WRAPPER int setuid(uid_t uid)
{
	keep();
	return real.setuid(uid);
}

WRAPPER int seteuid(uid_t uid)
{
	keep();
	return real.seteuid(uid);
}

WRAPPER int setreuid(uid_t ruid, uid_t euid)
{
	keep();
	return real.setreuid(ruid, euid);
}

WRAPPER int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	keep();
	return real.setresuid(ruid, euid, suid);
}

WRAPPER int chroot(const char *path)
{
	keep();
	return real.chroot(path);
}
