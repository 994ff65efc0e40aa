/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cond.pml - a condition variable with an errorcheck mutex, as glibc waits on it.
 *
 * Producers set a flag and signal, inside the section or after it; as many
 * consumers wait for it, some with a time limit. A wake-up that is lost leaves
 * a consumer asleep at the end. glibc releases the mutex and locks it again
 * inside of cond_wait, without the library: the mutex must be locked there, or
 * the wait fails with EPERM, as for any errorcheck mutex without an owner.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define M 0
#define OWNER 1
#define FLAG 2
#define WAITERS 3 /* threads that wait, as bits */
#define WORDS 4
#include "elide.pml"

/* preload/cond.c: cond_wait(); cond.h: wrap_wait() */
inline cond_wait()
{
#ifndef FAULT_COND
	if
	:: INSIDE -> goto aborted /* ELIDE_CODE_cond_wait */
	:: else
	fi;
#endif
	glibc_cond_wait()
}

/* The thread joins or leaves those that wait; a real access, as all of cond_wait is. */
inline set_waiting(waits)
{
	atomic {
		take_to_write(WAITERS);
		mem[WAITERS] = (waits -> mem[WAITERS] | BIT(me) : mem[WAITERS] & (255 - BIT(me)))
	}
}

inline glibc_cond_wait()
{
	load(OWNER, word);
	if
	:: word != me + 1 -> failed = true
	:: else ->
		assert(!tx[me].open);
		set_waiting(true);
		real_unlock(M);
		if
		:: !(mem[WAITERS] & BIT(me)) /* woken */
		:: set_waiting(false)        /* its time is over, or for no reason */
		fi;
		word = 1;
		do /* __pthread_mutex_cond_lock(): past the library, and always with the word 2 */
		:: word == 0 -> break
		:: else -> lock_slow(M)
		od;
		took_to_write(M);
		SET_OWNER(me + 1)
	fi
}

/* Nobody waits: no system call. Otherwise one of those who do, whichever. */
inline cond_signal()
{
	load(WAITERS, word);
	if
	:: word != 0 ->
		system_call();
		atomic {
			take_to_write(WAITERS);
			if
			:: mem[WAITERS] & BIT(0) -> mem[WAITERS] = mem[WAITERS] - BIT(0)
			:: mem[WAITERS] & BIT(1) -> mem[WAITERS] = mem[WAITERS] - BIT(1)
#if THREADS > 2
			:: mem[WAITERS] & BIT(2) -> mem[WAITERS] = mem[WAITERS] - BIT(2)
#endif
			:: mem[WAITERS] == 0
			fi
		}
	:: else
	fi;
	word = 0
}

proctype consumer(byte me)
{
	byte word, x, start, round;
	bool failed;

	do
	:: round < ROUNDS ->
take:		mutex_lock(M, 1);
		do
		:: load(FLAG, x);
			if
			:: x > 0 || failed -> break
			:: else -> cond_wait()
			fi
		od;
		if
		:: !failed -> store(FLAG, x - 1)
		:: else
		fi;
		mutex_unlock(M);
		assert(!failed);
		goto next;

aborted:	roll_back();
		atomic { word = 0; x = 0; failed = false; start = 0; goto take }
next:		atomic { x = 0; start = 0; round++ }
	:: else -> break
	od
}

proctype producer(byte me; byte rounds)
{
	byte word, x, start, round;
	bool inside;

	do
	:: round < rounds ->
		if
		:: inside = true
		:: inside = false
		fi;
give:		mutex_lock(M, 1);
		load(FLAG, x);
		store(FLAG, x + 1);
		if
		:: inside -> cond_signal()
		:: else
		fi;
		mutex_unlock(M);
		if
		:: !inside -> cond_signal()
		:: else
		fi;
		goto next;

aborted:	roll_back();
		atomic { word = 0; x = 0; start = 0; goto give }
next:		atomic { x = 0; start = 0; round++ }
	:: else -> break
	od
}

/* As many flags as consumers take. */
init {
	atomic {
		run consumer(0);
#if THREADS > 2
		run consumer(1);
		run producer(2, 2 * ROUNDS);
#else
		run producer(1, ROUNDS);
#endif
		run toggle()
	}
	_nr_pr == 1;
	assert(mem[M] == 0 && mem[FLAG] == 0 && mem[WAITERS] == 0)
}
