/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutex.pml - mutexes: nested in both orders of release, unlocked by one who
 * does not hold them, taken and released past the library.
 *
 * Whoever holds A adds one to X and to Y. A section that sees them differ was
 * let in beside another one; if at the end they are not what was added, an
 * update was lost.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define A 0
#define B 1
#define C 2
#define X 3
#define Y 4
#define WORDS 5
#include "elide.pml"

byte added;

inline update()
{
	load(X, x);
	load(Y, y);
	assert(x == y);
	store(X, x + 1);
	store(Y, y + 1);
	x = 0;
	y = 0
}

proctype thread(byte me)
{
	byte word, x, y, start, round;

	do
	:: round < ROUNDS ->
		if
		:: goto single
		:: goto nested
		:: goto misuse
		:: goto bypass
		fi;

single:		mutex_lock(A, 1);
		update();
		mutex_unlock(A);
		atomic { added = added + 1; goto next }

		/* The real one may be the outer, the inner, or both; released in the order taken. */
nested:		mutex_lock(A, 2);
inner:		mutex_lock(B, 3);
		update();
		mutex_unlock(A);
		mutex_unlock(B);
		atomic { added = added + 1; goto next }

		/* C is free and nobody's: glibc does nothing, whatever else is held. */
misuse:		mutex_lock(A, 4);
		load(X, x);
		store(X, x + 1);
		mutex_unlock(C);
		load(Y, y);
		store(Y, y + 1);
		atomic { x = 0; y = 0 }
		mutex_unlock(A);
		atomic { added = added + 1; goto next }

		/* An object bound to glibc (RTLD_DEEPBIND) releases A and takes it again. */
bypass:		mutex_lock(A, 5);
		update();
		real_unlock(A);
		real_lock(A);
		update();
		mutex_unlock(A);
		atomic { added = added + 2; goto next }

aborted:	roll_back();
		atomic {
			word = 0; x = 0; y = 0;
			if
			:: start == 1 -> start = 0; goto single
			:: start == 2 -> start = 0; goto nested
			:: start == 3 -> start = 0; goto inner
			:: start == 4 -> start = 0; goto misuse
			:: start == 5 -> start = 0; goto bypass
			fi
		}
next:		atomic { start = 0; round++ }
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
	assert(mem[A] == 0 && mem[B] == 0 && mem[C] == 0)
}
