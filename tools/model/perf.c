// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf.c - the text output of perf script.
 *
 * Format: perf-script(1), "--fields", and the output of perf 6.1, which is meant to be read by
 * people and has no grammar. Unknown lines are counted. Must never trust a length
 * of the file.
 */
#include "perf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"

/* The most words that a line is divided into; the rest of a longer line is one text. */
#define WORDS_MAX 64

/**
 * struct parser - where the reader is.
 * @open:    further frames of the last sample may follow
 * @weight, @transaction, @has_*: of a dump (-D), for the sample that follows
 * @lone:    there was one number, an address or a weight
 */
struct parser {
	struct perf_samples *to;
	int open;
	int has_weight;
	int has_transaction;
	uint64_t weight;
	uint64_t transaction;
	int lone;
};

struct word {
	char *text;
	size_t len;
};

static size_t split(char *line, struct word *words)
{
	size_t nr = 0;

	while (nr < WORDS_MAX) {
		line += strspn(line, " \t");
		if (!*line)
			break;
		words[nr].text = line;
		words[nr].len = strcspn(line, " \t");
		line += words[nr++].len;
	}
	return nr;
}

static int all_in(const struct word *w, const char *set)
{
	return w->len && strspn(w->text, set) >= w->len;
}

static int is_hex(const struct word *w)
{
	return w->len <= 16 && all_in(w, "0123456789abcdef");
}

static int is_decimal(const struct word *w)
{
	return w->len <= 19 && all_in(w, "0123456789");
}

/* A time: "966.474824:". */
static int is_time(const struct word *w)
{
	return w->len > 3 && w->text[w->len - 1] == ':' && isdigit((unsigned char)w->text[0]) &&
	       memchr(w->text, '.', w->len) && strspn(w->text, "0123456789.") == w->len - 1;
}

/* A thread id "123", or process and thread "123/124". */
static int is_thread(const struct word *w)
{
	const char *slash = memchr(w->text, '/', w->len);
	struct word pid = {w->text, slash ? (size_t)(slash - w->text) : w->len};
	struct word tid = {pid.text + pid.len + 1, w->len - pid.len - 1};

	return is_decimal(&pid) && (!slash || is_decimal(&tid));
}

/* Cuts the (object) off the end of @text. Return: its name without directory. */
static char *cut_object(char *text)
{
	size_t len = strlen(text);
	char *object;
	int depth = 0;

	if (!len || text[len - 1] != ')')
		return NULL;
	for (size_t i = len; i--;) {
		depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
		if (depth)
			continue;
		/* Arguments of a C++ function follow its name directly. */
		if (!i || text[i - 1] != ' ')
			return NULL;
		text[len - 1] = '\0';
		object = text + i + 1;
		text[i - 1] = '\0';
		if (!strcmp(object, "unknown") || !strcmp(object, "[unknown]"))
			return NULL;
		object[strcspn(object, " ")] = '\0'; /* (deleted) */
		return strdup(base_name(object));
	}
	return NULL;
}

/* "name+0x1f (object)", any part of which may be missing. */
static void parse_symbol(char *text, struct perf_frame *f)
{
	char *plus;

	f->object = cut_object(text);
	text += strspn(text, " \t");
	plus = strstr(text, "+0x");
	if (plus) {
		f->offset = strtoull(plus + 3, NULL, 16);
		*plus = '\0';
	}
	for (size_t len = strlen(text); len && text[len - 1] == ' ';)
		text[--len] = '\0';
	if (*text && strcmp(text, "[unknown]"))
		f->symbol = strdup(text);
}

static int add_frame(struct perf_sample *s, const struct word *ip, char *rest)
{
	struct perf_frame *grown;

	if (s->nr_frames == PERF_FRAMES_MAX)
		return 0;
	grown = reallocarray(s->frames, s->nr_frames + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->frames = grown;
	grown += s->nr_frames++;
	memset(grown, 0, sizeof(*grown));
	grown->ip = strtoull(ip->text, NULL, 16);
	parse_symbol(rest, grown);
	return 0;
}

static struct perf_sample *last(const struct parser *p)
{
	return p->open ? &p->to->samples[p->to->nr - 1] : NULL;
}

static void free_frames(struct perf_sample *s)
{
	for (size_t i = 0; i < s->nr_frames; i++) {
		free(s->frames[i].symbol);
		free(s->frames[i].object);
	}
	free(s->frames);
}

/* Ends the open sample. Leaves it out if it has no address. */
static void end_sample(struct parser *p)
{
	struct perf_sample *s = last(p);

	if (s && !s->nr_frames) {
		p->to->nr--;
		p->to->nr_no_place++;
	}
	p->open = 0;
	p->lone = 0;
}

static struct perf_sample *begin_sample(struct parser *p)
{
	struct perf_samples *to = p->to;
	struct perf_sample *s;

	end_sample(p);
	/* Grows at powers of two. */
	if (!(to->nr & (to->nr - 1))) {
		s = reallocarray(to->samples, to->nr ? 2 * to->nr : 1, sizeof(*s));
		if (!s)
			return NULL;
		to->samples = s;
	}
	s = &to->samples[to->nr++];
	*s = (struct perf_sample){
		.pid = -1,
		.has_weight = p->has_weight,
		.has_transaction = p->has_transaction,
		.weight = p->weight,
		.transaction = p->transaction,
	};
	p->has_weight = p->has_transaction = 0;
	p->open = 1;
	return s;
}

/* Parses the text after the event: [weight] [address symbol (object)]. */
static int parse_rest(struct parser *p, struct perf_sample *s, struct word *w, size_t nr)
{
	size_t ip = 0;

	while (ip < nr && !is_hex(&w[ip]))
		ip++;
	if (ip == nr)
		return 0;
	/*
	 * Both are printed 16 columns wide, but a symbol follows its address after one space:
	 * so "add" is not a second number.
	 */
	if (is_decimal(&w[ip]) && ip + 1 < nr && is_hex(&w[ip + 1]) &&
	    (w[ip + 1].len == 16 || w[ip + 1].text > w[ip].text + w[ip].len + 1)) {
		s->weight = strtoull(w[ip++].text, NULL, 10);
		s->has_weight = 1;
	} else if (ip + 1 == nr && is_decimal(&w[ip])) {
		p->lone = 1;
	}
	return add_frame(s, &w[ip], w[ip].text + w[ip].len);
}

/*
 * The thread before word @end, which is the time or, without one, the event. The words before
 * it are the command, which may be any words.
 */
static const struct word *find_thread(const struct word *w, size_t end, int has_time)
{
	if (end && w[end - 1].text[0] == '[') /* the processor */
		end--;
	if (!has_time && end > 1 && is_decimal(&w[end - 1]) && is_thread(&w[end - 2]))
		end--; /* the period */
	return end && is_thread(&w[end - 1]) ? &w[end - 1] : NULL;
}

/* A sample's first line, if it is one: comm pid/tid [cpu] time: period event: ... */
static int parse_head(struct parser *p, struct word *w, size_t nr)
{
	const struct word *thread;
	struct perf_sample *s;
	size_t time = 0, event;
	int has_time;

	while (time < nr && !is_time(&w[time]))
		time++;
	has_time = time < nr;
	event = has_time ? time + 1 : 0;
	while (event < nr && w[event].text[w[event].len - 1] != ':')
		event++;
	if (event >= nr)
		return -EINVAL;
	thread = find_thread(w, has_time ? time : event, has_time);
	/* Without time and thread, only a line with an address and a name is a sample. */
	if (!has_time && !thread &&
	    (event + 2 >= nr || !is_hex(&w[event + 1]) || w[event + 2].text[0] == '('))
		return -EINVAL;
	s = begin_sample(p);
	if (!s)
		return -ENOMEM;
	if (thread && memchr(thread->text, '/', thread->len))
		s->pid = strtol(thread->text, NULL, 10);
	snprintf(s->event, sizeof(s->event), "%.*s", (int)w[event].len - 1, w[event].text);
	return parse_rest(p, s, w + event + 1, nr - event - 1);
}

/* A line of a callchain, or of ip and sym alone. */
static int parse_frame(struct parser *p, struct word *w)
{
	struct perf_sample *s = last(p);

	if (!s) {
		s = begin_sample(p);
		if (!s)
			return -ENOMEM;
	}
	/* So the number after the event was a weight. */
	if (p->lone && s->nr_frames == 1) {
		char decimal[24];

		snprintf(decimal, sizeof(decimal), "%llx", (unsigned long long)s->frames[0].ip);
		s->weight = strtoull(decimal, NULL, 10);
		s->has_weight = 1;
		free_frames(s);
		s->frames = NULL;
		s->nr_frames = 0;
	}
	p->lone = 0;
	return add_frame(s, &w[0], w[0].text + w[0].len);
}

/* A line of a dump (-D). Return: 0 if it is not one. */
static int parse_dump(struct parser *p, const char *line)
{
	if (sscanf(line, "... weight: %llu", (unsigned long long *)&p->weight) == 1)
		p->has_weight = 1;
	else if (sscanf(line, "... transaction: %llx", (unsigned long long *)&p->transaction) == 1)
		p->has_transaction = 1;
	return line[0] == '.' || !strncmp(line, " ...", 4) || !strncmp(line, "0x", 2) ||
	       strstr(line, "PERF_RECORD_");
}

static int parse_line(struct parser *p, char *line)
{
	struct word words[WORDS_MAX];
	size_t nr;
	int rc;

	line[strcspn(line, "\r\n")] = '\0';
	nr = split(line, words);
	if (!nr) {
		end_sample(p);
		return 0;
	}
	if (line[0] == '#' || parse_dump(p, line))
		return 0;
	if (line[0] == '\t' && is_hex(&words[0]))
		return parse_frame(p, words);
	rc = parse_head(p, words, nr);
	if (rc != -EINVAL)
		return rc;
	if (nr > 1 && is_hex(&words[0]) && words[0].len > 4) {
		end_sample(p);
		return parse_frame(p, words);
	}
	p->to->nr_strange++;
	return 0;
}

int perf_parse(FILE *f, struct perf_samples *s)
{
	struct parser p = {.to = s};
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	memset(s, 0, sizeof(*s));
	while (!rc && getline(&line, &size, f) >= 0)
		rc = parse_line(&p, line);
	free(line);
	end_sample(&p);
	if (rc)
		perf_free(s);
	return rc;
}

void perf_free(struct perf_samples *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free_frames(&s->samples[i]);
	free(s->samples);
	memset(s, 0, sizeof(*s));
}
