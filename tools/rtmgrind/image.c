// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image.c - the stack that the program begins with: arguments, environment and auxiliary vector.
 *
 * Valgrind lays them out as the kernel does, so the stack pointer depends on the length of each
 * name in the environment. Here they are laid out anew, in a space of fixed size:
 *
 *   address                  contents
 *   top - size               argc, argv, envp, auxv: the program's first stack pointer
 *   top - size / 2           argv[0], which ends where argv[1] begins, NAME_SPACE bytes after
 *                            this address
 *                            argv[1] and so on, and the environment, without gaps
 *                            (programs that change their title write over both)
 *                            AT_EXECFN; AT_PLATFORM; AT_RANDOM
 *   top                      end of the stack
 *
 * The loader keeps the names of libraries in memory of its own, in front of what it allocates for
 * threads, so these allocations move by the length of a folder's name. Programs such as shells copy the
 * whole environment. So each name in LD_PRELOAD is padded by "/." to a multiple of PADDED bytes; the
 * loader's list of libraries gets the original names back after loading.
 * Valgrind's library, which serves other tools, is not loaded, and VALGRIND_LIB is removed if it
 * was set by elide's launcher.
 *
 * Must never change other parts of the program's environment.
 */
#include "image.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "elf.h"
#include "guest.h"

/* Smallest size of the space, bytes. Chosen: few environments have more than 64 KiB. */
#define SPACE_MIN (256UL << 10)
/* Space for argv[0], bytes: the longest name of a file (PATH_MAX) and one more page. */
#define NAME_SPACE 8192
/* Longest name that is padded: the loader accepts names of up to 4096 bytes. */
#define PADDED_MAX (4096 - PADDED)
/* CPUID leaf 1 EDX, as Valgrind shows it: the kernel passes that on as AT_HWCAP. */
#define HWCAP 0xbfebfbff
#define RANDOM_SIZE 16

/* Valgrind's own, not in its installed headers. */
extern Addr VG_(clstk_end);
extern const HChar *VG_(name_of_launcher);
extern HChar **VG_(client_envp);
extern UWord *VG_(client_auxv);
extern Bool VG_(extend_stack)(ThreadId tid, Addr addr);
extern void VG_(set_SP)(ThreadId tid, Addr sp);

/**
 * struct image - the arrays on a stack, and the size of their strings.
 * @argv: arguments
 * @nr_args: number of arguments
 * @envp: environment
 * @nr_env: number of strings in it
 * @auxv: auxiliary vector
 * @nr_aux: number of its entries, with AT_NULL
 * @bytes: size of the strings of all three, with LD_PRELOAD padded
 */
struct image {
	HChar **argv;
	UWord nr_args;
	HChar **envp;
	UWord nr_env;
	UWord *auxv;
	UWord nr_aux;
	SizeT bytes;
};

static const HChar preload[] = "LD_PRELOAD=";
/* Separators of the names in it. */
static const HChar separators[] = " :";

/* The padded LD_PRELOAD, NULL none. */
static HChar *padded;
/* Program headers of the program, from which the loader's list of objects is found. */
static const struct program_header *headers;
static UInt nr_headers;

static Bool starts_with(const HChar *text, const HChar *with)
{
	return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

/**
 * image_pad_name() - copy the name of a file, padded in front of its last "/".
 * @to: has room for @length + PADDED bytes
 * @name: the name, which need not end with a 0 byte
 * @length: bytes of it
 *
 * Return: bytes written; no 0 byte is.
 */
SizeT image_pad_name(HChar *to, const HChar *name, SizeT length)
{
	SizeT padding = (PADDED - length % PADDED) % PADDED, head = length, i;

	while (head && name[head - 1] != '/')
		head--;
	/* A file without a folder is searched for. */
	if (!head || length > PADDED_MAX)
		padding = 0;
	head -= padding != 0;
	VG_(memcpy)(to, name, head);
	/* "/./." or "//./." */
	for (i = 0; i < padding; i++)
		to[head + i] = !i || (padding - i) % 2 == 0 ? '/' : '.';
	VG_(memcpy)(to + head + padding, name + head, length - head);
	return length + padding;
}

/* Removes the padding from the name of a file. */
static void unpad_name(HChar *name)
{
	HChar *tail = VG_(strrchr)(name, '/'), *to = tail;

	while (to - name >= 2 && to[-1] == '.' && to[-2] == '/')
		to -= 2;
	if (to > name && to != tail && to[-1] == '/')
		to--;
	VG_(memmove)(to, tail, VG_(strlen)(tail) + 1);
}

/* Copies LD_PRELOAD without Valgrind's library, and padded. Return: any name is left. */
static Bool copy_preload(HChar *to, const HChar *text)
{
	SizeT prefix = sizeof(preload) - 1, length;
	const HChar *valgrinds;
	Bool any = False;

	VG_(memcpy)(to, text, prefix);
	to += prefix;
	for (text += prefix;; text += length + 1) {
		for (length = 0; text[length] && !VG_(strchr)(separators, text[length]);)
			length++;
		valgrinds = VG_(strstr)(text, "/vgpreload_");
		if (!valgrinds || valgrinds >= text + length) {
			any |= length != 0;
			to += image_pad_name(to, text, length);
			*to++ = text[length];
		}
		if (!text[length])
			break;
	}
	*to = 0;
	return any;
}

/* Bytes that LD_PRELOAD may take when padded. */
static SizeT padded_size(const HChar *text)
{
	SizeT nr = 1, length = VG_(strlen)(text);

	for (; *text; text++)
		nr += VG_(strchr)(separators, *text) != NULL;
	return length + nr * PADDED + 1;
}

static void find(struct image *image, UWord *sp)
{
	UWord i;

	image->nr_args = sp[0];
	image->argv = (HChar **)&sp[1];
	image->envp = image->argv + image->nr_args + 1;
	image->nr_env = image->nr_aux = image->bytes = 0;
	for (i = 0; i < image->nr_args; i++)
		image->bytes += VG_(strlen)(image->argv[i]) + 1;
	for (; image->envp[image->nr_env]; image->nr_env++) {
		const HChar *text = image->envp[image->nr_env];

		image->bytes += VG_(strlen)(text) + 1;
		if (starts_with(text, preload))
			image->bytes += padded_size(text);
	}
	image->auxv = (UWord *)(image->envp + image->nr_env + 1);
	while (image->auxv[2 * image->nr_aux++] != AT_NULL)
		;
	for (i = 0; i < image->nr_aux; i++)
		if (image->auxv[2 * i] == AT_EXECFN || image->auxv[2 * i] == AT_PLATFORM)
			image->bytes += VG_(strlen)((HChar *)image->auxv[2 * i + 1]) + 1;
}

/* Copies the strings and arrays to the heap. Return: the copy of the arrays, to be freed. */
static UWord *save(struct image *image, UWord *sp, Addr top)
{
	SizeT size = top - (Addr)sp;
	UWord *copy = VG_(malloc)("rtmgrind.image", size), i;
	Word moved = (Addr)copy - (Addr)sp;

	VG_(memcpy)(copy, sp, size);
	VG_(memset)(sp, 0, size);
	image->argv = (HChar **)((Addr)image->argv + moved);
	image->envp = (HChar **)((Addr)image->envp + moved);
	image->auxv = (UWord *)((Addr)image->auxv + moved);
	for (i = 0; i < image->nr_args; i++)
		image->argv[i] += moved;
	for (i = 0; i < image->nr_env; i++)
		image->envp[i] += moved;
	for (i = 0; i < image->nr_aux; i++)
		if (image->auxv[2 * i] == AT_EXECFN || image->auxv[2 * i] == AT_PLATFORM)
			image->auxv[2 * i + 1] += moved;
	return copy;
}

/* Copies a string to *@at, and moves that after it. Return: the copy. */
static HChar *put(HChar **at, const HChar *text)
{
	HChar *to = *at;
	SizeT size = VG_(strlen)(text) + 1;

	VG_(memcpy)(to, text, size);
	*at += size;
	return to;
}

/*
 * Whether a string of the environment is elide's: its launcher sets VALGRIND_LIB, and sets it again
 * for each program that this one executes.
 */
static Bool is_launchers(const HChar *text)
{
	const HChar *name = VG_(name_of_launcher);
	const HChar *base = name ? VG_(strrchr)(name, '/') : NULL;

	return base && VG_(strcmp)(base, "/launch") == 0 && starts_with(text, "VALGRIND_LIB=");
}

/* Writes the environment's strings to *@at, and its array to *@slot. */
static void put_environment(const struct image *image, HChar ***slot, HChar **at)
{
	UWord i;

	for (i = 0; i < image->nr_env; i++) {
		const HChar *text = image->envp[i];

		if (is_launchers(text))
			continue;
		if (!starts_with(text, preload)) {
			*(*slot)++ = put(at, text);
		} else if (copy_preload(*at, text)) {
			padded = *(*slot)++ = *at;
			*at += VG_(strlen)(*at) + 1;
		}
	}
	*(*slot)++ = NULL;
}

/* Writes the auxiliary vector; @strings: where those of its strings begin that have any length. */
static void put_auxv(const struct image *image, UWord *to, HChar *strings)
{
	UWord i;

	for (i = 0; i < image->nr_aux; i++) {
		UWord kind = image->auxv[2 * i], value = image->auxv[2 * i + 1];

		if (kind == AT_IGNORE)
			continue;
		if (kind == AT_HWCAP)
			value = HWCAP;
		if (kind == AT_EXECFN || kind == AT_PLATFORM)
			value = (Addr)put(&strings, (HChar *)value);
		if (kind == AT_RANDOM)
			value = VG_(clstk_end) + 1 - RANDOM_SIZE;
		*to++ = kind;
		*to++ = value;
	}
}

/* Notes where the program's headers are. Return: @auxv. */
static const UWord *note_headers(const UWord *auxv)
{
	const UWord *at;

	for (at = auxv; at[0] != AT_NULL; at += 2) {
		if (at[0] == AT_PHDR)
			headers = (const struct program_header *)at[1];
		if (at[0] == AT_PHNUM)
			nr_headers = at[1];
	}
	return auxv;
}

/* Whether the stack can grow down to an address: Valgrind has reserved the addresses for it. */
static Bool has_room(Addr addr)
{
	const NSegment *segment = VG_(am_find_nsegment)(addr);

	return segment && (segment->kind == SkResvn || segment->kind == SkAnonC);
}

/**
 * image_lay_out() - lay out the stack, in front of the first instruction of the process.
 * @tid: the first thread
 *
 * Leaves it as it is if there is no room.
 *
 * Return: the auxiliary vector.
 */
const UWord *image_lay_out(ThreadId tid)
{
	UWord *old = (UWord *)VG_(get_SP)(tid), *copy;
	Addr top = VG_(clstk_end) + 1, sp;
	SizeT space = SPACE_MIN;
	struct image image;
	HChar **slot, *at;
	UWord i;

	find(&image, old);
	while ((Addr)image.auxv + 2 * image.nr_aux * sizeof(UWord) - (Addr)old > space / 2 ||
	       NAME_SPACE + image.bytes + RANDOM_SIZE > space / 2)
		space *= 2;
	sp = top - space;
	if (!has_room(sp - space) || VG_(strlen)(image.argv[0]) >= NAME_SPACE ||
	    !VG_(extend_stack)(tid, sp - VKI_PAGE_SIZE))
		return note_headers(image.auxv);
	copy = save(&image, old, top);
	slot = (HChar **)sp;
	*(UWord *)slot++ = image.nr_args;
	at = (HChar *)(top - space / 2 + NAME_SPACE);
	for (i = 0; i < image.nr_args; i++) {
		HChar *name = at - VG_(strlen)(image.argv[0]) - 1;

		*slot++ = put(i ? &at : &name, image.argv[i]) ;
	}
	*slot++ = NULL;
	VG_(client_envp) = slot;
	put_environment(&image, &slot, &at);
	VG_(client_auxv) = (UWord *)slot;
	put_auxv(&image, (UWord *)slot, at);
	VG_(free)(copy);
	VG_(set_SP)(tid, sp);
	return note_headers((UWord *)slot);
}

/* The loader's list of objects, as debuggers find it; 0 none. Return: the first struct link_map. */
static Addr first_object(void)
{
	Addr bias = 0, at = 0;
	const struct dynamic *d;
	UInt i;

	for (i = 0; i < nr_headers; i++) {
		if (headers[i].type == PT_PHDR)
			bias = (Addr)headers - headers[i].vaddr;
		if (headers[i].type == PT_DYNAMIC)
			at = headers[i].vaddr;
	}
	if (!at)
		return 0;
	for (d = (const struct dynamic *)(bias + at); guest_may((Addr)d, sizeof(*d), VKI_PROT_READ) &&
						     d->tag != DT_NULL; d++)
		if (d->tag == DT_DEBUG && guest_may(d->value, 2 * sizeof(Addr), VKI_PROT_READ))
			return ((const Addr *)d->value)[1];
	return 0;
}

/* The fields of struct link_map in <link.h>. */
enum { LINK_ADDR, LINK_NAME, LINK_DYNAMIC, LINK_NEXT, NR_LINK_WORDS };

/**
 * image_restore() - after the loader has loaded the libraries of LD_PRELOAD, restore their names.
 */
void image_restore(void)
{
	const Addr *object;
	HChar *name;

	if (!padded)
		return;
	for (object = (const Addr *)first_object();
	     object && guest_may((Addr)object, NR_LINK_WORDS * sizeof(Addr), VKI_PROT_READ);
	     object = (const Addr *)object[LINK_NEXT]) {
		name = (HChar *)object[LINK_NAME];
		if (guest_may((Addr)name, PADDED, VKI_PROT_WRITE) &&
		    VG_(strlen)(name) >= PADDED && VG_(strstr)(padded, name))
			unpad_name(name);
	}
	padded = NULL;
}
