/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.pml - the table of locks, lib/state/lock-table.c, which is made anew while others use it.
 *
 * The mover moves the words to the next table. The owner initialises and destroys its lock, LOCK, by
 * plain stores while it sees no next table; they wait in its store buffer, as on x86: its own
 * loads see them, a locked instruction and membarrier(2) wait until they are made. Another thread, or
 * several, register the lock OTHER in the same places, and one looks LOCK up. At last each lock
 * has the tag of its last initialisation, in one place of the table in use; threads that meet OTHER
 * first have the same tag of it; and a look-up finds a tag that the lock had meanwhile. Each access to
 * a word is a step. Memory of a table that is left is given back, word by word.
 *
 *   OPERATIONS  of the owner
 *   LOOK        1: a thread looks LOCK up
 *   MEET        1: a thread initialises OTHER; 2: two threads meet it first
 *   QUICK       the owner does it all anew after a plain store, as elide_table_store() is refused
 *   TWICE       the table is made anew again
 *   LARGER      or, while that goes on, there is a larger one, as a word found no place
 *
 * Seeded faults, each of which must be found:
 *   FAULT_BARRIER  the mover does not wait for stores that are on their way
 *   FAULT_LOOK     who has made a plain store does not look for the next table again
 *   FAULT_FENCE    nor waits until that store is made before it looks there
 *   FAULT_MARK     a word is marked as moved before its copy is there
 *   FAULT_CLAIM    a place that was never used is taken by a plain store
 *   FAULT_FIRST    who meets a lock first puts it there behind words that were moved
 *   FAULT_LATE     a larger table is published when it has the words of the one before
 */
#ifdef FAULT_LATE
#define LARGER
#endif
#ifdef FAULT_FIRST
#define MEET 2
#define OPERATIONS 0
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif
#ifdef QUICK
#undef QUICK
#define QUICK owner
#else
#define QUICK false
#endif
#ifndef LOOK
#define LOOK 1
#endif
#ifndef MEET
#define MEET 1
#endif
#define TABLES 3
#define PLACES 2

/* Words: 0, or a lock and its tag. */
#define MOVED 1
#define LOCK  16
#define OTHER 32
#define GONE  8
#define OF(word)  ((word) & 240)
#define TAG(word) ((word) & 15)
#define BIT(tag)  (1 << (((tag) & GONE) -> 0 : (tag)))

byte words[6];
byte next[TABLES];
byte now;

/* The owner's store buffer. */
byte buffered;
byte buffer_at[2];
byte buffer_word[2];

/* Tags that the lock may have now, and those that it may have had since the look-up has begun. */
byte may_be = BIT(1);
byte had;
byte last = 1;
bool changes;
byte other_tag;
bool over;

/* The owner has done what it does, and others see that: who learns of it has waited for its stores. */
inline settled()
{
	if
	:: buffered == 0 && !changes -> may_be = BIT(last)
	:: else
	fi
}

inline drain_one()
{
	words[buffer_at[0]] = buffer_word[0];
	buffer_at[0] = buffer_at[1];
	buffer_word[0] = buffer_word[1];
	buffer_at[1] = 0;
	buffer_word[1] = 0;
	buffered--;
	settled()
}

inline drain()
{
	if
	:: buffered > 0 -> drain_one()
	:: else
	fi;
	if
	:: buffered > 0 -> drain_one()
	:: else
	fi
}

inline load(at, to)
{
	d_step {
		if
		:: owner && buffered > 1 && buffer_at[1] == at -> to = buffer_word[1]
		:: else ->
			if
			:: owner && buffered > 0 && buffer_at[0] == at -> to = buffer_word[0]
			:: else -> to = words[at]
			fi
		fi
	}
}

inline store(at, v)
{
	atomic {
		buffered < 2 ->
		buffer_at[buffered] = at;
		buffer_word[buffered] = v;
		buffered++
	}
}

inline swap(at, from, to, done)
{
	d_step {
		if
		:: owner -> drain()
		:: else
		fi;
		done = words[at] == from;
		if
		:: done -> words[at] = to
		:: else
		fi
	}
}

/* place_of() and elide_table_find(). @at: NOWHERE, or where the lock is or could be, as @old says. */
#define NOWHERE 255

inline search(table, lock)
{
	atomic { i = 0; moved = false; at = NOWHERE; old = 0 }
	do
	:: i < PLACES ->
		load((table) * PLACES + i, old);
		if
		:: old == 0 || OF(old) == lock -> at = (table) * PLACES + i; break
		:: else -> moved = moved || old == MOVED; i++
		fi
	:: else -> old = 0; break
	od
}

inline claim(word)
{
#ifdef FAULT_CLAIM
	words[at] = word;
	done = true
#else
	swap(at, 0, word, done)
#endif
}

/* @is: 0: the next table has it. */
inline put_in(table, word)
{
	do
	:: true ->
		search(table, OF(word));
		if
		:: at == NOWHERE -> is = 0; break
		:: else
		fi;
		if
		:: old == 0 && moved ->
#ifdef FAULT_FIRST
			is = 0;
			break
#else
			swap(at, 0, MOVED, done);
			if
			:: done -> is = 0; break
			:: else
			fi
#endif
		:: old == 0 && !moved ->
			claim(word);
			if
			:: done -> is = word; new = true; break
			:: else
			fi
		:: old != 0 && !initialised && !(old & GONE) -> is = old; break
		:: else ->
			if
			:: old == word -> is = word; new = true; break
			:: old != word && plain -> store(at, word); is = word; new = true; break
			:: else ->
				swap(at, old, word, done);
				if
				:: done -> is = word; new = true; break
				:: else
				fi
			fi
		fi
	od
}

/* next_of(), or elide_table_store() and then elide_table_put() or elide_table_remove() again. */
inline next_of()
{
#ifdef FAULT_LOOK
	if
	:: plain -> break
	:: else
	fi;
#endif
	atomic {
		again = plain && next[table] != 0 && QUICK;
		plain = false;
		table = next[table]
	};
	if
	:: again -> table = now; plain = next[table] == 0
	:: else ->
#ifndef FAULT_FENCE
		atomic {
			if
			:: owner && table != 0 -> drain()
			:: else
			fi
		}
#else
		skip
#endif
	fi
}

/* elide_table_put() */
inline put(word)
{
	d_step { table = now; new = false }
	plain = initialised && next[table] == 0;
	do
	:: true ->
		put_in(table, word);
		next_of();
		if
		:: (table == 0 && !again) || (is != 0 && !new) -> break
		:: else
		fi
	od;
	atomic { at = 0; old = 0; i = 0; moved = false; done = false; table = 0; new = false }
}

/* elide_table_remove() */
inline remove(lock)
{
	table = now;
	plain = next[table] == 0;
	do
	:: true ->
		do
		:: true ->
			search(table, lock);
			if
			:: at == NOWHERE || old == 0 || (old & GONE) -> break
			:: else
			fi;
			if
			:: plain -> store(at, old | GONE); break
			:: else ->
				swap(at, old, old | GONE, done);
				if
				:: done -> break
				:: else
				fi
			fi
		od;
		next_of();
		if
		:: table == 0 && !again -> break
		:: else
		fi
	od;
	atomic { at = 0; old = 0; i = 0; moved = false; done = false; table = 0; is = 0 }
}

/* The owner begins an operation after which the tag is that. */
inline begin(tag)
{
	may_be = may_be | BIT(tag);
	had = had | BIT(tag);
	last = tag;
	changes = true
}

proctype owns()
{
	bool owner = true, initialised = true, plain, moved, done, new, again;
	byte n, i, at, old, is, table;

	do
	:: n < OPERATIONS ->
		if
		:: d_step { !(last & GONE) -> begin(GONE) };
			remove(LOCK)
		:: d_step { begin(1) };
			put(LOCK + 1)
		:: d_step { begin(2) };
			put(LOCK + 2)
		fi;
		atomic { is = 0; changes = false; settled(); n++ }
	:: else -> break
	od;
	buffered == 0
}

/* The processor's. */
proctype stores()
{
	do
	:: atomic { buffered > 0 -> d_step { drain_one() } }
	:: over && buffered == 0 -> break
	od
}

proctype meets(byte tag)
{
	bool owner = false, initialised = MEET < 2, plain, moved, done, new, again;
	byte i, at, old, is, table;

	put(OTHER + tag);
	/* Not found a place for it in the last table: there is one. */
	atomic {
		assert(other_tag == 0 || other_tag == TAG(is));
		other_tag = TAG(is)
	}
}

/* elide_registry_find() */
proctype looks_up()
{
	bool owner = false, moved;
	byte i, at, old, table;

	d_step { had = may_be; table = now };
	do
	:: true ->
		search(table, LOCK);
		if
		:: old != 0 -> break
		:: else
		fi;
		table = next[table];
		if
		:: table == 0 -> break
		:: else
		fi
	od;
	atomic {
		if
		:: at == NOWHERE || old == 0 -> old = GONE
		:: else -> old = TAG(old)
		fi;
		assert(had & BIT(old));
		had = 0
	}
}

inline copy(to, word)
{
	do
	:: true ->
		search(to, OF(word));
		assert(at != NOWHERE);
		swap(at, old, word, done);
		if
		:: done -> break
		:: else
		fi
	od
}

/* move_word() of a word that was read. @done: else it was changed meanwhile. */
inline move_word(from, to, word)
{
#ifdef FAULT_MARK
	swap(from, word, MOVED, done);
#endif
	if
	:: word & GONE -> search(to, OF(word))
	:: else -> at = NOWHERE; old = 0
	fi;
	if
	:: word != 0 && (!(word & GONE) || old != 0) -> copy(to, word)
	:: else
	fi;
#ifdef FAULT_MARK
	done = true
#else
	swap(from, word, MOVED, done)
#endif
}

/* In the model a word finds no place in the next table whenever the mover likes, once. */
inline make_larger()
{
	larger = 2;
#ifndef FAULT_LATE
	next[1] = 2;
#endif
	inner = 0;
	do
	:: inner < PLACES ->
		load(PLACES + inner, copied);
		if
		:: copied == MOVED -> done = true
		:: else -> move_word(PLACES + inner, 2, copied)
		fi;
		if
		:: done -> inner++
		:: else
		fi
	:: else -> break
	od;
#ifdef FAULT_LATE
	next[1] = 2;
#endif
	atomic { inner = 0; copied = 0 }
}

inline let_go(table)
{
	outer = 0;
	do
	:: outer < PLACES -> words[(table) * PLACES + outer] = 0; outer++
	:: else -> outer = 0; break
	od
}

/* elide_table_make_room() */
inline make_anew(from)
{
	larger = from + 1;
	next[from] = larger;
#ifndef FAULT_BARRIER
	d_step { drain() };
#endif
	outer = 0;
	do
	:: outer < PLACES ->
		load((from) * PLACES + outer, moving);
		if
		:: moving == MOVED -> done = true
		:: else ->
#ifdef LARGER
			if
			:: larger == 1 -> make_larger()
			:: true
			fi;
#endif
			move_word((from) * PLACES + outer, larger, moving)
		fi;
		atomic {
			if
			:: done -> outer++
			:: else
			fi;
			moving = 0; at = 0; old = 0; i = 0; moved = false; done = false
		}
	:: else -> break
	od;
	now = larger;
	let_go(from);
	if
	:: larger > from + 1 -> let_go(from + 1)
	:: else
	fi
}

proctype moves()
{
	bool owner = false, moved, done;
	byte i, at, old, larger, outer, inner, moving, copied;

	make_anew(0);
#ifdef TWICE
	make_anew(1)
#endif
}

/* Words of a lock in the table in use. */
inline count(lock, tag)
{
	i = 0;
	nr = 0;
	do
	:: i < PLACES ->
		if
		:: OF(words[now * PLACES + i]) == lock && !(words[now * PLACES + i] & GONE) ->
			nr++;
			assert(TAG(words[now * PLACES + i]) == (tag))
		:: else
		fi;
		i++
	:: else -> break
	od
}

init {
	byte i, nr;

	atomic {
		words[0] = LOCK + 1;
		run stores();
		run moves();
		run owns();
#if LOOK
		run looks_up();
#endif
#if MEET != 0
		run meets(4);
#endif
#if MEET > 1
		run meets(5);
#endif
		skip
	};
	/* All but stores(). */
	_nr_pr == 2 && buffered == 0;
	atomic {
		over = true;
		count(LOCK, last);
		assert(nr == ((last & GONE) -> 0 : 1));
		count(OTHER, other_tag);
		assert(nr == (MEET != 0))
	}
}
