// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sections.c - critical sections that read and write lines: the loads whose data is a table.
 *
 * Each adds to lines what it says it adds, so that the sum of the lines proves that
 * none was lost. Random numbers are drawn before the lock is taken.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "load.h"

/* The lock of all threads, and the lines that they share. */
static union lock common;
static struct line *table;
static uint32_t table_lines;
static union lock *nodes;
static struct line *node_lines;

static void init_data(void)
{
	table_lines = numbers.span + numbers.lines + (numbers.how == 2 ? LINES_TOO_MANY : 0);
	table = lines_of(table_lines * sizeof(*table));
	nodes = lines_of(numbers.locks * sizeof(*nodes));
	node_lines = lines_of(numbers.locks * sizeof(*node_lines));
	for (uint32_t i = 0; i < numbers.locks; i++)
		lock_init(&nodes[i], i + 1);
}

static void init_lines(void)
{
	lock_init(&common, 0);
	init_data();
}

static void init_rwlock(void)
{
	rwlock_init(&common, 0);
	init_data();
}

static bool sum_lines(uint64_t *sum)
{
	for (uint32_t i = 0; i < table_lines; i++)
		*sum += table[i].value;
	for (uint32_t i = 0; i < numbers.locks; i++)
		*sum += node_lines[i].value;
	return true;
}

const struct family family_lines = { .init = init_lines, .sum = sum_lines };
const struct family family_rwlock = { .init = init_rwlock, .sum = sum_lines };

static uint32_t draw_lines(struct worker *w)
{
	return numbers.lines + (numbers.jitter ? draw(w, numbers.jitter + 1) : 0);
}

static void add_lines(struct line *lines, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		lines[i].value++;
	spend(numbers.work);
}

/* Lines of a group change together: a section that sees two values saw half a change. */
static uint64_t differ(const struct line *lines, uint32_t nr)
{
	uint64_t first = *(volatile const uint64_t *)&lines[0].value, bad = 0;

	for (uint32_t i = 1; i < nr; i++)
		bad |= *(volatile const uint64_t *)&lines[i].value ^ first;
	spend(numbers.work);
	return bad;
}

static struct line *draw_group(struct worker *w)
{
	uint32_t groups = numbers.span / numbers.lines;

	return table + (size_t)numbers.lines * (groups > 1 ? draw(w, groups) : 0);
}

site void load_read(struct worker *w)
{
	struct line *group = draw_group(w);
	uint32_t write = numbers.writes && draw(w, 100) < numbers.writes;
	uint64_t bad = 0;

	lock_acquire(&common, &w->guard);
	if (write)
		add_lines(group, numbers.lines);
	else
		bad = differ(group, numbers.lines);
	lock_release(&common, &w->guard);
	w->bad += bad != 0;
	w->added += write ? numbers.lines : 0;
}

static site void read_shared(struct worker *w, struct line *group)
{
	uint64_t bad;

	rwlock_read(&common, &w->guard);
	bad = differ(group, numbers.lines);
	rwlock_release(&common, &w->guard);
	w->bad += bad != 0;
}

static site void write_shared(struct worker *w, struct line *group)
{
	rwlock_write(&common, &w->guard);
	add_lines(group, numbers.lines);
	rwlock_release(&common, &w->guard);
	w->added += numbers.lines;
}

void load_rwlock(struct worker *w)
{
	struct line *group = draw_group(w);

	if (numbers.writes && draw(w, 100) < numbers.writes)
		write_shared(w, group);
	else
		read_shared(w, group);
}

site void load_write(struct worker *w)
{
	uint32_t nr = draw_lines(w);

	lock_acquire(&common, &w->guard);
	add_lines(w->own, nr);
	lock_release(&common, &w->guard);
	w->added += nr;
}

site void load_shared(struct worker *w)
{
	struct line *at = table + draw(w, numbers.span);

	lock_acquire(&common, &w->guard);
	add_lines(at, numbers.lines);
	lock_release(&common, &w->guard);
	w->added += numbers.lines;
}

site void load_call(struct worker *w)
{
	uint32_t call = w->sections % numbers.every == numbers.every - 1;

	lock_acquire(&common, &w->guard);
	add_lines(w->own, numbers.lines);
	if (call)
		syscall(SYS_getppid);
	lock_release(&common, &w->guard);
	w->added += numbers.lines;
}

static site void friendly(struct worker *w)
{
	lock_acquire(&common, &w->guard);
	add_lines(w->own, numbers.lines);
	lock_release(&common, &w->guard);
	w->added += numbers.lines;
}

static site void hostile(struct worker *w)
{
	uint32_t nr = numbers.how == 2 ? LINES_TOO_MANY : numbers.lines;

	lock_acquire(&common, &w->guard);
	add_lines(numbers.how == 1 ? table : w->own, nr);
	if (numbers.how == 0)
		syscall(SYS_getppid);
	lock_release(&common, &w->guard);
	w->added += nr;
}

void load_sites(struct worker *w)
{
	if (draw(w, 100) < numbers.hostile)
		hostile(w);
	else
		friendly(w);
}

/* One site, so that nothing but the time tells one phase from another. */
site void load_phase(struct worker *w)
{
	uint32_t nasty = w->hostile, nr = nasty && numbers.how == 2 ? LINES_TOO_MANY : numbers.lines;
	struct line *lines = nasty && numbers.how == 1 ? table : w->own;

	lock_acquire(&common, &w->guard);
	add_lines(lines, nr);
	if (nasty && numbers.how == 0)
		syscall(SYS_getppid);
	lock_release(&common, &w->guard);
	w->added += nr;
}

site void load_alone(struct worker *w)
{
	lock_acquire(&w->lock, &w->guard);
	add_lines(w->own, numbers.lines);
	lock_release(&w->lock, &w->guard);
	w->added += numbers.lines;
}

site void load_nodes(struct worker *w)
{
	uint32_t node = draw(w, numbers.locks);

	lock_acquire(&nodes[node], &w->guard);
	node_lines[node].value++;
	spend(numbers.work);
	lock_release(&nodes[node], &w->guard);
	w->added++;
}
