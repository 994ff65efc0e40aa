/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rwlock.pml - readers and writers of one rwlock, each elided or locked.
 *
 * Writers add one to X and to Y. Readers must find them equal; locked ones read
 * them one after the other, while others may commit.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define R 0
#define X 1
#define Y 2
#define WORDS 3
#include "elide.pml"

byte added;

/* glibc's pthread_rwlock_rdlock: register, then end an idle write phase or wait for its end. */
inline real_rdlock(rw)
{
	atomic {
		assert(!tx[me].open); /* nothing here calls it inside a transaction */
		take_to_write(rw);
		mem[rw] = mem[rw] + READER
	}
	do
	:: atomic { !(mem[rw] & WRPHASE) -> take_to_read(rw); break }
	:: atomic {
		(mem[rw] & (WRPHASE | WRLOCKED)) == WRPHASE ->
		take_to_write(rw);
		mem[rw] = mem[rw] - WRPHASE
	   }
	od;
	took_to_read(rw)
}

/* glibc's pthread_rwlock_wrlock: be the one writer, then begin a write phase. */
inline real_wrlock(rw)
{
	atomic {
		assert(!tx[me].open); /* nothing here calls it inside a transaction */
		!(mem[rw] & WRLOCKED) ->
		take_to_write(rw);
		mem[rw] = mem[rw] | WRLOCKED
	}
	atomic {
		(mem[rw] & WRPHASE) || mem[rw] < READER ->
		take_to_write(rw);
		mem[rw] = mem[rw] | WRPHASE
	}
	took_to_write(rw)
}

/* glibc's pthread_rwlock_unlock: the last reader begins the write phase of a writer that
 * waits, a writer ends its own if readers wait. */
inline real_rwunlock(rw)
{
	atomic {
		if
		:: really_reading[me] & BIT(rw) ->
			gave_up(rw);
			take_to_write(rw);
			mem[rw] = mem[rw] - READER;
			if
			:: mem[rw] == WRLOCKED -> mem[rw] = WRLOCKED | WRPHASE
			:: else
			fi
		:: else ->
			gave_up(rw);
			take_to_write(rw);
			mem[rw] = mem[rw] - WRLOCKED;
			if
			:: mem[rw] >= READER -> mem[rw] = mem[rw] - WRPHASE
			:: else
			fi
		fi
	}
}

/* preload/rwlock.c: lock() */
inline rwlock_rdlock(rw, here)
{
	if
	:: eliding ->
		xbegin(here);
		subscribe(rw, READ_RULE);
		tx[me].reading = tx[me].reading | BIT(rw)
	:: true -> real_rdlock(rw)
	fi
}

inline rwlock_wrlock(rw, here)
{
	if
	:: eliding ->
		xbegin(here);
		subscribe(rw, WRITE_RULE);
		tx[me].writing = tx[me].writing | BIT(rw)
	:: true -> real_wrlock(rw)
	fi
}

/* preload/rwlock.c: pthread_rwlock_unlock() */
inline rwlock_unlock(rw, rule)
{
	if
	:: HELD(rw) -> release(rw, rule)
	:: else -> real_rwunlock(rw)
	fi
}

inline look()
{
	load(X, x);
	load(Y, y);
	assert(x == y)
}

proctype thread(byte me)
{
	byte word, x, y, start, round;

	do
	:: round < ROUNDS ->
		if
		:: goto reader
		:: goto writer
		fi;

reader:		rwlock_rdlock(R, 1);
		look();
		rwlock_unlock(R, READ_RULE);
		goto next;

writer:		rwlock_wrlock(R, 2);
		look();
		store(X, x + 1);
		store(Y, y + 1);
		rwlock_unlock(R, WRITE_RULE);
		added = added + 1;
		goto next;

aborted:	roll_back();
		atomic {
			word = 0; x = 0; y = 0;
			if
			:: start == 1 -> start = 0; goto reader
			:: start == 2 -> start = 0; goto writer
			fi
		}
next:		atomic { x = 0; y = 0; start = 0; round++ }
	:: else -> break
	od
}

init {
	atomic {
		run thread(0);
		run thread(1);
#if THREADS > 2
		run thread(2);
#endif
		run toggle()
	}
	_nr_pr == 1;
	assert(mem[X] == added && mem[Y] == added);
	/* A write phase may stay behind the last writer. */
	assert(mem[R] == 0 || mem[R] == WRPHASE)
}
