/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * emulator.h - the protocol between the library and rtmgrind.
 *
 * A request is Valgrind's client-request sequence, a no-op on hardware: it costs a few cycles and returns 0.
 * The emulator includes this, too, so it must never include libc.
 */
#ifndef ELIDE_EMULATOR_H
#define ELIDE_EMULATOR_H

/* 'R','T' in the upper half marks requests to rtmgrind, as Valgrind's tools do. */
enum rtmgrind_request {
	/* () -> version of this protocol, 0 when not under rtmgrind. */
	RTMGRIND_VERSION = 0x52540000,
	/* (struct rtmgrind_abort *, size) -> 1 if the calling thread has had an abort since its last
	 * such request, and the first @size bytes of the record were filled; else 0. Costs no virtual time.
	 */
	RTMGRIND_LAST_ABORT,
	/* () the start-up probe is over: spurious aborts and timer interrupts may begin. */
	RTMGRIND_PROBE_DONE,
	/* () region of interest, outside of which the cost model is off and set-up runs fast.
	 * Without these requests the whole run is the region.
	 */
	RTMGRIND_ROI_BEGIN,
	RTMGRIND_ROI_END,
	/* (struct rtmgrind_machine *, size) -> 1 if the record was filled, else 0. */
	RTMGRIND_MACHINE,
	/* (unsigned long long *frames, number) -> frames filled: the calling thread's stack, the
	 * innermost first: the address behind the request, then return addresses. Costs no virtual time.
	 */
	RTMGRIND_STACK,
	/* (const struct rtmgrind_outer *) where the calling thread keeps its present section; 0:
	 * nowhere. The emulator reads it when the thread aborts another one.
	 */
	RTMGRIND_SECTION,
	/* () virtual time stands still for the calling thread until RTMGRIND_TIME_GOES_ON: its
	 * instructions take no time and enter no simulated cache. For work whose length depends on
	 * names, ids or the environment. The two nest.
	 */
	RTMGRIND_TIME_STOPS,
	RTMGRIND_TIME_GOES_ON,
	/* (struct rtmgrind_abort *, size) -> 1 if RTMGRIND_LAST_ABORT has told of the calling thread's
	 * last abort, and the record was filled again; else 0. So code with little stack can request a
	 * struct rtmgrind_brief first. Costs no virtual time.
	 */
	RTMGRIND_ABORT_AGAIN,
	/* (per mille) the calling thread's instructions, the costs of its memory accesses and its sleeps
	 * take less time by this part, RTMGRIND_FASTEST at most; 0: as long as usual.
	 */
	RTMGRIND_FASTER,
};

/* A thread that waits in a loop for another one needs time to pass. */
#define RTMGRIND_FASTEST 999

#define RTMGRIND_PROTOCOL 4

/* Frames of the stacks in struct rtmgrind_abort. */
#define RTMGRIND_FRAMES 31

/**
 * struct rtmgrind_call - a lock call: the beginning of its struct elide_row.
 * @kind: enum elide_kind
 * @site: return address of the call
 */
struct rtmgrind_call {
	unsigned int unused;
	unsigned short kind;
	unsigned short unused2;
	unsigned long long site;
};

/**
 * struct rtmgrind_outer - the outermost section of a thread, kept by the library.
 * @call: address of a struct rtmgrind_call; 0 outside of sections
 * @lock: address of the lock
 */
struct rtmgrind_outer {
	unsigned long long call;
	unsigned long long lock;
};

/**
 * struct rtmgrind_section - the critical section of a thread.
 * @open: not 0 inside of one
 * @kind: enum elide_kind of the lock call
 * @lock: address of the outermost lock
 * @site: return address of the call that acquired it
 */
struct rtmgrind_section {
	unsigned int open;
	unsigned int kind;
	unsigned long long lock;
	unsigned long long site;
};

/* Why the emulated processor aborted; finer than the status word. */
enum rtmgrind_cause {
	RTMGRIND_CAUSE_NONE,
	RTMGRIND_CAUSE_EXPLICIT,
	RTMGRIND_CAUSE_CONFLICT,
	RTMGRIND_CAUSE_CAPACITY,
	RTMGRIND_CAUSE_SYSCALL,
	RTMGRIND_CAUSE_FAULT,
	RTMGRIND_CAUSE_INSTRUCTION,
	RTMGRIND_CAUSE_INTERRUPT,
	RTMGRIND_CAUSE_SPURIOUS,
	RTMGRIND_CAUSE_NEST,
};

/* The first members of struct rtmgrind_abort, described there. */
#define RTMGRIND_BRIEF                 \
	unsigned int cause;            \
	unsigned int status;           \
	unsigned long long cycles;     \
	unsigned long long other_addr; \
	unsigned int other_tid;        \
	unsigned int other_write;

struct rtmgrind_brief {
	RTMGRIND_BRIEF
};

/**
 * struct rtmgrind_abort - detail of a thread's last abort.
 * @cause:      enum rtmgrind_cause
 * @status:     the status word that the program saw in EAX
 * @own_pc:     instruction of this thread: the first to access @line if that is known, else the present
 *              or the next one
 * @line:       address of the cache line in conflict or over capacity, 0 if none
 * @own_addr:   byte of @line this thread accessed first, 0 if unknown
 * @other_pc:   the other thread's instruction, 0 if none
 * @other_addr: the byte the other thread accessed, 0 if none
 * @other_tid:  Linux thread id of the other thread as the program sees it, 0 if none
 * @other_write: 1 if the other access was a write
 * @syscall_nr: number of the system call, -1 if none
 * @read_lines: lines in the read set
 * @write_lines: lines in the write set
 * @cycles:     virtual cycles spent in the attempt, abort cost included
 * @own_bytes:  bytes of @line that this transaction touched, a bit each
 * @other_bytes: bytes of @line that the other thread touched: by its access, and, in a transaction, before
 * @other_section: the other thread's section by RTMGRIND_SECTION; not open if there is none
 * @fault_addr: address of the fault, 0 if none
 * @signal:     signal that a fault would have raised, 0 if the system would have handled it
 * @cache_set:  set of the first-level cache that overflowed
 * @cache_ways: lines of that set that the transaction needed; 0 if more than a quarter of the cache was in
 *              use, so that not the set alone was too small
 * @nr_own, @own_frames: stack at the instruction that aborted, for causes inside this thread: the
 *              instruction, then return addresses
 * @nr_other, @other_frames: stack of the other thread at its access
 * @own_written: of @own_bytes, those that were written
 * @other_written: of @other_bytes, those that were written
 *
 * It is true sharing if one thread has written a byte that the other has touched.
 */
struct rtmgrind_abort {
	RTMGRIND_BRIEF
	unsigned long long own_pc;
	unsigned long long line;
	unsigned long long own_addr;
	unsigned long long other_pc;
	int syscall_nr;
	unsigned int read_lines;
	unsigned int write_lines;
	unsigned int signal;
	unsigned long long own_bytes;
	unsigned long long other_bytes;
	struct rtmgrind_section other_section;
	unsigned long long fault_addr;
	unsigned int cache_set;
	unsigned int cache_ways;
	unsigned int nr_own;
	unsigned int nr_other;
	unsigned long long own_frames[RTMGRIND_FRAMES];
	unsigned long long other_frames[RTMGRIND_FRAMES];
	unsigned long long own_written;
	unsigned long long other_written;
};

/**
 * struct rtmgrind_machine - the simulated machine.
 * @cores:   in all sockets
 * @smt:     hardware threads of a core
 * @sockets: they share the cores evenly
 * @mhz:     clock, also of the time-stamp counter
 * @model:   its name
 * @changes: numbers that differ from the model's, NUMBER=VALUE,...; cut off if they are too many
 */
struct rtmgrind_machine {
	unsigned int cores;
	unsigned int smt;
	unsigned int sockets;
	unsigned int mhz;
	char model[32];
	char changes[256];
};

/*
 * The sequence is the one Valgrind's translator recognises on amd64: four
 * rotations of RDI that add up to 128 bits, then XCHG RBX,RBX.
 */
static inline unsigned long rtmgrind_ask(const volatile unsigned long *args)
{
	unsigned long answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(args)
			 : "cc", "memory");
	return answer;
}

/**
 * rtmgrind_request() - ask the emulator.
 * @request: enum rtmgrind_request
 * @a: first argument
 * @b: second argument
 *
 * Return: the answer, 0 on hardware and under other tools.
 */
static inline unsigned long rtmgrind_request(unsigned long request, unsigned long a,
					     unsigned long b)
{
	volatile unsigned long args[6] = {request, a, b, 0, 0, 0};

	return rtmgrind_ask(args);
}

/** valgrind_runs() - RUNNING_ON_VALGRIND of valgrind.h: not 0 under any of Valgrind's tools. */
static inline unsigned long valgrind_runs(void)
{
	return rtmgrind_request(0x1001, 0, 0);
}

/**
 * rtmgrind_time_stops() - RTMGRIND_TIME_STOPS.
 */
static inline void rtmgrind_time_stops(void)
{
	/* Not on the stack, as many lock calls make these requests. */
	static const unsigned long args[6] = {RTMGRIND_TIME_STOPS};

	rtmgrind_ask(args);
}

/** rtmgrind_time_goes_on() - end of rtmgrind_time_stops(). */
static inline void rtmgrind_time_goes_on(void)
{
	static const unsigned long args[6] = {RTMGRIND_TIME_GOES_ON};

	rtmgrind_ask(args);
}

/* The argument of a cleanup attribute is the address of the variable. */
static inline void rtmgrind_still_ends(const int *unused)
{
	(void)unused;
	rtmgrind_time_goes_on();
}

/** RTMGRIND_STILL - stands among the declarations of a function: it takes no virtual time from there on. */
#define RTMGRIND_STILL \
	__attribute__((cleanup(rtmgrind_still_ends), unused)) const int rtmgrind_still = (rtmgrind_time_stops(), 0)

#endif
