/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf.h - the parts of ELF objects that the emulator reads (System V ABI and its amd64 supplement),
 * as a Valgrind tool has no <elf.h>.
 */
#ifndef RTMGRIND_ELF_H
#define RTMGRIND_ELF_H

#include "pub_tool_basics.h"

/* Offsets in the ELF header of the program headers' offset in the file and of their number. */
#define E_PHOFF 32
#define E_PHNUM 56

/* A program header. */
struct program_header {
	UInt type;
	UInt flags;
	ULong offset;
	ULong vaddr;
	ULong paddr;
	ULong filesz;
	ULong memsz;
	ULong align;
};
#define PT_LOAD 1
#define PT_DYNAMIC 2
#define PT_PHDR 6
#define PT_GNU_RELRO 0x6474e552

/* An entry of the dynamic section. */
struct dynamic {
	ULong tag;
	ULong value;
};
#define DT_NULL 0
#define DT_STRTAB 5
#define DT_SYMTAB 6
#define DT_DEBUG 21
#define DT_GNU_HASH 0x6ffffef5

/* A symbol. */
struct elf_symbol {
	UInt name;
	UChar info;
	UChar other;
	UShort section;
	ULong value;
	ULong size;
};

/* The head of a hash table of symbols, as the GNU linker makes it. */
struct gnu_hash {
	UInt nr_buckets;
	UInt first_symbol;
	UInt bloom_words;
	UInt bloom_shift;
};

#endif
