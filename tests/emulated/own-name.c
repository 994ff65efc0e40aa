// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * own-name.c - /proc/self/exe names the program and not the emulator, in each call that reads it.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

static void check_name(const char *call, const char *name, long length)
{
	check(call, length > 9 && !strncmp(name + length - 9, "/own-name", 9), 1);
}

int main(void)
{
	static const char own[] = "/proc/self/exe";
	char name[PATH_MAX];

	emu_require();
	check_name("readlink", name, syscall(SYS_readlink, own, name, sizeof(name)));
	check_name("readlinkat", name, syscall(SYS_readlinkat, AT_FDCWD, own, name, sizeof(name)));
	check("readlinkat, small", syscall(SYS_readlinkat, AT_FDCWD, own, name, 3), 3);
	check("readlink, bad buffer", syscall(SYS_readlink, own, 16, sizeof(name)), -1);
	check("another link", syscall(SYS_readlink, "/proc/self/cwd", name, sizeof(name)) > 0, 1);
	return emu_status();
}
