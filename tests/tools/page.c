// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page.c - the page of report --html, of a report that a test has changed.
 *
 * page FILE OVERLAY REPORT: the page goes to standard output, the JSON that it was
 * made of to REPORT. OVERLAY is JSON whose members replace those of the report of
 * FILE; the members of rows[I] replace those of row I. So the page can have a name
 * that no program's symbol table has.
 */
#include <stdio.h>

#include "../../tools/print/html/html.h"
#include "../../tools/model/report.h"

static int overlay(json_t *tree, const char *path)
{
	json_error_t error;
	json_t *over = json_load_file(path, 0, &error), *rows, *row;
	size_t i;

	if (!over) {
		fprintf(stderr, "page: %s:%d: %s\n", path, error.line, error.text);
		return 2;
	}
	rows = json_incref(json_object_get(over, "rows"));
	json_object_del(over, "rows");
	json_object_update(tree, over);
	json_array_foreach(rows, i, row)
		json_object_update(json_array_get(json_object_get(tree, "rows"), i), row);
	json_decref(rows);
	json_decref(over);
	return 0;
}

int main(int argc, char **argv)
{
	json_t *parts = json_array(), *tree;
	char error[LOAD_ERROR_MAX];
	struct data_file f;
	struct report r;

	if (argc != 4) {
		fprintf(stderr, "usage: page FILE OVERLAY REPORT\n");
		return 2;
	}
	if (load(argv[1], &f, error) || load_base(&f) ||
	    report_build(&r, &f, BY_LOCK_AND_SITE, "cost")) {
		fprintf(stderr, "page: %s: %s\n", argv[1], error);
		return 2;
	}
	tree = html_tree(&r, 0);
	if (overlay(tree, argv[2]) || json_dump_file(tree, argv[3], 0))
		return 2;
	json_array_append_new(parts, tree);
	html_page(parts, stdout);
	json_decref(parts);
	report_free(&r);
	load_free(&f);
	return 0;
}
