/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd.pml - parked threads of lib/adapt/crowd.c: none sleeps for ever beside a free lock.
 *
 * THREADS threads want a lock once; one of them may wait for it, the others park. The time that ends
 * each stay is left out, but for the first parked thread, which looks at the lock again and again: so
 * a wake-up that is lost is an invalid end state, and not a delay. Each access to a word is a step.
 * Whoever makes a thread the first may let a second one look, too, as one on another processor does.
 */
#ifndef THREADS
#define THREADS 4
#endif
#define NOBODY  255

#define EMPTY    0
#define PARKED   1
#define FIRST    2

bool locked;
byte waiting;        /* threads that wait for the lock and are not parked */
byte tickets;
byte state[THREADS]; /* of the place of each thread; its ticket: */
byte ticket[THREADS];
byte acquired;

/* FUTEX_WAIT: compares and sleeps in one step; FUTEX_WAKE: all that sleep at the word go on. */
bool asleep[THREADS];

/* The parked thread with the least ticket. Place by place, as the code looks at them. */
inline find_next(next)
{
	atomic { next = NOBODY; i = 0 }
	do
	:: i < THREADS ->
		atomic {
			if
			:: state[i] != EMPTY && (next == NOBODY || ticket[i] < ticket[next]) ->
				next = i
			:: else
			fi;
			i++
		}
	:: else -> break
	od
}

/* One of the others, or none: which threads run on another processor is anything. */
inline second()
{
	i = 0;
	do
	:: i < THREADS && i != next ->
		if
		:: atomic { state[i] == PARKED -> state[i] = FIRST; asleep[i] = false }; break
		:: true -> i++
		fi
	:: i == next -> i++
	:: i >= THREADS -> break
	od
}

inline pass_on()
{
	do
	:: true ->
		find_next(next);
		if
		:: next == NOBODY -> break
		:: else
		fi;
		if
		:: atomic { state[next] == FIRST -> break }
		:: atomic { state[next] == EMPTY -> skip }
		:: atomic { state[next] == PARKED -> state[next] = FIRST };
#ifndef FAULT_UNWOKEN
			asleep[next] = false;
#endif
			break
		fi
	od;
	if
	:: next != NOBODY -> second()
	:: else
	fi
}

proctype thread(byte me)
{
	byte i, next, seen;
	bool first;

	/* It finds the lock held, or takes it. */
	if
	:: atomic { !locked -> locked = true } goto got
	:: locked
	fi;
	if
	:: atomic { waiting == 0 -> waiting++ } goto wait
	:: waiting > 0
	fi;

	/* Arrive: the place is the thread's own. Which ticket is the less is known by then. */
	atomic { ticket[me] = tickets; tickets++ }
	state[me] = PARKED;
#ifdef FAULT_EARLY
	/* It sleeps without a look whether it is the first. */
	first = false;
#else
	find_next(next);
	first = next == me;
#endif
	do
	:: true ->
		seen = state[me];
		if
		:: seen == FIRST -> first = true
		:: else
		fi;
		if
		:: first ->
			/* Looks at the lock, or sleeps until it looks next: a stay without effect is no step. */
			atomic { !locked -> break }
		:: !first ->
#ifdef FAULT_COMPARE
			asleep[me] = true;
			!asleep[me]
#else
			/* The kernel sleeps only if the word is what was seen. */
			if
			:: atomic { state[me] == seen -> asleep[me] = true }; !asleep[me]
			:: state[me] != seen
			fi
#endif
		fi
	od;
	state[me] = EMPTY;
#ifndef FAULT_KEEPS
	pass_on();
#endif
	waiting++;

wait:	atomic { !locked -> locked = true }
	atomic { waiting > 0 -> waiting-- }
got:	atomic { acquired++; locked = false }
}

init {
	byte n;

	atomic {
		do
		:: n < THREADS -> run thread(n); n++
		:: else -> break
		od
	}
	_nr_pr == 1;
	assert(acquired == THREADS && waiting == 0)
}
