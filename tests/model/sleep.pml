/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleep.pml - waiting for a mutex that is not elided, preload/mutex-word.h: threads that stay awake before
 * and after they sleep, beside one that waits as glibc does. No wake-up is lost: else an end state is
 * invalid. Each access to the word is a step; how long a thread stays awake is left open, so each number
 * of looks is among the runs.
 */
#ifndef THREADS
#define THREADS 4
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

byte word;           /* 0: free, 1: held, 2: held, and a thread may sleep */
byte holders;
bool asleep[THREADS];

/* FUTEX_WAIT compares and sleeps in one step. */
inline futex_wait(value)
{
	if
	:: atomic { word == value -> asleep[_pid] = true };
	   !asleep[_pid]
	:: word != value -> skip
	fi
}

/* FUTEX_WAKE: one of those that sleep, whichever, if any does. */
inline futex_wake()
{
	atomic {
		if
		:: asleep[0] -> asleep[0] = false
		:: asleep[1] -> asleep[1] = false
		:: asleep[2] -> asleep[2] = false
#if THREADS > 3
		:: asleep[3] -> asleep[3] = false
#endif
		:: else
		fi
	}
}

inline exchange(value)
{
	atomic { old = word; word = value }
}

inline compare_exchange(value)
{
	atomic {
		old = word;
		if
		:: word == 0 -> word = value
		:: else
		fi
	}
}

/* Thread 0 waits as glibc does, the others stay awake. */
inline lock()
{
	compare_exchange(1);
	if
	:: old == 0 -> goto got
	:: old != 0 -> skip
	fi;
	/* mutex_stay_awake(): gives up at any time */
	do
	:: _pid != 0 ->
		compare_exchange(1);
		if
		:: old == 0 -> goto got
		:: old != 0 -> skip
		fi
	:: true -> break
	od;
	/* mutex_sleep() */
	do
	:: true ->
#ifdef FAULT_UNMARKED
		if
		:: woken -> old = 1
		:: !woken -> exchange(2)
		fi;
#else
		exchange(2);
#endif
		if
		:: old == 0 -> break
		:: old != 0 -> skip
		fi;
#ifdef FAULT_UNMARKED
		if
		:: woken -> futex_wait(1)
		:: !woken -> futex_wait(2)
		fi;
#else
		futex_wait(2);
#endif
		woken = true;
		do
		:: _pid != 0 ->
#ifdef FAULT_ONE
			compare_exchange(1);
#else
			compare_exchange(2);
#endif
			if
			:: old == 0 -> goto got
			:: old != 0 -> skip
			fi
		:: true -> break
		od
	od;
got:	skip
}

active [THREADS] proctype thread()
{
	byte old, round;
	bool woken;

	do
	:: round < ROUNDS ->
		woken = false;
		lock();
		holders++;
		assert(holders == 1);
		holders--;
		exchange(0);
		if
		:: old == 2 -> futex_wake()
		:: old != 2 -> skip
		fi;
		round++
	:: else -> break
	od
}
