// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - verifies a file of pages that no process changes (page_bench --check). It writes
 * nothing and ends whatever the file contains.
 *
 * Each tree is walked from its root, and each node is read once: its checksum, its tag, what it
 * states about itself, and whether its parent agrees. Pages below one that
 * cannot be used are found as unreachable. A free page without numbers of others has no content.
 */
#include "parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Levels of the highest tree: a node has two children at least, and there are 2^32 pages. */
#define LEVELS 33

/* Lines that are printed of what is found; the others are counted alone. */
#define LINES 1000

/* What is known of a page. */
#define REACHED 1
#define FREE 2

/**
 * struct check - a file that is verified
 * @fd: the file
 * @out: where lines go, or NULL
 * @report: what was found
 * @super: the newer superblock
 * @nr: number of pages of the file
 * @state: REACHED or FREE or 0, of each page
 * @pages: the nodes from the root to the current one
 * @lines: number of lines
 */
struct check {
	int fd;
	FILE *out;
	struct store_report *report;
	const struct superblock *super;
	uint32_t nr;
	unsigned char *state;
	struct page_node *pages;
	unsigned int lines;
};

/**
 * struct place - what the parent of a node states of it
 * @parent: number of the parent, 0 for the superblock
 * @tree: number of the tree
 * @level: level of the node, -1 if any
 * @lower: its lower fence
 * @upper: its upper fence
 */
struct place {
	uint32_t parent;
	unsigned int tree;
	int level;
	struct bytes lower, upper;
};

static void __attribute__((format(printf, 3, 4))) found(struct check *c, uint64_t *count,
							const char *format, ...)
{
	va_list args;

	(*count)++;
	if (!c->out || ++c->lines > LINES)
		return;
	va_start(args, format);
	vfprintf(c->out, format, args);
	va_end(args);
	fputc('\n', c->out);
}

/* Read a page and look at its tag; false: it is found to be wrong. */
static bool take(struct check *c, uint32_t id, struct page_node *page, enum page_kind kind)
{
	struct store_report *r = c->report;
	int err = io_read_all(c->fd, page, PAGE_BYTES, (off_t)id * PAGE_BYTES);

	if (err && err != -EBADMSG)
		found(c, &r->torn, "page %u cannot be read: %s", id, strerror(-err));
	else if (err || !page_whole(page))
		found(c, &r->torn, "page %u is torn", id);
	else if (page->tag.id != id)
		found(c, &r->misplaced, "page %u is misplaced: it is page %u", id, page->tag.id);
	else if (page->tag.generation > c->super->generation)
		found(c, &r->misplaced, "page %u is misplaced: it is newer than the superblock",
		      id);
	else if (page->tag.kind != kind)
		found(c, &r->misplaced, "page %u is misplaced: it is %s", id,
		      kind == PAGE_NODE ? "no node" : "not free");
	else
		return true;
	return false;
}

/* Whether a node is what its parent states; false: its children are not read. */
static bool fits(struct check *c, uint32_t id, const struct page_node *node, const struct place *at)
{
	struct store_report *r = c->report;
	const char *wrong;

	if (node->tag.tree != at->tree || node->level >= LEVELS ||
	    (at->level >= 0 && node->level != at->level)) {
		found(c, &r->misplaced,
		      "page %u is misplaced: it is of tree %u on level %u, and page %u has tree %u",
		      id, node->tag.tree, node->level, at->parent, at->tree);
		return false;
	}
	wrong = page_node_check(node);
	if (!wrong && (bytes_compare(page_node_fence(node, node->lower), at->lower) ||
		       bytes_compare(page_node_fence(node, node->upper), at->upper)))
		wrong = "its fences are not those of its parent";
	if (wrong)
		found(c, &r->damaged, "page %u is damaged: %s", id, wrong);
	return !wrong;
}

/* Whether a page may be the child of another one; it is noted as reached. */
static bool reach(struct check *c, uint32_t id, uint32_t parent)
{
	uint64_t *damaged = &c->report->damaged;

	if (id < STORE_FIRST || id >= c->nr)
		found(c, damaged, "page %u is damaged: its child %u is outside the file", parent,
		      id);
	else if (c->state[id] == REACHED)
		found(c, damaged, "page %u is damaged: its child %u has another parent", parent,
		      id);
	else if (c->state[id] == FREE)
		found(c, damaged, "page %u is damaged: its child %u is free", parent, id);
	else {
		c->state[id] = REACHED;
		return true;
	}
	return false;
}

static void walk(struct check *c, uint32_t id, const struct place *at, unsigned int depth);

/* Walk the children of a node. */
static void walk_children(struct check *c, uint32_t id, const struct page_node *node,
			  const struct place *at, unsigned int depth)
{
	unsigned char keys[2][PAGE_KEY_MAX];
	struct place child = { id, at->tree, node->level - 1, at->lower, at->upper };

	for (unsigned int i = 0; i <= node->nr; i++) {
		unsigned char *key = keys[i % 2];
		uint32_t to = node->last;

		child.upper = at->upper;
		if (i < node->nr) {
			memcpy(&to, page_node_value(node, i).data, sizeof(to));
			child.upper = (struct bytes){ key, page_node_key(node, i, key) };
		}
		walk(c, to, &child, depth + 1);
		child.lower = child.upper;
	}
}

/* Verify a node and all below it. */
static void walk(struct check *c, uint32_t id, const struct place *at, unsigned int depth)
{
	struct page_node *node = &c->pages[depth];

	if (!reach(c, id, at->parent) || !take(c, id, node, PAGE_NODE) || !fits(c, id, node, at))
		return;
	c->report->nodes++;
	if (node->level)
		walk_children(c, id, node, at, depth);
}

/* The free pages of a clean file. */
static void check_free(struct check *c)
{
	struct store_report *r = c->report;
	struct page_node *page = &c->pages[0];
	uint32_t id = c->super->free, next;

	/* Each page of the chain has a number that is new, so the chain ends. */
	while (id) {
		const uint32_t *ids;
		uint64_t before = r->free;
		int nr;

		if (id >= c->nr || !take(c, id, page, PAGE_FREE))
			break;
		nr = free_page_read(page, &ids, &next);
		for (int i = 0; i < nr; i++) {
			if (ids[i] < STORE_FIRST || ids[i] >= c->nr || c->state[ids[i]]) {
				found(c, &r->damaged, "page %u is damaged: it has %u as free", id,
				      ids[i]);
				continue;
			}
			c->state[ids[i]] = FREE;
			r->free++;
		}
		if (r->free == before)
			break;
		id = next;
	}
	if (r->free != c->super->nr_free)
		found(c, &r->damaged, "superblock is damaged: of %u free pages %llu are listed",
		      c->super->nr_free, (unsigned long long)r->free);
}

static bool never_written(const struct page_node *page)
{
	static const struct page_tag none;

	return !memcmp(&page->tag, &none, sizeof(none));
}

/* The pages that are neither free nor below a root. */
static void check_rest(struct check *c)
{
	struct store_report *r = c->report;
	struct page_node *page = &c->pages[0];

	for (uint32_t id = STORE_FIRST; id < c->nr; id++) {
		int err;

		if (c->state[id])
			continue;
		err = io_read_all(c->fd, page, PAGE_BYTES, (off_t)id * PAGE_BYTES);
		/* A file that is not clean has pages that were allocated and not written. */
		if (!err && !r->clean && never_written(page))
			continue;
		if (err || !page_whole(page))
			found(c, &r->torn, "page %u is torn, and unreachable", id);
		else
			found(c, &r->unreachable, "page %u is unreachable", id);
	}
}

static void check_trees(struct check *c)
{
	const struct bytes none = { "", 0 };

	for (unsigned int i = 0; i < STORE_ROOTS; i++) {
		struct place at = { 0, i, -1, none, none };

		if (c->super->roots[i].page)
			walk(c, c->super->roots[i].page, &at, 0);
	}
}

static void check_super(struct check *c, const struct superblock *two, int newer)
{
	struct store_report *r = c->report;

	if (!super_whole(&two[!newer], !newer))
		found(c, &r->torn, "superblock %d is torn", !newer);
	else if (two[!newer].generation + 1 != two[newer].generation)
		found(c, &r->misplaced, "superblock %d is misplaced: it is not the one before",
		      !newer);
}

/* Number of pages to verify: those of a clean file, or all that there are. */
static int check_size(struct check *c, char *why, size_t len)
{
	struct stat st;

	if (fstat(c->fd, &st)) {
		snprintf(why, len, "%s", strerror(errno));
		return -errno;
	}
	c->nr = st.st_size / PAGE_BYTES > UINT32_MAX ? UINT32_MAX :
						       (uint32_t)(st.st_size / PAGE_BYTES);
	if (c->report->clean && c->nr < c->super->nr)
		found(c, &c->report->damaged, "the file is truncated: it has %u of %u pages",
		      c->nr, c->super->nr);
	else if (c->report->clean)
		c->nr = c->super->nr;
	c->report->pages = c->nr;
	return 0;
}

static void check_pages(struct check *c)
{
	if (c->report->clean)
		check_free(c);
	check_trees(c);
	check_rest(c);
	if (c->out && c->lines > LINES)
		fprintf(c->out, "and %u more\n", c->lines - LINES);
}

/**
 * check_file() - as store_check(), of a file that is open
 * @fd: the file
 */
int check_file(int fd, FILE *out, struct store_report *report, char *why, size_t len)
{
	struct superblock *two = aligned_alloc(PAGE_BYTES, 2 * sizeof(*two));
	struct check c = { .fd = fd, .out = out, .report = report };
	int newer = 0, err = -ENOMEM;

	*report = (struct store_report){ 0 };
	snprintf(why, len, "%s", strerror(ENOMEM));
	c.pages = aligned_alloc(PAGE_BYTES, LEVELS * sizeof(*c.pages));
	if (!two || !c.pages)
		goto free;
	newer = super_read(fd, two, why, len);
	err = newer < 0 ? newer : 0;
	if (err)
		goto free;
	c.super = &two[newer];
	report->clean = c.super->clean;
	err = check_size(&c, why, len);
	if (err)
		goto free;
	check_super(&c, two, newer);
	c.state = calloc(1, c.nr + 1ul);
	err = c.state ? 0 : -ENOMEM;
	if (!err)
		check_pages(&c);
	else
		snprintf(why, len, "%s", strerror(ENOMEM));
free:
	free(c.state);
	free(c.pages);
	free(two);
	return err;
}

/**
 * store_check() - verify a file
 * @path: the file, which no process writes meanwhile
 * @out: receives a line for each page that is wrong, up to 1000; NULL for none
 * @report: receives the counts
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 if the file was read through: store_sound() says whether it is whole; or -errno.
 */
int store_check(const char *path, FILE *out, struct store_report *report, char *why, size_t len)
{
	int fd = io_open(path, IO_buffered, false, true, why, len), err;

	if (fd < 0)
		return fd;
	err = check_file(fd, out, report, why, len);
	close(fd);
	return err;
}
