// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbol.c - the input is an address of eight bytes and an ELF object, in
 * which the library looks for the symbol at that address, and for all data.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/state/modules.h"
#include "../../lib/state/symbol.h"
#include "fuzz.h"

/* Of modules.c, which the target is built without. */
uint32_t elide_modules_epoch;

static void count(void *arg, uint64_t value, uint64_t size)
{
	++*(size_t *)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elide_symbol symbol;
	char path[32], name[32];
	uint64_t address = 0;
	size_t nr = 0;
	int rc;

	if (size < sizeof(address))
		return 0;
	memcpy(&address, data, sizeof(address));
	data += sizeof(address);
	size -= sizeof(address);
	if (fd < 0)
		fd = memfd_create("object", 0);
	must(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(name, 'x', sizeof(name));
	rc = elide_symbol_find(path, address, name, sizeof(name));
	must(strnlen(name, sizeof(name)) < sizeof(name) && (!rc || !name[0]));
	/* First by the table that was made of the object before, if there is one. */
	for (int i = 0; i < 3; i++) {
		elide_symbol_function(path, address, 4096, name, sizeof(name), &symbol);
		must(strnlen(name, sizeof(name)) < sizeof(name));
		elide_modules_epoch += i == 0;
	}
	elide_symbol_objects(path, count, &nr);
	must(nr <= size / sizeof(Elf64_Sym));
	return 0;
}
