// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * print.c - prints a sweep as a table, as JSON or as CSV.
 *
 * Must never print a throughput of a variant that is not ranked.
 */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a variant's name, at least, so that tables of several numbers of threads look alike. */
#define NAME_WIDTH 12

static const char *status_name(const struct cell *cell)
{
	static const char *const names[] = {
		[CELL_RANKED] = "ranked",
		[CELL_REFUSED] = "left out",
		[CELL_FAILED] = "failed",
	};

	return names[cell->status];
}

static const char *why(const struct cell *cell)
{
	return cell->why ? cell->why : "";
}

/* A rate with three digits and its unit: 1.23M */
static const char *scaled(double rate, char *text, size_t size)
{
	static const char units[] = " kMG";
	unsigned int unit = 0;

	while (rate >= 999.5 && unit < 3) {
		rate /= 1000;
		unit++;
	}
	snprintf(text, size, "%.*f%.1s",
		 (rate < 99.95) + (rate < 9.995), rate, unit ? units + unit : "");
	return text;
}

static int name_width(const struct sweep *s)
{
	size_t width = NAME_WIDTH;

	for (unsigned int i = 0; i < s->nr_variants; i++)
		if (strlen(s->variants[i].name) > width)
			width = strlen(s->variants[i].name);
	return (int)width;
}

static void print_ratio(const struct cell *cell, bool best)
{
	if (best)
		printf(" %6s %16s", "1", "-");
	else if (cell->low > 0)
		printf(" %6.3f %7.3f to %5.3f", cell->ratio, cell->low, cell->high);
	else
		printf(" %6.3f %16s", cell->ratio, "too few rounds");
}

/* The variants that have this status, with the reasons. */
static void print_left(const struct sweep *s, const struct group *g, enum cell_status status)
{
	for (unsigned int i = 0; i < s->nr_variants; i++)
		if (g->cells[i].status == status)
			printf("  %s: %s: %s\n", status_name(&g->cells[i]), g->cells[i].variant->name,
			       why(&g->cells[i]));
}

static void print_group(const struct sweep *s, const struct group *g, int width)
{
	if (g->threads)
		printf("\n%u thread%s\n", g->threads, g->threads == 1 ? "" : "s");
	else
		putchar('\n');
	printf("  %-*s %7s %7s %6s %16s\n", width, "VARIANT", "MEDIAN", "SPREAD", "BESIDE", "INTERVAL");
	for (unsigned int i = 0; i < g->nr_ranked; i++) {
		const struct cell *cell = &g->cells[g->order[i]];
		char median[16];

		printf("  %-*s %7s %6.1f%%", width, cell->variant->name,
		       scaled(cell->median, median, sizeof(median)), 100 * cell->spread);
		print_ratio(cell, !i);
		puts(cell->fits ? "  fits" : "");
	}
	print_left(s, g, CELL_FAILED);
	print_left(s, g, CELL_REFUSED);
	if (g->nr_fit < 2 || s->done < judge_least_rounds(s))
		return;
	if (g->more == SIZE_MAX)
		puts("  the first two: more rounds would hardly show a difference");
	else
		printf("  about %zu more round%s would show a difference of the first two\n", g->more,
		       g->more == 1 ? "" : "s");
}

/* Threads that wait for a processor show little of a latch. */
static void print_processors(const struct sweep *s)
{
	unsigned int most = s->groups[s->nr_groups - 1].threads;
	cpu_set_t set;
	int nr = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);

	if (!s->emulate && nr && most > (unsigned int)nr)
		printf("%u threads on %d processor%s: they wait for these, too\n", most, nr,
		       nr == 1 ? "" : "s");
}

/** print_text() - print a table for each number of threads, and a sentence */
void print_text(const struct sweep *s)
{
	char *sentence = judge_sentence(s);
	int width = name_width(s);

	for (char **arg = s->command; *arg; arg++)
		printf("%s%s", arg == s->command ? "" : " ", *arg);
	printf(": %u variants, %u round%s%s%s, %s\n", s->nr_variants, s->done, s->done == 1 ? "" : "s",
	       s->emulate ? " on " : "", s->emulate ? s->emulate : "", s->column);
	print_processors(s);
	for (unsigned int i = 0; i < s->nr_groups; i++)
		print_group(s, &s->groups[i], width);
	printf("\n%s\n", sentence ? sentence : "");
	free(sentence);
}

/* A text in quotes; CSV doubles those in it. */
static void csv_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		printf(*text == '"' ? "\"\"" : "%c", *text);
	putchar('"');
}

static void json_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", (unsigned int)*text);
		else
			putchar(*text);
	putchar('"');
}

/* A number, @none if it is none. */
static void number(double value, const char *none)
{
	if (isfinite(value))
		printf("%.6g", value);
	else
		fputs(none, stdout);
}

/** print_csv() - print a line for each variant and number of threads, as they were given */
void print_csv(const struct sweep *s)
{
	puts("threads,variant,elided,status,median,spread,beside_best,low,high,fits,why");
	for (const struct group *g = s->groups; g < s->groups + s->nr_groups; g++)
		for (unsigned int i = 0; i < s->nr_variants; i++) {
			const struct cell *cell = &g->cells[i];

			if (g->threads)
				printf("%u", g->threads);
			putchar(',');
			csv_text(cell->variant->name);
			printf(",%s,\"%s\",", cell->variant->elide ? "true" : "false", status_name(cell));
			if (cell->status == CELL_RANKED)
				printf("%.0f,%.4f,%.4f,%.4f,", cell->median, cell->spread, cell->ratio,
				       cell->low);
			else
				fputs(",,,,", stdout);
			number(cell->status == CELL_RANKED ? cell->high : INFINITY, "");
			printf(",%s,", cell->fits ? "true" : "false");
			csv_text(why(cell));
			putchar('\n');
		}
}

static void json_cell(const struct sweep *s, const struct cell *cell)
{
	fputs("{\"name\":", stdout);
	json_text(cell->variant->name);
	fputs(",\"options\":[", stdout);
	for (unsigned int i = 0; i < cell->variant->nr_added; i++) {
		fputs(i ? "," : "", stdout);
		json_text(cell->variant->added[i]);
	}
	printf("],\"elided\":%s,\"status\":\"%s\"", cell->variant->elide ? "true" : "false",
	       status_name(cell));
	if (cell->status == CELL_RANKED) {
		printf(",\"median\":%.0f,\"spread\":%.4f,\"beside_best\":%.4f,\"low\":%.4f,\"high\":",
		       cell->median, cell->spread, cell->ratio, cell->low);
		number(cell->high, "null");
		printf(",\"fits\":%s,\"rounds\":[", cell->fits ? "true" : "false");
		for (unsigned int r = 0; r < s->done; r++)
			printf("%s%.0f", r ? "," : "", cell->rate[r]);
		putchar(']');
	} else {
		fputs(",\"why\":", stdout);
		json_text(why(cell));
	}
	putchar('}');
}

/** print_json() - print one JSON object, on one line */
void print_json(const struct sweep *s)
{
	char *sentence = judge_sentence(s);

	fputs("{\"schema\":1,\"command\":[", stdout);
	for (char **arg = s->command; *arg; arg++) {
		fputs(arg == s->command ? "" : ",", stdout);
		json_text(*arg);
	}
	printf("],\"throughput\":\"%s\",\"emulate\":", s->column);
	if (s->emulate)
		json_text(s->emulate);
	else
		fputs("null", stdout);
	printf(",\"rounds\":%u,\"seed\":%" PRIu64
	       ",\"confidence_percent\":%.3g,\"interrupted\":%s,\"results\":[",
	       s->done, s->seed, 100 * s->confidence, s->interrupted ? "true" : "false");
	for (const struct group *g = s->groups; g < s->groups + s->nr_groups; g++) {
		printf("%s{\"threads\":", g > s->groups ? "," : "");
		number(g->threads ? g->threads : INFINITY, "null");
		fputs(",\"variants\":[", stdout);
		for (unsigned int i = 0; i < s->nr_variants; i++) {
			fputs(i ? "," : "", stdout);
			json_cell(s, &g->cells[i]);
		}
		fputs("]}", stdout);
	}
	fputs("],\"conclusion\":", stdout);
	json_text(sentence ? sentence : "");
	puts("}");
	free(sentence);
}
