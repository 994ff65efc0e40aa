// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * generate.c - writes the operation files of Schröder, "Using modern synchronization
 * mechanisms in databases", 2016, section 6.1.
 *
 * File 0 has --preload inserts. Each further file has as many operations, and there are as
 * many files as --ops need. Of the operations --update-rate per cent are updates, half
 * inserts of new keys, half deletes. Searches and deletes have keys of earlier files. The
 * threads of a run process a file in any order, so a key that a file deletes occurs in
 * that file once, and each operation succeeds in any order.
 */
#include "generate.h"

#include "opfile.h"
#include "output.h"
#include "../base/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Interval of progress_show() in operations. */
#define PROGRESS_OPS (1u << 18)

/*
 * struct generator - the keys of the files
 * @opts: the command line
 * @rng: generator of operations and keys
 * @made: number of keys that were inserted
 * @live: numbers of the keys that earlier files inserted and did not delete
 * @nr_live: number of these
 * @deletes: number of keys at the end of @live that the present file deletes
 */
struct generator {
	const struct options *opts;
	struct rng rng;
	uint64_t made;
	uint64_t *live;
	uint64_t nr_live;
	uint64_t deletes;
};

/* The key and the value of a number: bijections, so no key and no value comes twice. */
static int64_t key_of(const struct generator *g, uint64_t number)
{
	return (int64_t)mix64(number + mix64(g->opts->seed));
}

static uint64_t value_of_number(uint64_t number)
{
	return mix64(~number);
}

static void add(const struct generator *g, struct opfile_writer *to, char op, uint64_t number)
{
	opfile_add(to, op, key_of(g, number), value_of_number(number));
}

/* Draw the next operation. */
static char draw_op(struct generator *g)
{
	uint64_t at = rng_below(&g->rng, 200);

	if (at < g->opts->update_rate)
		return OPFILE_INSERT;
	return at < 2 * g->opts->update_rate ? OPFILE_DELETE : OPFILE_SEARCH;
}

/* Draw the numbers of the keys that a file of @nr operations deletes: the last ones of @live. */
static void draw_deletes(struct generator *g, uint64_t nr)
{
	struct rng before = g->rng;

	g->deletes = 0;
	for (uint64_t i = 0; i < nr; i++)
		g->deletes += draw_op(g) == OPFILE_DELETE;
	/* One key at least remains for the searches. */
	if (g->deletes >= g->nr_live)
		g->deletes = g->nr_live - 1;
	for (uint64_t i = 0; i < g->deletes; i++) {
		uint64_t last = g->nr_live - 1 - i, from = rng_below(&g->rng, last + 1);
		uint64_t number = g->live[from];

		g->live[from] = g->live[last];
		g->live[last] = number;
	}
	g->rng = before;
}

/* Write a file of @nr operations, the first one of inserts alone. */
static int write_file(struct generator *g, unsigned int file, uint64_t nr, uint64_t files)
{
	struct opfile_writer *to = opfile_create(g->opts->generate, file, nr);
	uint64_t first = g->made, deleted = 0;

	if (!to)
		return -ENOENT;
	if (file)
		draw_deletes(g, nr);
	for (uint64_t i = 0; i < nr; i++) {
		char op = file ? draw_op(g) : OPFILE_INSERT;

		if (i % PROGRESS_OPS == 0)
			progress_show("generating", file * nr + i, files * nr);
		if (op == OPFILE_DELETE && deleted == g->deletes)
			op = OPFILE_SEARCH;
		if (op == OPFILE_INSERT)
			add(g, to, op, g->made++);
		else if (op == OPFILE_DELETE)
			add(g, to, op, g->live[g->nr_live - 1 - deleted++]);
		else
			add(g, to, op, g->live[rng_below(&g->rng, g->nr_live - g->deletes)]);
	}
	g->nr_live -= deleted;
	while (first < g->made)
		g->live[g->nr_live++] = first++;
	return opfile_finish(to);
}

/**
 * generate() - write operation files into a folder, which is made if it does not exist
 * @opts: the command line
 *
 * If a file cannot be written, all are removed again.
 *
 * Return: the exit status, after one line on stderr if it is not 0.
 */
int generate(const struct options *opts)
{
	uint64_t files = 1 + (opts->ops + opts->preload - 1) / opts->preload;
	struct generator g = { .opts = opts };
	unsigned int file = 0;
	int err = 0;

	if (mkdir(opts->generate, 0777) && errno != EEXIST) {
		fprintf(stderr, "index_bench: --generate=%s: %s\n", opts->generate,
			strerror(errno));
		return EXIT_USAGE;
	}
	if (opfile_exists(opts->generate, 0)) {
		fprintf(stderr, "index_bench: --generate=%s: has operation files already\n",
			opts->generate);
		return EXIT_USAGE;
	}
	/* A file inserts half of its operations at most, plus chance, which its deletes bound. */
	g.live = calloc(files, opts->preload * sizeof(*g.live));
	if (!g.live) {
		fputs("index_bench: --generate: out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	rng_seed(&g.rng, opts->seed, 0);
	while (file < files && !err) {
		err = write_file(&g, file, opts->preload, files);
		/* What could not be created is not removed either. */
		file += err != -ENOENT;
	}
	progress_clear();
	while (err && file > 0)
		opfile_remove(opts->generate, --file);
	free(g.live);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
