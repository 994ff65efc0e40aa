/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch.h - the operations of a latch as a table.
 *
 * A latch NAME has a header of its own with a type struct NAME_latch, its functions,
 * and LATCH_EXCLUSIVE(NAME) or LATCH_SHARED(NAME), which define the table latch_NAME.
 * The table is a constant where a synchronisation scheme uses it, so the compiler makes
 * the calls direct and inlines them: the function of the scheme is then the call site
 * of the lock that a profile shows. No latch may include an index.
 */
#ifndef DEMO_LATCH_H
#define DEMO_LATCH_H

/**
 * struct latch_ops - the operations of a latch
 * @init: initialise a free latch; returns 0 or an errno value
 * @destroy: destroy a free latch
 * @read: acquire to read: shared, or exclusively if the latch knows no readers
 * @write: acquire to write: exclusively
 * @read_release: release after @read
 * @write_release: release after @write
 *
 * The functions receive a pointer to struct NAME_latch. Acquire and release return no
 * error: with these types of locks, used as a latch, pthreads specifies none.
 */
struct latch_ops {
	int (*init)(void *latch);
	void (*destroy)(void *latch);
	void (*read)(void *latch);
	void (*write)(void *latch);
	void (*read_release)(void *latch);
	void (*write_release)(void *latch);
};

/* Wrap FUNCTION, which takes a struct NAME_latch, in a function that takes a void *. */
#define LATCH_WRAP(type, id, operation, function)                                                  \
	static inline type id##_do_##operation(void *latch)                                        \
	{                                                                                          \
		return function(latch);                                                            \
	}

#define LATCH_TABLE(id, lock_read, lock_write, unlock_read, unlock_write)                          \
	LATCH_WRAP(int, id, init, id##_init)                                                       \
	LATCH_WRAP(void, id, destroy, id##_destroy)                                                \
	LATCH_WRAP(void, id, read, lock_read)                                                      \
	LATCH_WRAP(void, id, write, lock_write)                                                    \
	LATCH_WRAP(void, id, read_release, unlock_read)                                            \
	LATCH_WRAP(void, id, write_release, unlock_write)                                          \
	static const struct latch_ops latch_##id = {                                               \
		id##_do_init, id##_do_destroy, id##_do_read, id##_do_write, id##_do_read_release,  \
		id##_do_write_release,                                                             \
	};

/* The table latch_NAME of a latch with the functions init, destroy, acquire and release. */
#define LATCH_EXCLUSIVE(id) LATCH_TABLE(id, id##_acquire, id##_acquire, id##_release, id##_release)

/* The table of a latch with init, destroy, read, write, read_release and write_release. */
#define LATCH_SHARED(id)                                                                           \
	LATCH_TABLE(id, id##_read, id##_write, id##_read_release, id##_write_release)

#endif
