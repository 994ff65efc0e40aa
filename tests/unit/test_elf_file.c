// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_elf_file.c - the facts of an ELF file, hostile ones included.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/elf-file.h"

#define BASE 0x400000
#define NEEDED 3

static const char strings[] = "\0libc.so.6\0libtsan.so.2\0libm.so.6";

/* The notes begin with one of another name; the second is the build-id. */
struct notes {
	Elf64_Nhdr first;
	char name[8];
	char value[8];
	Elf64_Nhdr second;
	char gnu[4];
	uint8_t id[20];
};

static struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[4];
	Elf64_Dyn dynamic[NEEDED + 2];
	char strings[sizeof(strings)];
	struct notes notes __attribute__((aligned(8)));
	Elf64_Shdr sections[2];
	char names[16];
	char loader[16];
} image;

#define AT(member) offsetof(struct image, member)
#define SIZE(member) sizeof(((struct image *)0)->member)

static void make(void)
{
	static const unsigned int at[NEEDED] = {1, 11, 24};

	memset(&image, 0, sizeof(image));
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_machine = EM_X86_64;
	image.header.e_phoff = AT(segments);
	image.header.e_phentsize = sizeof(*image.segments);
	image.header.e_phnum = ARRAY_SIZE(image.segments);
	image.header.e_shoff = AT(sections);
	image.header.e_shentsize = sizeof(*image.sections);
	image.header.e_shnum = ARRAY_SIZE(image.sections);
	image.header.e_shstrndx = 1;
	image.sections[0] = (Elf64_Shdr){.sh_name = 3};
	image.sections[1] = (Elf64_Shdr){.sh_name = 0, .sh_offset = AT(names), .sh_size = SIZE(names)};
	memcpy(image.names, ".go.buildinfo", 14);
	memcpy(image.loader, "/lib/ld-musl-x", 15);
	image.segments[0] = (Elf64_Phdr){.p_type = PT_INTERP, .p_offset = AT(loader), .p_filesz = SIZE(loader)};
	image.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = BASE,
					 .p_filesz = sizeof(image)};
	image.segments[2] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = AT(dynamic),
					 .p_filesz = SIZE(dynamic)};
	image.segments[3] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = AT(notes), .p_align = 4,
					 .p_filesz = SIZE(notes)};
	for (int i = 0; i < NEEDED; i++)
		image.dynamic[i] = (Elf64_Dyn){DT_NEEDED, {at[i]}};
	image.dynamic[NEEDED] = (Elf64_Dyn){DT_STRTAB, {BASE + AT(strings)}};
	memcpy(image.strings, strings, sizeof(strings));
	image.notes.first = (Elf64_Nhdr){6, 8, NT_GNU_BUILD_ID};
	strcpy(image.notes.name, "elide");
	image.notes.second = (Elf64_Nhdr){4, sizeof(image.notes.id), NT_GNU_BUILD_ID};
	memcpy(image.notes.gnu, "GNU", 4);
	for (size_t i = 0; i < sizeof(image.notes.id); i++)
		image.notes.id[i] = 0xa0 + i;
}

/* A file with the first @size bytes of the image. */
static int file_of(size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &image, size), size);
	return fd;
}

static bool is_tsan(const char *name)
{
	return !strncmp(name, "libtsan.so.", 11);
}

static bool is_none(const char *name)
{
	return false;
}

static void facts(void **state)
{
	char name[16] = "", hex[64], loader[32];
	struct elf_file f;
	int fd;

	make();
	fd = file_of(sizeof(image));
	assert_int_equal(elf_file_begin(&f, fd), 0);
	assert_true(f.is_amd64 && !f.is_32bit);
	assert_true(elf_file_has(&f, PT_INTERP));
	assert_false(elf_file_has(&f, PT_TLS));
	assert_true(elf_file_has_section(&f, ".go.buildinfo") && elf_file_has_section(&f, ".buildinfo"));
	assert_false(elf_file_has_section(&f, ".go") || elf_file_has_section(&f, ".go.buildinfo.2"));
	elf_file_loader(&f, loader, sizeof(loader));
	assert_string_equal(loader, "/lib/ld-musl-x");
	elf_file_needed(&f, is_none, name, sizeof(name));
	assert_string_equal(name, "");
	elf_file_needed(&f, is_tsan, name, sizeof(name));
	assert_string_equal(name, "libtsan.so.2");
	elf_file_end(&f);
	assert_int_equal(elf_file_build_id(fd, hex, sizeof(hex)), 0);
	assert_string_equal(hex, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
	assert_int_equal(elf_file_build_id(fd, hex, 6), 0);
	assert_string_equal(hex, "a0a1");
	close(fd);
}

/* A library that the file names by more bytes than there is room for is none of those wanted. */
static void long_name(void **state)
{
	char name[12] = "";
	struct elf_file f;
	int fd;

	make();
	fd = file_of(sizeof(image));
	assert_int_equal(elf_file_begin(&f, fd), 0);
	elf_file_needed(&f, is_tsan, name, sizeof(name));
	assert_string_equal(name, "");
	elf_file_end(&f);
	close(fd);
}

static void other_machines(void **state)
{
	struct elf_file f;
	char hex[64];
	int fd;

	make();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	fd = file_of(sizeof(Elf32_Ehdr));
	assert_int_equal(elf_file_begin(&f, fd), 0);
	assert_true(f.is_32bit && !f.is_amd64);
	assert_int_equal(f.nr, 0);
	close(fd);

	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2MSB;
	fd = file_of(sizeof(image));
	assert_int_equal(elf_file_begin(&f, fd), 0);
	assert_false(f.is_32bit || f.is_amd64);
	assert_int_equal(elf_file_build_id(fd, hex, sizeof(hex)), -ENOEXEC);
	close(fd);

	image.header.e_ident[EI_MAG1] = 'X';
	fd = file_of(sizeof(image));
	assert_int_equal(elf_file_begin(&f, fd), -ENOEXEC);
	close(fd);
}

static void read_all(int fd)
{
	char name[16] = "", hex[64], loader[8];
	struct elf_file f;

	if (!elf_file_begin(&f, fd)) {
		elf_file_needed(&f, is_tsan, name, sizeof(name));
		elf_file_has_section(&f, ".none");
		elf_file_loader(&f, loader, sizeof(loader));
		assert_true(strlen(loader) < sizeof(loader));
	}
	elf_file_end(&f);
	elf_file_build_id(fd, hex, sizeof(hex));
	assert_true(strlen(name) < sizeof(name));
	close(fd);
}

/* At each length, and with each byte all ones: nothing is read outside the file. */
static void damaged(void **state)
{
	unsigned char *bytes = (unsigned char *)&image;

	make();
	for (size_t size = 0; size < sizeof(image); size++)
		read_all(file_of(size));
	for (size_t i = 0; i < sizeof(image); i++) {
		unsigned char byte = bytes[i];

		bytes[i] = 0xff;
		read_all(file_of(sizeof(image)));
		bytes[i] = byte;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts),
		cmocka_unit_test(long_name),
		cmocka_unit_test(other_machines),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
