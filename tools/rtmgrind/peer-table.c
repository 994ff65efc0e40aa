// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peer-table.c - the table of the emulated processes of a run, and its entries.
 *
 * It is a file in memory, which fork and exec pass on. The program must never see it: its
 * descriptor is one of those that Valgrind reserves.
 */
#include "peer-table.h"
#include "host.h"

#define NAME     "rtmgrind-run"
#define MFD_CLOEXEC 1
/* Descriptors above the program's limit, one of which the table has. Chosen. */
#define NR_OWN_FDS 32

struct peer_table *peer_table;
Int peer_table_fd = -1;

/* Valgrind's own, not in its installed headers. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd, Off64T at);
extern Int VG_(safe_fd)(Int fd);
extern Int VG_(fd_hard_limit);

static void map_table(Int fd)
{
	SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(sizeof(*peer_table),
								VKI_PROT_READ | VKI_PROT_WRITE,
								fd, 0);

	peer_table_fd = fd;
	if (!sr_isError(mapped))
		peer_table = (struct peer_table *)sr_Res(mapped);
}

/** peer_table_make() - make the table, before this process makes another one. */
void peer_table_make(void)
{
	Long fd = host_syscall(__NR_memfd_create, (Long)NAME, MFD_CLOEXEC, 0, 0, 0, 0);

	if (fd < 0)
		return;
	fd = VG_(safe_fd)(fd);
	if (fd < 0 || host_syscall(__NR_ftruncate, fd, sizeof(*peer_table), 0, 0, 0, 0))
		return;
	map_table(fd);
}

/* Number of fields from a thread's state to the number of threads, in /proc/PID/task/TID/stat. */
#define STATE_TO_THREADS 17

/**
 * peer_thread_state() - the state of a thread in the kernel.
 * @pid: the process
 * @lwp: the thread
 *
 * The first thread of a process is a zombie from its own end to that of the process; until then it
 * counts as running.
 *
 * Return: the letter of proc(5), 0 if there is no such thread.
 */
HChar peer_thread_state(Int pid, Int lwp)
{
	HChar name[64], stat[512], *state, *field;
	UInt i;

	VG_(sprintf)(name, "/proc/%d/task/%d/stat", pid, lwp);
	host_read_file(name, stat, sizeof(stat));
	state = VG_(strrchr)(stat, ')');
	if (!state || state[1] != ' ')
		return 0;
	state += 2;
	field = state;
	for (i = 0; i < STATE_TO_THREADS && field; i++)
		field = VG_(strchr)(field + 1, ' ');
	return *state == 'Z' && field && VG_(strtoll10)(field, NULL) > 1 ? 'R' : *state;
}

/* Takes a free entry; one that was left by a process that no longer exists counts as free. */
static struct peer *take_entry(void)
{
	UInt i;

	for (i = 0; i < NR_PEERS; i++) {
		struct peer *peer = &peer_table->peers[i];
		Int state = LOOK_AT(peer->state), pid = LOOK_AT(peer->pid);
		UInt nr = LOOK_AT(peer_table->nr);

		if (state != PEER_FREE && (!pid || peer_thread_state(pid, pid)))
			continue;
		if (!__atomic_compare_exchange_n(&peer->state, &state, PEER_RUNNING, False,
						 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		while (nr <= i && !__atomic_compare_exchange_n(&peer_table->nr, &nr, i + 1, False,
							       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
		return peer;
	}
	return NULL;
}

/**
 * peer_new() - make the entry of a process.
 * @pid: its id, 0 not known yet
 * @parent: its parent's id
 * @clock: its common time
 *
 * Return: the entry, NULL if the table is full.
 */
struct peer *peer_new(Int pid, Int parent, Long clock)
{
	struct peer *peer = take_entry();

	if (!peer)
		return NULL;
	PUBLISH(peer->pid, pid);
	peer->parent = parent;
	peer->lwp = peer->noted = 0;
	peer->clock = peer->sent = clock;
	peer->until = 0;
	peer->poked = peer->seen = 0;
	return peer;
}

/* The descriptor of the table that the program before this one has left open, -1 none. */
static Int inherited_fd(void)
{
	HChar name[64], link[64];
	Int fd, first = VG_(fd_hard_limit);

	for (fd = first; fd < first + NR_OWN_FDS; fd++) {
		VG_(sprintf)(name, "/proc/self/fd/%d", fd);
		VG_(memset)(link, 0, sizeof(link));
		if (host_syscall(__NR_readlink, (Long)name, (Long)link, sizeof(link) - 1, 0, 0,
				 0) > 0 &&
		    VG_(strncmp)(link, "/memfd:" NAME, sizeof("/memfd:" NAME) - 1) == 0)
			return fd;
	}
	return -1;
}

/**
 * peer_find() - find the entry of a process.
 * @pid: its id
 *
 * Return: the entry, NULL none.
 */
struct peer *peer_find(Int pid)
{
	UInt i;

	for (i = 0; i < LOOK_AT(peer_table->nr); i++)
		if (LOOK_AT(peer_table->peers[i].pid) == pid &&
		    LOOK_AT(peer_table->peers[i].state) != PEER_FREE)
			return &peer_table->peers[i];
	return NULL;
}

/** peer_table_inherit() - map the table that the program before this one has left open, if any. */
void peer_table_inherit(void)
{
	Int fd = inherited_fd();

	if (fd >= 0)
		map_table(fd);
}
