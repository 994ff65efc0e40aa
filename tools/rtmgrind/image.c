// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image.c - the stack that the program begins with: arguments, environment and auxiliary vector.
 *
 * Valgrind lays them out as the kernel does, so the stack pointer depends on the length of each
 * name in the environment. Here they are laid out anew, in a space of fixed size:
 *
 *   address                  contents
 *   top - size               argc, argv, envp, auxv: the program's first stack pointer
 *   top - size / 2           argv[0], which ends where argv[1] begins, PAGES_OF_NAME behind
 *                            this address
 *                            argv[1] and so on, and the environment, without gaps
 *                            (programs that change their title write over both)
 *                            lists for the loader, see below; AT_EXECFN; AT_PLATFORM; AT_RANDOM
 *   top                      end of the stack
 *
 * The loader keeps the names of libraries in memory of its own, in front of what it allocates for
 * threads, and so moves that by the length of a folder's name. Until the program begins, each name
 * in LD_PRELOAD and LD_LIBRARY_PATH is therefore padded by "/." to a multiple of PADDED bytes;
 * image_restore() puts the environment's own strings back. Valgrind's library, which serves other
 * tools, is not loaded.
 *
 * Must never change what the program finds in its environment, but for the removal of that library.
 */
#include "image.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"

/* Smallest size of the space, bytes. Chosen: few environments have more than 64 KiB. */
#define SPACE_MIN (256UL << 10)
/* Space for argv[0], bytes: the longest name of a file (PATH_MAX) and one more page. */
#define NAME_SPACE 8192
/* Bytes that the length of a padded name is a multiple of; names of files are mostly shorter. */
#define PADDED 512
/* Longest name that is padded: the loader accepts names of up to 4096 bytes. */
#define PADDED_MAX (4096 - PADDED)
/* Lists of names that are padded: two of them may be given more than once. */
#define MAX_LISTS 8
/* CPUID leaf 1 EDX, as Valgrind shows it: the kernel passes that on as AT_HWCAP. */
#define HWCAP 0xbfebfbff
#define RANDOM_SIZE 16

/* Valgrind's own, not in its installed headers. */
extern Addr VG_(clstk_end);
extern HChar **VG_(client_envp);
extern UWord *VG_(client_auxv);
extern Bool VG_(extend_stack)(ThreadId tid, Addr addr);
extern void VG_(set_SP)(ThreadId tid, Addr sp);

/**
 * struct image - the arrays on a stack, and what they need.
 * @argv: arguments
 * @nr_args: number of arguments
 * @envp: environment
 * @nr_env: number of strings in it
 * @auxv: auxiliary vector
 * @nr_aux: number of its entries, with AT_NULL
 * @bytes: size of the strings of all three, with two copies of lists for the loader
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

/* A string of the environment that the loader sees padded, and the program as it was. */
static struct {
	HChar **slot;
	HChar *padded;
	HChar *own;
} lists[MAX_LISTS];
static UInt nr_lists;

static const struct {
	const HChar *prefix;
	const HChar *separators;
	Bool of_files;
} padded_lists[] = {
	{"LD_PRELOAD=", " :", True},
	{"LD_LIBRARY_PATH=", ":;", False},
};

static Bool starts_with(const HChar *text, const HChar *with)
{
	return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

/* Writes @nr bytes that do not change a name behind which they stand, in front of a "/" or "". */
static void put_padding(HChar *to, SizeT nr)
{
	if (nr % 2)
		*to++ = '/';
	for (nr /= 2; nr; nr--) {
		*to++ = '/';
		*to++ = '.';
	}
}

/*
 * Copies a name of @length bytes, padded: of a file in front of its last "/", of a directory at its
 * end. Return: bytes written.
 */
static SizeT pad_name(HChar *to, const HChar *name, SizeT length, Bool of_file)
{
	SizeT padding = (PADDED - length % PADDED) % PADDED, head = length;

	while (of_file && head && name[head - 1] != '/')
		head--;
	/* A file without a folder is searched for; the empty folder is the current one. */
	if (!head || length > PADDED_MAX)
		padding = 0;
	head -= padding && of_file;
	VG_(memcpy)(to, name, head);
	put_padding(to + head, padding);
	VG_(memcpy)(to + head + padding, name + head, length - head);
	return length + padding;
}

/**
 * image_pad_file() - pad the name of a file.
 * @to: receives the name, up to PADDED bytes longer, and a 0
 * @name: the name
 *
 * Return: length of the padded name.
 */
SizeT image_pad_file(HChar *to, const HChar *name)
{
	SizeT length = pad_name(to, name, VG_(strlen)(name), True);

	to[length] = 0;
	return length;
}

/* Copies a list of names without Valgrind's library, and padded if @pad. Return: any name is left. */
static Bool copy_list(HChar *to, const HChar *text, UInt kind, Bool pad)
{
	const HChar *separators = padded_lists[kind].separators;
	Bool of_files = padded_lists[kind].of_files, any = False;
	SizeT prefix = VG_(strlen)(padded_lists[kind].prefix);

	VG_(memcpy)(to, text, prefix);
	to += prefix;
	text += prefix;
	for (;;) {
		SizeT length = 0;

		while (text[length] && !VG_(strchr)(separators, text[length]))
			length++;
		if (!of_files || !VG_(strstr)(text, "/vgpreload_") ||
		    VG_(strstr)(text, "/vgpreload_") >= text + length) {
			any |= length != 0;
			if (pad)
				to += pad_name(to, text, length, of_files);
			else
				to = (HChar *)VG_(memcpy)(to, text, length) + length;
			if (text[length])
				*to++ = text[length];
		}
		if (!text[length])
			break;
		text += length + 1;
	}
	*to = 0;
	return any;
}

/* Index into padded_lists of a string of the environment, -1 none. */
static Int list_kind(const HChar *text)
{
	UInt i;

	for (i = 0; i < sizeof(padded_lists) / sizeof(padded_lists[0]); i++)
		if (starts_with(text, padded_lists[i].prefix))
			return i;
	return -1;
}

/* Bytes that a list may take when padded. */
static SizeT padded_size(const HChar *text)
{
	SizeT nr = 1, length = VG_(strlen)(text);

	for (; *text; text++)
		nr += VG_(strchr)(" :;", *text) != NULL;
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
		if (list_kind(text) >= 0)
			image->bytes += padded_size(text);
	}
	image->auxv = (UWord *)(image->envp + image->nr_env + 1);
	while (image->auxv[2 * image->nr_aux++] != AT_NULL)
		;
	for (i = 0; i < image->nr_aux; i++)
		if (image->auxv[2 * i] == AT_EXECFN || image->auxv[2 * i] == AT_PLATFORM)
			image->bytes += VG_(strlen)((HChar *)image->auxv[2 * i + 1]) + 1;
}

/* Copies the strings and arrays out of the way. Return: the copy of the arrays, to be freed. */
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

/* Copies a string to *@at, and moves that behind it. Return: the copy. */
static HChar *put(HChar **at, const HChar *text)
{
	HChar *to = *at;
	SizeT size = VG_(strlen)(text) + 1;

	VG_(memcpy)(to, text, size);
	*at += size;
	return to;
}

/* Writes the environment's strings to *@at, and its array to *@slot. */
static void put_environment(const struct image *image, HChar ***slot, HChar **at)
{
	UWord i;

	nr_lists = 0;
	for (i = 0; i < image->nr_env; i++) {
		Int kind = list_kind(image->envp[i]);

		**slot = *at;
		if (kind < 0) {
			put(at, image->envp[i]);
		} else if (copy_list(*at, image->envp[i], kind, False)) {
			if (nr_lists < MAX_LISTS) {
				lists[nr_lists].slot = *slot;
				lists[nr_lists++].own = *at;
			}
			*at += VG_(strlen)(*at) + 1;
		} else if (!padded_lists[kind].of_files) {
			*at += VG_(strlen)(*at) + 1;
		} else {
			continue;
		}
		++*slot;
	}
	*(*slot)++ = NULL;
	for (i = 0; i < nr_lists; i++) {
		lists[i].padded = *at;
		copy_list(*at, lists[i].own, list_kind(lists[i].own), True);
		*at += VG_(strlen)(*at) + 1;
		*lists[i].slot = lists[i].padded;
	}
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
 * Leaves it as it is where it has no room for that.
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
		return image.auxv;
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
	return (UWord *)slot;
}

/** image_restore() - the program begins: it finds its own strings in the environment. */
void image_restore(void)
{
	UInt i;

	for (i = 0; i < nr_lists; i++)
		if (*lists[i].slot == lists[i].padded)
			*lists[i].slot = lists[i].own;
}
