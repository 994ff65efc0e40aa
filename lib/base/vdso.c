/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vdso.c - see vdso.h. The vDSO is an object like others (vdso(7), the kernel's
 * tools/testing/selftests/vDSO/parse_vdso.c); it is mapped whole, and its pointers are not relocated.
 */
#include <elf.h>
#include <string.h>

#include "../compiler.h"
#include "syscalls.h"
#include "vdso.h"

#define FUNCTION "__vdso_clock_gettime"

static int (*vdso_clock)(clockid_t clock, struct timespec *ts);

struct image {
	const char *bias; /* to be added to an address of the file */
	const Elf64_Dyn *dynamic;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash;     /* DT_HASH */
	const uint32_t *gnu_hash; /* newer kernels have only this one */
};

static void read_segments(struct image *image, const char *base)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(base + header->e_phoff);
	bool loaded = false;

	for (unsigned int i = 0; i < header->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && !loaded) {
			image->bias = base + p[i].p_offset - p[i].p_vaddr;
			loaded = true;
		} else if (p[i].p_type == PT_DYNAMIC) {
			image->dynamic = (const Elf64_Dyn *)(base + p[i].p_offset);
		}
	}
}

static void read_dynamic(struct image *image)
{
	for (const Elf64_Dyn *d = image->dynamic; d && d->d_tag != DT_NULL; d++) {
		const void *p = image->bias + d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_SYMTAB:
			image->symbols = p;
			break;
		case DT_STRTAB:
			image->strings = p;
			break;
		case DT_HASH:
			image->hash = p;
			break;
		case DT_GNU_HASH:
			image->gnu_hash = p;
			break;
		}
	}
}

/* Number of symbols; by the GNU hash table one more than the last of the last chain. */
static uint32_t count_symbols(const struct image *image)
{
	const uint32_t *h = image->gnu_hash, *buckets, *chain;
	uint32_t last = 0;

	if (image->hash)
		return image->hash[1];
	if (!h)
		return 0;
	buckets = h + 4 + 2 * h[2];
	chain = buckets + h[0];
	for (uint32_t i = 0; i < h[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	if (last < h[1])
		return 0;
	while (!(chain[last - h[1]] & 1))
		last++;
	return last + 1;
}

void elide_vdso_start(uintptr_t base)
{
	struct image image = {0};
	uint32_t nr;

	if (!base)
		return;
	read_segments(&image, (const char *)base);
	read_dynamic(&image);
	nr = image.symbols && image.strings ? count_symbols(&image) : 0;
	for (uint32_t i = 0; i < nr; i++) {
		const Elf64_Sym *s = &image.symbols[i];

		if (s->st_shndx != SHN_UNDEF && !strcmp(image.strings + s->st_name, FUNCTION))
			vdso_clock = (void *)(uintptr_t)(image.bias + s->st_value);
	}
}

int elide_clock(clockid_t clock, struct timespec *ts)
{
	int (*function)(clockid_t, struct timespec *) = READ_ONCE(vdso_clock);

	if (likely(function) && !function(clock, ts))
		return 0;
	return sys_call(clock_gettime, clock, (long)ts, 0, 0, 0, 0);
}

uint64_t elide_clock_ns(clockid_t clock)
{
	struct timespec ts;

	return elide_clock(clock, &ts) ? UINT64_MAX : ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

void elide_vdso_settle(void)
{
	static const char file[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	/* The clock sources that the vDSO of x86-64 can read: arch/x86/include/asm/vdso/clocksource.h. */
	static const char *const known[] = {"tsc\n", "kvm-clock\n", "hyperv_clocksource_tsc_page\n"};
	int fd = sys_open(file, O_RDONLY | O_CLOEXEC, 0);
	char text[64];
	ssize_t n = 0;

	if (fd >= 0) {
		n = sys_read(fd, text, sizeof(text) - 1);
		sys_close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(text, known[i]))
			return;
	WRITE_ONCE(vdso_clock, NULL);
}
