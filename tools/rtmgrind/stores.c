// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stores.c - reports the first forbidden store of a library inside one of its transactions.
 *
 * The library is the object whose code has sent RTMGRIND_SECTION, and a transaction is its own if
 * XBEGIN was in that object. The record that a thread has named with the request is in a block of
 * the thread's own; --own-stores says where, and to which bytes of the block the library may store. It may
 * also store to the thread's stack, from the red zone up to the frame of its outermost caller.
 *
 * Stores by other objects are not checked: neither the program's, nor those of the C library on
 * behalf of either.
 */
#include "stores.h"
#include "pub_tool_addrinfo.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_machine.h"
#include "debuginfo.h"
#include "txn.h"
#include "unwind.h"
#include "vthread.h"

/* Exit status of a program after such a store. */
#define STORES_STATUS 4
/* Ranges of a block. Chosen: the library of this project has six. */
#define MAX_RANGES 16

/* Frames of the stack to show. Chosen. */
#define MAX_FRAMES 16

/* Bytes of a block, from @first to before @end. */
struct range {
	UWord first;
	UWord end;
};

static struct range ranges[MAX_RANGES];
static UInt nr_ranges;
/* Where in a block the record is that RTMGRIND_SECTION names, and the size of a block, bytes. */
static UWord record_offset, block_size;
/* The code of the library; both 0: it has not sent a request yet. */
static Addr code_first, code_end;

/* Reads a decimal number, and @behind unless that is 0. */
static Bool parse_number(const HChar **text, HChar behind, UWord *number)
{
	HChar *end;

	*number = VG_(strtoull10)(*text, &end);
	if (end == *text || (behind && *end != behind))
		return False;
	*text = end + (behind != 0);
	return True;
}

/**
 * stores_option() - parse --own-stores.
 * @text: "OFFSET,SIZE,FIRST+BYTES,...": the record's offset in a block, the size of a block, and the
 *        ranges to which the library may store
 *
 * Return: False if it has another form.
 */
Bool stores_option(const HChar *text)
{
	UWord bytes;

	if (!parse_number(&text, ',', &record_offset) || !parse_number(&text, ',', &block_size))
		return False;
	for (nr_ranges = 0; nr_ranges < MAX_RANGES; text++) {
		struct range *r = &ranges[nr_ranges++];

		if (!parse_number(&text, '+', &r->first) || !parse_number(&text, 0, &bytes))
			return False;
		r->end = r->first + bytes;
		if (*text != ',')
			return !*text;
	}
	return False;
}

/**
 * stores_announced() - a thread has sent RTMGRIND_SECTION.
 * @pc: address of its instruction
 */
void stores_announced(Addr pc)
{
	const NSegment *segment = VG_(am_find_nsegment)(pc);

	if (!segment || segment->kind != SkFileC)
		return;
	code_first = segment->start;
	code_end = segment->end + 1;
}

static Bool is_own(Addr pc)
{
	return pc >= code_first && pc < code_end;
}

/* The block of a thread; 0: the thread has named no record. */
static Addr block_of(ThreadId tid)
{
	return vthreads[tid].section ? vthreads[tid].section - record_offset : 0;
}

static Bool in_block(ThreadId tid, Addr addr)
{
	return block_of(tid) && addr - block_of(tid) < block_size;
}

static Bool in_ranges(UWord offset, SizeT size)
{
	UInt i;

	for (i = 0; i < nr_ranges; i++)
		if (offset >= ranges[i].first && offset + size <= ranges[i].end)
			return True;
	return False;
}

static Bool in_frames(Addr pc, Addr addr, SizeT size)
{
	Addr sp = VG_(get_SP)(current_tid);

	if (addr < sp - VG_STACK_REDZONE_SZB)
		return False;
	/* A push, or the return address of a call. */
	if (addr + size <= sp + sizeof(Addr))
		return True;
	return addr + size <= unwind_frames_end(current_tid, pc, code_first, code_end);
}

static void print_stack(Addr pc)
{
	ULong frames[MAX_FRAMES];
	Addr stack[MAX_FRAMES];
	UInt nr = unwind_stack(current_tid, pc, False, frames, MAX_FRAMES), i;

	/* A return address follows the call. */
	for (i = 0; i < nr; i++)
		stack[i] = frames[i] - (i > 0);
	debuginfo_print(stack, nr);
}

static void __attribute__((noreturn)) report(Addr pc, Addr addr, SizeT size)
{
	AddrInfo info = {.tag = Addr_Undescribed};
	ThreadId tid;

	debuginfo_read();
	VG_(message)(Vg_UserMsg, "Forbidden store: thread %u stores %lu bytes to 0x%lx in a transaction\n",
		     current_tid, size, addr);
	print_stack(pc);
	for (tid = 1; tid < vthread_end && !in_block(tid, addr); tid++)
		;
	if (tid < vthread_end) {
		VG_(message)(Vg_UserMsg, " Address 0x%lx is byte %lu of the block of thread %u\n", addr,
			     addr - block_of(tid), tid);
	} else {
		VG_(describe_addr)(VG_(current_DiEpoch)(), addr, &info);
		VG_(pp_addrinfo)(addr, &info);
	}
	VG_(message_flush)();
	VG_(exit)(STORES_STATUS);
}

/**
 * stores_check() - the running thread is about to store while a transaction is open, perhaps not its own.
 * @pc: address of the instruction
 * @addr: first byte
 * @size: bytes
 *
 * Does not return if it is a forbidden store of the library.
 */
void stores_check(Addr pc, Addr addr, SizeT size)
{
	if (!is_own(pc) || !txn_open(current_tid) || !is_own(txns[current_tid]->fallback))
		return;
	if (in_block(current_tid, addr) && in_ranges(addr - block_of(current_tid), size))
		return;
	if (!in_frames(pc, addr, size))
		report(pc, addr, size);
}
