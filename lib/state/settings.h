/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * settings.h - what is decided for the whole process at its start.
 */
#ifndef ELIDE_SETTINGS_H
#define ELIDE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/datafile-writer.h"
#include "../compiler.h"
#include "../policy/policy.h"

#pragma GCC visibility push(hidden)

/*
 * Natively one of 128 first attempts is timed. It takes the long way, which costs as much as three short
 * sections.
 */
#define ELIDE_TIME_PERIOD 128

/**
 * struct elide_process - constant after the start but for @running, @window, @watch_locked, @tell_section,
 *                         @hold_mask.
 * @running: calls are counted; false before the start, with ELIDE_MODE=off, and in a child not followed
 * @mode:    enum elide_run_mode
 * @rtm:     enum elide_rtm
 * @config:  of the policy
 * @policy:  its name
 * @why:     why @mode is what it is
 * @short_way: the wrappers know the locks' words and may acquire them without calling glibc
 * @nr_processors: processors that the process may use
 * @order:   the order of locks is watched, see order.h
 * @restricts: threads of contended locks may be restricted: adapt/crowd.h
 * @blames:  the holders to blame for aborts and waits are found out: evidence_contended()
 * @window:  a window of evidence/holder.h is open
 * @watch_locked: @order or @window: locked acquisitions are watched
 * @tell_section: the emulator learns the section of each thread: @window, and there are conflicts
 * @hold_mask: all ones; 0 while locked acquisitions are watched, so that elide_hold_due() holds of each
 * @at_once: bits by arm: after the first conflict of an acquisition the next attempt begins at once
 * @tid_at:  offset from the thread pointer at which libc keeps a thread's Linux id; 0: not known
 * @holder:  by enum elide_kind, offset of the holder's thread id in a lock; 0: it has none
 */
struct elide_process {
	bool running;
	enum elide_run_mode mode;
	enum elide_rtm rtm;
	struct policy_config config;
	char policy[32];
	char why[256];
	bool short_way;
	uint32_t nr_processors;
	bool order;
	bool restricts;
	bool blames;
	uint32_t at_once;
	uint32_t tid_at;
	uint32_t holder[ELIDE_NR_KINDS];
	/* Written while threads are in transactions, which read what is above. */
	bool window __cacheline_aligned;
	bool watch_locked;
	bool tell_section;
	uint64_t hold_mask;
};

extern struct elide_process elide_process;

/** elide_short_way() - may the wrappers take their short way? */
static inline bool elide_short_way(void)
{
	return elide_process.short_way && !elide_process.order;
}

/* This process elides: mode and RTM allow it, and watch() has not switched it off. */
extern bool elide_enabled;

/* The policy chooses arms: @elide_enabled, or mode restrict. */
extern bool elide_adapts;

/** elide_halted() - does the process neither elide nor restrict for now? */
static inline bool elide_halted(void)
{
	return !READ_ONCE(elide_adapts) || READ_ONCE(elide_data->control);
}

/* Acquisitions, the greatest length of a block of struct elide_holds; 0: no hold time is measured. */
extern uint64_t elide_hold_period;

/* All ones if the hold time of each contended acquisition is measured: in mode profile. Else 0. */
extern uint64_t elide_hold_contended;

/**
 * elide_settings_decide() - decide mode, RTM and policy from the tunables and the machine.
 *
 * Once, after elide_tunables_read().
 */
void elide_settings_decide(void);

#pragma GCC visibility pop

#endif
