/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pi.pml - the lock of the global-lock paths, lib/base/pi-lock.c, of which the kernel refuses to release what
 * thread 0 holds, as a filter of that thread alone makes it do: the lock has one holder at a time, and no
 * thread sleeps for ever: else an end state is invalid. Thread 0 ends while others may sleep: then the
 * kernel gives them what it takes for the lock of a thread that has ended. Each access to a word is a
 * step, a system call is one; a sleep may end by its time whenever the lock has been refused.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef ANY_TIME
#define ANY_TIME false /* or a sleep ends by its time before that, too */
#endif
#define NOBODY 255

byte word = NOBODY;  /* the holder's id */
bool waiters;        /* the flag in the word */
byte owner = NOBODY; /* whom the kernel takes for the holder, while threads sleep */
bool asleep[THREADS];
bool given[THREADS]; /* the kernel has woken it with the lock */
byte sleepers;
bool refused;
byte holders;

inline any_asleep(i, found)
{
	i = 0;
	found = NOBODY;
	do
	:: i < THREADS ->
		if
		:: asleep[i] -> found = i
		:: else
		fi;
		i++
	:: else -> break
	od
}

/* The kernel gives the lock to one that sleeps, whatever the word is. */
inline hand_over(i, found)
{
	any_asleep(i, found);
	if
	:: found != NOBODY ->
		asleep[found] = false;
		given[found] = true;
		word = found;
		owner = found;
		any_asleep(i, found);
		waiters = found != NOBODY;
		if
		:: found == NOBODY -> owner = NOBODY
		:: else
		fi
	:: else -> word = NOBODY; waiters = false; owner = NOBODY
	fi
}

/* FUTEX_LOCK_PI. @err: it has not got the lock. */
inline lock_pi()
{
	atomic {
		if
		:: word == NOBODY -> word = _pid; err = false; sleeps = false
		:: word != NOBODY && owner != NOBODY && owner != word -> err = true; sleeps = false
		:: else ->
			waiters = true;
			owner = word;
			asleep[_pid] = true;
			sleeps = true
		fi
	};
	if
	:: sleeps ->
		if
		:: atomic { given[_pid] -> given[_pid] = false; err = false }
#ifndef FAULT_UNBOUNDED
		:: atomic {
			asleep[_pid] && (refused || ANY_TIME) ->
			asleep[_pid] = false;
			err = true;
			any_asleep(i, found);
			if
			:: found == NOBODY -> owner = NOBODY
			:: else
			fi
		   }
#endif
		fi
	:: else
	fi
}

inline take()
{
	atomic {
		if
		:: word == NOBODY -> word = _pid; waiters = false; err = false
		:: else -> err = true
		fi
	}
}

inline lock()
{
	do
	:: true ->
		/* Naps until it is free, where no thread sleeps any more. */
		if
		:: refused -> word == NOBODY
		:: else
		fi;
		take();
		if
		:: !err -> break
		:: else
		fi;
		/* The filter forbids thread 0 this one, too. */
		if
		:: _pid == 0 -> word == NOBODY
		:: else ->
			sleepers++;
			if
			:: !refused -> lock_pi()
			:: else -> err = true
			fi;
			sleepers--;
			if
			:: !err -> break
			:: else
			fi
		fi
	od
}

inline unlock()
{
	atomic {
		if
		:: word == _pid && !waiters -> word = NOBODY; done = true
		:: else -> done = false
		fi
	};
	if
	:: !done && _pid == 0 ->
		refused = true;
#ifndef FAULT_EARLY
		sleepers == 0;
#endif
		atomic { word = NOBODY; waiters = false }
	:: !done && _pid != 0 -> atomic { assert(word == _pid); hand_over(i, found) }
	:: else
	fi
}

active [THREADS] proctype thread()
{
	byte round, i, found;
	bool err, sleeps, done;

	do
	:: round < ROUNDS ->
		lock();
		holders++;
		assert(holders == 1);
		holders--;
		unlock();
		round++
	:: else -> break
	od;
	/* The thread ends. */
	atomic {
		if
		:: owner == _pid -> hand_over(i, found)
		:: else
		fi
	}
}
