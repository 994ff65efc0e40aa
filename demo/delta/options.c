// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - tables made of options.def.
 */
#include "options.h"

static const struct choice searches[] = {
#define SEARCH(id, name, help) { name, help },
#include "options.def"
	{ NULL, NULL },
};

static const struct choice sharings[] = {
#define SHARING(id, name, help) { name, help },
#include "options.def"
	{ NULL, NULL },
};

static const struct choice values[] = {
#define VALUES(id, name, help) { name, help },
#include "options.def"
	{ NULL, NULL },
};

const struct option_row delta_options[NR_DELTA_OPTIONS + 1] = {
#define OPT_CHOICE(id, name, choices, def, help)                                                   \
	{ name, OPTION_CHOICE, help, choices, 0, 0, def, NULL },
#define OPT_FLAG(id, name, words, help) { name, OPTION_FLAG, help, NULL, 0, 1, 0, words },
#include "options.def"
};

/**
 * delta_option() - the value of an option
 * @config: what the storage is created for
 * @option: the option
 */
uint64_t delta_option(const struct index_config *config, enum delta_option option)
{
	return config->options ? config->options[option] : delta_options[option].def;
}

/**
 * delta_no_deletes() - why a storage has no deletes
 * @config: what the storage is created for
 *
 * Return: a message if the storage keeps rows, which are deleted by number, else NULL.
 */
const char *delta_no_deletes(const struct index_config *config)
{
	if (!delta_option(config, DELTA_OPTION_rows))
		return NULL;
	return "--rows: with --deletes=0 only, as rows are deleted by their number";
}
