/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.c - see bind.h.
 *
 * Objects call one another's functions through words that the loader fills in (System V ABI, AMD64
 * supplement, 4.4 and 5.2), when the object is loaded or at the first call (lazily). A word that has the
 * address of a function of symbols.def, or of its wrapper, gets that of the other one. A word that is not
 * bound yet has an address in its own object: there the symbol's name and version tell the function. Must
 * never change any other word.
 *
 * A wrapper that only passes a call on costs two jumps: a fifth of an uncontended lock and unlock, and all
 * that the library would cost when it is switched off.
 */
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapters/adapters.h"
#include "base/syscalls.h"
#include "bind.h"
#include "compiler.h"
#include "find.h"
#include "real.h"

/* Bytes of a page on x86-64. */
#define PAGE_BYTES 4096

/* A wrapper and its real function. */
struct pair {
	const char *name, *version;
	const void *real;  /* the member of struct real, or struct adapter_real, with the function's address */
	const void *first; /* of another library than libc: that member while the function is not found; else NULL */
	ElfW(Sym) *symbol;
	uintptr_t wrapper;
	uintptr_t function;
};

static struct pair pairs[] = {
#define ELIDE_SYMBOL(id, symbol, version_, result, parameters, arguments) \
	{.name = #symbol, .version = version_, .real = &real.id},
#define ELIDE_ALIAS(symbol, id) {.name = #symbol, .version = "", .real = &real.id},
#include "symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version_, result, parameters, arguments) \
	{.name = #symbol, .version = version_, .real = &adapter_real.id, .first = &adapter_firsts.id},
#include "adapters/symbols.def"
#undef ADAPTER_SYMBOL
};

/*
 * dlsym(3), whose wrapper is not exported: after attachment an object may have been loaded since. The
 * function reads its return address, so the wrapper is a jump.
 */
uintptr_t bind_dlsym_function;
void bind_dlsym(void);
void bind_loaded(void);

static struct pair dlsym_pair = {.name = "dlsym", .version = ""};

__asm__(".text\n"
	".type bind_dlsym, @function\n"
	".hidden bind_dlsym, bind_loaded, bind_dlsym_function\n"
	"bind_dlsym:\n"
	".cfi_startproc\n"
	"push %rdi\n"
	".cfi_adjust_cfa_offset 8\n"
	"push %rsi\n"
	".cfi_adjust_cfa_offset 8\n"
	"push %rdx\n"
	".cfi_adjust_cfa_offset 8\n"
	"call bind_loaded\n"
	"pop %rdx\n"
	".cfi_adjust_cfa_offset -8\n"
	"pop %rsi\n"
	".cfi_adjust_cfa_offset -8\n"
	"pop %rdi\n"
	".cfi_adjust_cfa_offset -8\n"
	"jmp *bind_dlsym_function(%rip)\n"
	".cfi_endproc\n"
	".size bind_dlsym, .-bind_dlsym\n");

/* What a walk over all objects does. */
enum { RELEASES = 1, OTHERS = 2, ALL = 3 };

struct walk {
	bool to_wrappers;
	int which;
};

/* An object, and the range that the loader has made read-only (PT_GNU_RELRO). */
struct object {
	uintptr_t base, end;
	const ElfW(Rela) *tables[2];
	size_t sizes[2];
	uintptr_t read_only, read_only_end;
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Half) *versions;
	const ElfW(Verneed) *needed;
};

/* Objects that were loaded when the words were last bound to the wrappers; 0: they are not. */
static unsigned long long nr_bound;

static uintptr_t page_of(uintptr_t address)
{
	return address & -(uintptr_t)PAGE_BYTES;
}

/* Change @word. Its page stays readable and, with @writable, writable. */
static void change(uintptr_t *word, uintptr_t value, bool writable)
{
	void *page = (void *)page_of((uintptr_t)word);
	size_t size = (uintptr_t)(word + 1) - (uintptr_t)page;

	if (!writable && sys_mprotect(page, size, PROT_READ | PROT_WRITE))
		return;
	WRITE_ONCE(*word, value);
	if (!writable)
		sys_mprotect(page, size, PROT_READ);
}

static bool is_release(const struct pair *p)
{
	return strstr(p->name, "unlock") || strstr(p->name, "unset") || strstr(p->name, "critical_end") ||
	       strstr(p->name, "critical_name_end");
}

static bool is_wanted(const struct pair *p, const struct walk *w)
{
	return p->wrapper && p->function && (is_release(p) ? RELEASES : OTHERS) & w->which;
}

/* The pair of which a word has one side. */
static const struct pair *pair_of(uintptr_t value, const struct walk *w)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if ((w->to_wrappers ? pairs[i].function : pairs[i].wrapper) == value && is_wanted(&pairs[i], w))
			return &pairs[i];
	if ((w->to_wrappers ? dlsym_pair.function : dlsym_pair.wrapper) == value && is_wanted(&dlsym_pair, w))
		return &dlsym_pair;
	return NULL;
}

/* The version that an object asks for with symbol @i; "": none. */
static const char *version_of(const struct object *o, uint32_t i)
{
	const ElfW(Verneed) *n = o->needed;
	unsigned int index = o->versions ? o->versions[i] & 0x7fff : 0;

	for (; n && index > 1; n = n->vn_next ? (const void *)((const char *)n + n->vn_next) : NULL) {
		const ElfW(Vernaux) *a = (const void *)((const char *)n + n->vn_aux);

		for (unsigned int left = n->vn_cnt; left; left--) {
			if (a->vna_other == index)
				return o->strings + a->vna_name;
			a = (const void *)((const char *)a + a->vna_next);
		}
	}
	return "";
}

/* The pair of a symbol that is not bound yet. */
static const struct pair *pair_named(const struct object *o, uint32_t i, const struct walk *w)
{
	const char *name = o->strings + o->symbols[i].st_name, *version;

	if (o->symbols[i].st_shndx != SHN_UNDEF)
		return NULL;
	if (!strcmp(name, dlsym_pair.name))
		return is_wanted(&dlsym_pair, w) ? &dlsym_pair : NULL;
	version = version_of(o, i);
	for (size_t p = 0; p < ARRAY_SIZE(pairs); p++)
		if (!strcmp(pairs[p].name, name) &&
		    (!*version || !*pairs[p].version || !strcmp(pairs[p].version, version)))
			return is_wanted(&pairs[p], w) ? &pairs[p] : NULL;
	return NULL;
}

/* Bind the words of one table of relocations. */
static void bind_table(const struct object *o, const ElfW(Rela) *table, size_t size, const struct walk *w)
{
	for (const ElfW(Rela) *r = table; size >= sizeof(*r); r++, size -= sizeof(*r)) {
		uintptr_t *word = (uintptr_t *)(o->base + r->r_offset), value;
		const struct pair *pair;

		switch (ELF64_R_TYPE(r->r_info)) {
		case R_X86_64_JUMP_SLOT:
		case R_X86_64_GLOB_DAT:
		case R_X86_64_64:
			value = READ_ONCE(*word);
			pair = pair_of(value, w);
			/* Lazily: in the object's own procedure linkage table. */
			if (!pair && w->to_wrappers && ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT &&
			    value - o->base < o->end - o->base && o->symbols && o->strings)
				pair = pair_named(o, ELF64_R_SYM(r->r_info), w);
			if (pair)
				change(word, w->to_wrappers ? pair->wrapper : pair->function,
				       (uintptr_t)word - o->read_only >=
					       o->read_only_end - o->read_only);
		}
	}
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *d)
{
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t address = d->d_un.d_ptr;

		/* The loader has relocated most of these in place. */
		if (address < o->base)
			address += o->base;
		switch (d->d_tag) {
		case DT_RELA:
			o->tables[0] = (const ElfW(Rela) *)address;
			break;
		case DT_RELASZ:
			o->sizes[0] = d->d_un.d_val;
			break;
		case DT_JMPREL:
			o->tables[1] = (const ElfW(Rela) *)address;
			break;
		case DT_PLTRELSZ:
			o->sizes[1] = d->d_un.d_val;
			break;
		case DT_SYMTAB:
			o->symbols = (const ElfW(Sym) *)address;
			break;
		case DT_STRTAB:
			o->strings = (const char *)address;
			break;
		case DT_VERSYM:
			o->versions = (const ElfW(Half) *)address;
			break;
		case DT_VERNEED:
			o->needed = (const ElfW(Verneed) *)address;
			break;
		}
	}
}

static bool is_in(const struct object *o, uintptr_t address)
{
	return address - o->base < o->end - o->base;
}

static int bind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct walk *w = arg;
	struct object o = {.base = info->dlpi_addr, .end = info->dlpi_addr};
	const ElfW(Dyn) *dynamic = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_RELRO) {
			o.read_only = o.base + p->p_vaddr;
			o.read_only_end = page_of(o.read_only + p->p_memsz);
			o.read_only = page_of(o.read_only);
		} else if (p->p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)(o.base + p->p_vaddr);
		} else if (p->p_type == PT_LOAD && o.base + p->p_vaddr + p->p_memsz > o.end) {
			o.end = o.base + p->p_vaddr + p->p_memsz;
		}
	}
	/* libc reaches its own functions without such words. */
	if (!dynamic || dynamic == _DYNAMIC || (w->to_wrappers && is_in(&o, (uintptr_t)&__errno_location)))
		return 0;
	read_dynamic(&o, dynamic);
	for (int i = 0; i < 2; i++)
		if (o.tables[i])
			bind_table(&o, o.tables[i], o.sizes[i], w);
	return 0;
}

static void bind_all(bool to_wrappers, int which)
{
	struct walk w = {to_wrappers, which};

	dl_iterate_phdr(bind_object, &w);
}

/*
 * Rebind what the loader will bind later, by adding the base to a symbol's value. All symbols are in a few
 * pages, which are made writable together: two system calls, not two for each name.
 */
static void rebind_symbols(uintptr_t base)
{
	uintptr_t first = UINTPTR_MAX, end = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		uintptr_t word = (uintptr_t)&pairs[i].symbol->st_value;

		if (!pairs[i].symbol)
			continue;
		if (word < first)
			first = word;
		if (word + sizeof(word) > end)
			end = word + sizeof(word);
	}
	if (!end)
		return;
	first = page_of(first);
	if (sys_mprotect((void *)first, end - first, PROT_READ | PROT_WRITE))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].symbol)
			WRITE_ONCE(pairs[i].symbol->st_value, pairs[i].function - base);
	sys_mprotect((void *)first, end - first, PROT_READ);
}

/* Is the function one of a library that is not loaded? */
static bool is_missing(const struct pair *p)
{
	return p->first && p->function == *(const uintptr_t *)p->first;
}

/* Fill the pairs. Return: where this library is. */
static uintptr_t find_pairs(void)
{
	uintptr_t base = 0;

	adapter_find();
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct pair *p = &pairs[i];

		WRITE_ONCE(p->function, *(const uintptr_t *)p->real);
		p->symbol = find_own_symbol(p->name, p->version, &base);
		if (p->symbol)
			p->wrapper = base + p->symbol->st_value;
	}
	return base;
}

void bind_functions_for_good(void)
{
	uintptr_t base = find_pairs();

	/* A library that is loaded later may be unloaded: its calls go through the wrappers. */
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (is_missing(&pairs[i])) {
			pairs[i].symbol = NULL;
			pairs[i].wrapper = 0;
		}
	bind_all(false, ALL);
	rebind_symbols(base);
}

/* With the loader's lock: another thread may unload an object. */
static void find_all(void)
{
	find_pairs();
	dlsym_pair.function = bind_dlsym_function = (uintptr_t)find_function("dlsym", "");
	dlsym_pair.wrapper = (uintptr_t)bind_dlsym;
}

/* Of the objects that were ever loaded, which the loader counts. */
static int count_loaded(struct dl_phdr_info *info, size_t size, void *nr)
{
	*(unsigned long long *)nr = info->dlpi_adds;
	return 1;
}

static unsigned long long nr_loaded(void)
{
	unsigned long long nr = 0;

	dl_iterate_phdr(count_loaded, &nr);
	return nr;
}

/* The program is about to look up a symbol. */
void bind_loaded(void)
{
	unsigned long long bound = READ_ONCE(nr_bound), nr;
	int saved = errno;

	if (!bound)
		return;
	nr = nr_loaded();
	if (nr == bound)
		return;
	/* Libraries with wrapped functions may be among them. */
	find_locked(find_all);
	bind_all(true, ALL);
	/* Not if the wrappers were unbound meanwhile: then once more. */
	if (!__atomic_compare_exchange_n(&nr_bound, &bound, nr, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    !bound)
		bind_all(false, ALL);
	errno = saved;
}

void bind_wrappers(void)
{
	find_locked(find_all);
	WRITE_ONCE(nr_bound, nr_loaded());
	bind_all(true, RELEASES);
	bind_all(true, OTHERS);
	/* The loader may have bound a word lazily at the same time. */
	bind_all(true, ALL);
}

/* Time for sections to end between the two steps, ns. Most last microseconds. Chosen. */
#define PAUSE 1000000

void bind_functions(void)
{
	__atomic_store_n(&nr_bound, 0, __ATOMIC_SEQ_CST);
	find_locked(find_all);
	bind_all(false, OTHERS);
	sys_wait_ns(PAUSE);
	bind_all(false, ALL);
}
