/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine.pml - memory, restricted transactional memory and the futex.
 *
 * A transaction is a speculative execution: its stores wait in a buffer of its
 * own until it commits, and the words it has read and written are watched.
 * An access of another thread that conflicts with a watched word, inside a
 * transaction or outside, wins, and the transaction is lost (requester wins, as
 * cache coherence decides on Intel's processors). A transaction may also be lost
 * at any access for no reason that the program knows. A system call inside ends
 * it. Rolling back restores all that it wrote, the thread's held list included,
 * and continues after the XBEGIN.
 *
 * Memory is sequentially consistent: outside of transactions locks are accessed
 * by atomic read-modify-writes, which x86 orders with all other accesses.
 *
 * A model that includes this defines THREADS (2 or 3), WORDS (at most 8), has
 * the variables me, word and start in its processes, and there a label
 * "aborted" behind which roll_back() stands.
 */
#define BIT(w) (1 << (w))

/*
 * held, seen: the held list, the locks in it as bits, and what their words held.
 * reading, writing: locks the section is about; took, gave: locks that were locked and
 * released in it. For the assertions, when it commits.
 */
typedef transaction {
	bool open;
	bool lost;
	byte reads;
	byte writes;
	byte value[WORDS];
	byte held;
	byte seen[WORDS];
	byte reading;
	byte writing;
	byte took;
	byte gave;
};

byte mem[WORDS];
transaction tx[THREADS];
byte asleep[THREADS]; /* in futex_wait on this word, plus one */
hidden byte i;

/* What it has read and written is watched no more. The thread notices at its next access. */
inline forget(t)
{
	tx[t].reads = 0;
	tx[t].writes = 0;
	i = 0;
	do
	:: i < WORDS -> tx[t].value[i] = 0; i++
	:: else -> break
	od
}

/* The end of one, either way: the held list is empty. */
inline close(t)
{
	forget(t);
	i = 0;
	do
	:: i < WORDS -> tx[t].seen[i] = 0; i++
	:: else -> break
	od;
	tx[t].held = 0;
	tx[t].reading = 0;
	tx[t].writing = 0;
	tx[t].took = 0;
	tx[t].gave = 0;
	tx[t].open = false;
	tx[t].lost = false
}

inline lose(t, w, watched)
{
	if
	:: t != me && ((watched) & BIT(w)) -> forget(t); tx[t].lost = true
	:: else
	fi
}

#if THREADS > 2
#define LOSE_THIRD(w, watched) lose(2, w, watched)
#else
#define LOSE_THIRD(w, watched) skip
#endif

/* A load takes the word from those who have written it, a store from everyone. */
inline take_to_read(w)
{
	d_step {
		lose(0, w, tx[0].writes);
		lose(1, w, tx[1].writes);
		LOSE_THIRD(w, tx[2].writes)
	}
}

inline take_to_write(w)
{
	d_step {
		lose(0, w, (tx[0].reads | tx[0].writes));
		lose(1, w, (tx[1].reads | tx[1].writes));
		LOSE_THIRD(w, (tx[2].reads | tx[2].writes))
	}
}

#define VALUE(w) ((tx[me].writes & BIT(w)) -> tx[me].value[w] : mem[w])

inline put(w, v)
{
	if
	:: tx[me].open -> tx[me].value[w] = v; tx[me].writes = tx[me].writes | BIT(w)
	:: else -> mem[w] = v
	fi
}

/* Every access begins so: this is where a transaction notices that it is lost. */
inline may_abort()
{
	if
	:: tx[me].open -> goto aborted
	:: !tx[me].lost
	fi
}

inline load(w, to)
{
	atomic {
		may_abort();
		take_to_read(w);
		d_step {
			to = VALUE(w);
			if
			:: tx[me].open -> tx[me].reads = tx[me].reads | BIT(w)
			:: else
			fi
		}
	}
}

inline store(w, v)
{
	atomic {
		may_abort();
		take_to_write(w);
		put(w, v)
	}
}

/* xchg */
inline exchange(w, v, old)
{
	atomic {
		may_abort();
		take_to_write(w);
		old = VALUE(w);
		put(w, v)
	}
}

/* lock cmpxchg: it takes the line to write even if it fails. */
inline compare_exchange(w, expected, v, old)
{
	atomic {
		may_abort();
		take_to_write(w);
		old = VALUE(w);
		if
		:: old == expected -> put(w, v)
		:: else -> put(w, old)
		fi
	}
}

inline xbegin(here)
{
	atomic { tx[me].open = true; start = here }
}

/* Outside of a transaction the instruction is a general protection fault. */
inline xend()
{
	atomic {
		if
		:: tx[me].lost -> goto aborted
		:: else
		fi;
		assert(tx[me].open);
		d_step {
			i = 0;
			do
			:: i < WORDS ->
				if
				:: tx[me].writes & BIT(i) -> mem[i] = tx[me].value[i]
				:: else
				fi;
				i++
			:: else -> break
			od;
			close(me)
		}
	}
}

inline roll_back()
{
	d_step { close(me) }
}

inline system_call()
{
	if
	:: tx[me].open -> goto aborted
	:: else
	fi
}

/* FUTEX_WAIT: sleeps if the word is as expected. */
inline futex_wait(w, expected)
{
	system_call();
	atomic {
		take_to_read(w);
		if
		:: mem[w] == expected -> asleep[me] = w + 1
		:: else
		fi
	}
	asleep[me] == 0
}

/* FUTEX_WAKE of one, whichever. */
inline futex_wake(w)
{
	system_call();
	atomic {
		if
		:: asleep[0] == w + 1 -> asleep[0] = 0
		:: asleep[1] == w + 1 -> asleep[1] = 0
#if THREADS > 2
		:: asleep[2] == w + 1 -> asleep[2] = 0
#endif
		:: else
		fi
	}
}
