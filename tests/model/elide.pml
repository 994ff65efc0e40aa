/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elide.pml - the elision protocol, function by function, over machine.pml.
 *
 * What the policy would decide is left open: at every outermost lock call the
 * attempt may be made or not, after an abort again or not.
 *
 * Seeded faults, each of which must be found:
 *   FAULT_LAZY   the lock word is read as the last act of the section
 *   FAULT_FREE   unlock takes a free word for an elided lock (glibc did)
 *   FAULT_VALUE  unlock does not compare the word with the one subscribed to
 *   FAULT_COND   cond_wait does not abort the section
 *   FAULT_WAKE   unlock wakes nobody
 */
#include "machine.pml"

/* glibc's words: preload/glibc-layout.h. Readers are counted above the three bits. */
#define WRPHASE  1
#define WRLOCKED 2
#define RWAITING 4
#define READER   8

/* preload/glibc-layout.c: the masks of the rules; a lock is free if none of the bits is set. */
#define MUTEX_RULE 255
#define READ_RULE  WRLOCKED
#define WRITE_RULE (255 - WRPHASE - RWAITING)

/* lib/state/settings.c: elide_enabled */
bool eliding = true;

/* Who holds a lock really, as the program sees it; for the assertions. */
byte really_writing;
byte really_reading[THREADS];

#if THREADS > 2
#define READS_THIRD really_reading[2]
#else
#define READS_THIRD 0
#endif
#define ANYBODY_READS (really_reading[0] | really_reading[1] | READS_THIRD)

/* lib/section/engine.h: elide_inside() */
#define INSIDE (tx[me].held != 0)

/* lib/section/release.c: elide_find_held() */
#define HELD(w) (tx[me].held & BIT(w))

/* lib/section/acquire.c: push_held(), after is_free() */
inline subscribe(w, rule)
{
#ifdef FAULT_LAZY
	word = 0;
#else
	load(w, word);
	if
	:: (word & rule) != 0 -> goto aborted /* ELIDE_CODE_busy */
	:: else
	fi;
#endif
	d_step {
		tx[me].held = tx[me].held | BIT(w);
		tx[me].seen[w] = word;
		word = 0
	}
}

/* lib/section/release.c: elide_release() and commit() */
inline release(w, rule)
{
	load(w, word);
#ifdef FAULT_LAZY
	if
	:: (word & rule) != 0 -> goto aborted
	:: else
	fi;
#else
#ifndef FAULT_VALUE
	if
	:: word != tx[me].seen[w] -> goto aborted /* ELIDE_CODE_changed */
	:: else
	fi;
#endif
#endif
	pop(w)
}

inline pop(w)
{
	d_step {
		tx[me].held = tx[me].held & (255 - BIT(w));
		tx[me].seen[w] = 0;
		word = 0
	}
	if
	:: !INSIDE -> commit()
	:: else
	fi
}

/* A section that commits has been alone with its locks: no thread had locked them. */
inline commit()
{
	atomic {
		if
		:: !tx[me].lost ->
			really_writing = really_writing & (255 - tx[me].gave);
			assert(!(really_writing & (tx[me].reading | tx[me].writing | tx[me].took)));
			assert(!(ANYBODY_READS & tx[me].writing));
			really_writing = really_writing | tx[me].took
		:: else
		fi;
		xend()
	}
}

/* An errorcheck mutex: glibc's unlock and cond_wait look at the owner. */
#ifdef OWNER
#define SET_OWNER(v) store(OWNER, v)
#else
#define SET_OWNER(v) skip
#endif

/* preload/mutex.c: take_plain(), else glibc's lll_lock */
inline real_lock(m)
{
	compare_exchange(m, 0, 1, word);
	do
	:: word == 0 -> break
	:: else -> lock_slow(m)
	od;
	took_to_write(m);
	SET_OWNER(me + 1)
}

/* glibc's wait for a mutex, which leaves the word 2. */
inline lock_slow(m)
{
	exchange(m, 2, word);
	if
	:: word != 0 -> futex_wait(m, 2)
	:: else
	fi
}

/* preload/mutex.c: release_plain() and wake_one(), and glibc's */
inline real_unlock(m)
{
	SET_OWNER(0);
	gave_up(m);
	exchange(m, 0, word);
#ifndef FAULT_WAKE
	if
	:: word == 2 -> futex_wake(m)
	:: else
	fi;
#endif
	word = 0
}

/* What happens in a transaction happens when it commits. */
inline took_to_write(w)
{
	atomic {
		if
		:: tx[me].open -> tx[me].took = tx[me].took | BIT(w)
		:: else ->
			assert(!((really_writing | ANYBODY_READS) & BIT(w)));
			really_writing = really_writing | BIT(w)
		fi
	}
}

inline took_to_read(w)
{
	atomic {
		assert(!(really_writing & BIT(w)));
		really_reading[me] = really_reading[me] | BIT(w)
	}
}

inline gave_up(w)
{
	d_step {
		if
		:: tx[me].open ->
			tx[me].took = tx[me].took & (255 - BIT(w));
			tx[me].gave = tx[me].gave | BIT(w)
		:: !tx[me].open && (really_reading[me] & BIT(w)) ->
			really_reading[me] = really_reading[me] & (255 - BIT(w))
		:: else -> really_writing = really_writing & (255 - BIT(w))
		fi
	}
}

/* preload/mutex.c: mutex_lock() and lock_inside(); lib/section/acquire.c: elide_acquire(), acquire_nested() */
inline mutex_lock(m, here)
{
	if
	:: INSIDE ->
		assert(!HELD(m)); /* the models' programs do not relock */
		subscribe(m, MUTEX_RULE);
		tx[me].writing = tx[me].writing | BIT(m)
	:: !INSIDE && eliding ->
		xbegin(here);
		subscribe(m, MUTEX_RULE);
		tx[me].writing = tx[me].writing | BIT(m)
	:: !INSIDE -> real_lock(m)
	fi
}

/* preload/mutex.c: mutex_unlock() */
inline mutex_unlock(m)
{
#ifdef FAULT_FREE
	load(m, word);
	if
	:: word == 0 -> pop_any()
	:: else -> real_unlock(m)
	fi
#else
	if
	:: HELD(m) -> release(m, MUTEX_RULE)
	:: else -> real_unlock(m)
	fi
#endif
}

#ifdef FAULT_FREE
/* One elided lock less, as the processor's own count of nested transactions had it. */
inline pop_any()
{
	if
	:: HELD(0) -> pop(0)
	:: !HELD(0) && HELD(1) -> pop(1)
	:: else -> commit()
	fi
}
#endif

/* elide_disable() and its opposite, at any time: sections that are open stay as they are. */
proctype toggle()
{
	do
	:: eliding = !eliding
	:: break
	od
}
