// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * launch.c - start rtmgrind: launch OPTION... PROGRAM ARGUMENT...
 *
 * Does what valgrind's own launcher does for this one tool: the tool wants its
 * launcher's path in VALGRIND_LAUNCHER and runs it again for each child it
 * follows. It is linked statically because LD_PRELOAD holds elide's library,
 * which belongs into the program and not into its launcher: valgrind's is
 * dynamic, and on Debian behind a shell script. Must never link anything.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL "rtmgrind-amd64-linux"

int main(int argc, char **argv)
{
	const char *lib = getenv("VALGRIND_LIB");
	char self[4096], tool[4096 + sizeof(TOOL)];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0 || !lib || strlen(lib) >= sizeof(self)) {
		fprintf(stderr, "elide: the emulator is started by elide run --emulate\n");
		return 125;
	}
	self[len] = '\0';
	snprintf(tool, sizeof(tool), "%s/" TOOL, lib);
	if (!setenv("VALGRIND_LAUNCHER", self, 1))
		execv(tool, argv);
	fprintf(stderr, "elide: %s: %s\n", tool, strerror(errno));
	return 125;
}
