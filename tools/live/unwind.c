// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind.c - see unwind.h.
 *
 * libunwind reads registers and memory through functions of this file, so that copies suffice.
 * Its own functions for ptrace(2) would stop the thread for one system call for each word, and
 * open the files of the objects by the paths of the process. The library is loaded when the first
 * stack is unwound: no other command needs it.
 */
#include <dlfcn.h>
#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "unwind.h"

/* The name in libunwind 1.6. */
#define LIBRARY "libunwind-x86_64.so.8"

/* In the library, but in no header of its package; perf(1) declares it in the same way. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip,
					      unw_dyn_info_t *info, unw_proc_info_t *proc,
					      int need_unwind_info, void *arg);

/* X(name): its functions that are called here. */
#define FUNCTIONS(X)                                                                               \
	X(create_addr_space) X(destroy_addr_space) X(set_caching_policy) X(init_remote) X(step)    \
	X(get_reg) X(is_signal_frame) X(dwarf_search_unwind_table)

static struct {
#define MEMBER(name) __typeof__(UNW_OBJ(name)) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} lib;

#define STRING_OF(name) #name
#define STRING(name)    STRING_OF(name)

/* Return: NULL, or what is wrong. */
static const char *load_library(void)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return dlerror();
#define FIND(name)                                                         \
	lib.name = (__typeof__(lib.name))dlsym(library, STRING(UNW_OBJ(name))); \
	if (!lib.name)                                                     \
		return dlerror();
	FUNCTIONS(FIND)
#undef FIND
	return NULL;
}

/* What .eh_frame_hdr says of its table (LSB Core, 10.6.2): offsets of 32 bits, sorted. */
#define HDR_VERSION   1
#define HDR_COUNT_ENC 0x03
#define HDR_TABLE_ENC 0x3b

struct unwinder {
	struct memory *memory;
	const struct objects *objects;
	const struct seize_thread *thread;
	unw_addr_space_t space;
};

/* The header of .eh_frame_hdr; the address of .eh_frame takes 4 bytes. */
struct eh_frame_hdr {
	uint8_t version;
	uint8_t eh_frame_ptr_enc;
	uint8_t fde_count_enc;
	uint8_t table_enc;
	uint32_t eh_frame;
	uint32_t fde_count;
};

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *proc, int need,
			  void *arg)
{
	struct unwinder *u = arg;
	size_t i = objects_find(u->objects, ip);
	unw_dyn_info_t info = {.format = UNW_INFO_FORMAT_REMOTE_TABLE};
	struct eh_frame_hdr header;

	if (i == u->objects->nr || !u->objects->unwind[i] ||
	    !memory_read(u->memory, u->objects->unwind[i], &header, sizeof(header)) ||
	    header.version != HDR_VERSION || header.fde_count_enc != HDR_COUNT_ENC ||
	    header.table_enc != HDR_TABLE_ENC)
		return -UNW_ENOINFO;
	info.start_ip = u->objects->modules[i].start;
	info.end_ip = u->objects->modules[i].end;
	info.u.rti.segbase = u->objects->unwind[i];
	info.u.rti.table_data = u->objects->unwind[i] + sizeof(header);
	/* In words; an entry of two offsets takes one. */
	info.u.rti.table_len = header.fde_count * (2 * sizeof(uint32_t)) / sizeof(unw_word_t);
	return lib.dwarf_search_unwind_table(space, ip, &info, proc, need, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *proc, void *arg)
{
}

static int get_dyn_info_list(unw_addr_space_t space, unw_word_t *address, void *arg)
{
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	struct unwinder *u = arg;
	const struct seize_thread *t = u->thread;
	uint64_t from = t->regs.rsp - SEIZE_RED_ZONE;

	if (write)
		return -UNW_EINVAL;
	if (address >= from && address - from + sizeof(*value) <= t->stack_size) {
		memcpy(value, t->stack + (address - from), sizeof(*value));
		return 0;
	}
	return memory_read(u->memory, address, value, sizeof(*value)) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct user_regs_struct *r = &((struct unwinder *)arg)->thread->regs;
	const unsigned long long values[] = {
		[UNW_X86_64_RAX] = r->rax, [UNW_X86_64_RDX] = r->rdx, [UNW_X86_64_RCX] = r->rcx,
		[UNW_X86_64_RBX] = r->rbx, [UNW_X86_64_RSI] = r->rsi, [UNW_X86_64_RDI] = r->rdi,
		[UNW_X86_64_RBP] = r->rbp, [UNW_X86_64_RSP] = r->rsp, [UNW_X86_64_R8] = r->r8,
		[UNW_X86_64_R9] = r->r9,   [UNW_X86_64_R10] = r->r10, [UNW_X86_64_R11] = r->r11,
		[UNW_X86_64_R12] = r->r12, [UNW_X86_64_R13] = r->r13, [UNW_X86_64_R14] = r->r14,
		[UNW_X86_64_R15] = r->r15, [UNW_X86_64_RIP] = r->rip,
	};

	if (write || reg < 0 || reg >= (int)ARRAY_SIZE(values))
		return -UNW_EBADREG;
	*value = values[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t address, char *name, size_t size,
			 unw_word_t *offset, void *arg)
{
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = get_proc_name,
};

struct unwinder *unwinder_new(struct memory *m, const struct objects *o, const char **why)
{
	struct unwinder *u;

	*why = load_library();
	if (*why)
		return NULL;
	*why = "no memory";
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->memory = m;
	u->objects = o;
	u->space = lib.create_addr_space(&accessors, 0);
	if (!u->space) {
		free(u);
		return NULL;
	}
	lib.set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	*why = NULL;
	return u;
}

size_t unwind(struct unwinder *u, const struct seize_thread *t, uint64_t *frames, size_t max)
{
	bool interrupted;
	unw_cursor_t cursor;
	unw_word_t ip, sp, last = 0;
	size_t nr = 0;

	u->thread = t;
	if (!t->regs.rip)
		return 0;
	frames[nr++] = t->regs.rip;
	if (lib.init_remote(&cursor, u->space, u))
		return nr;
	while (nr < max) {
		if (lib.step(&cursor) <= 0 || lib.get_reg(&cursor, UNW_REG_IP, &ip) ||
		    lib.get_reg(&cursor, UNW_REG_SP, &sp) || !ip)
			break;
		/* After the step, it is set in the frame that the signal has interrupted. */
		interrupted = lib.is_signal_frame(&cursor) > 0;
		/* A stack grows downwards, but a signal handler may run on an alternate one. */
		if (sp <= last && !interrupted)
			break;
		last = sp;
		/* The handler returns to the first byte of what returns from the signal. */
		if (interrupted && nr > 1)
			frames[nr - 1]++;
		frames[nr++] = ip + interrupted;
	}
	return nr;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	lib.destroy_addr_space(u->space);
	free(u);
}
