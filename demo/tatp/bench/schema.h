/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema.h - the tables of TATP, the keys of their indexes, and what the population has.
 *
 * Telecommunication Application Transaction Processing Benchmark, description of version 1.0,
 * 2009. Rows are longer than their columns, so that 80,000 subscribers fill 110 to 130 MB as
 * in Cervini et al., DaMoN 2015, section 3.1.
 */
#ifndef DEMO_TATP_SCHEMA_H
#define DEMO_TATP_SCHEMA_H

#include "../sm.h"

/* Greatest number of subscribers: those for which TATP defines the skewed keys. */
#define SUBSCRIBERS_MAX 10000000

/* Bytes of the description of a fault. */
#define CHECK_TEXT 128

enum table {
	SUBSCRIBER,
	ACCESS_INFO,
	SPECIAL_FACILITY,
	CALL_FORWARDING,
	NR_TABLES,
};

enum tree {
	SUBSCRIBER_KEY,
	SUBSCRIBER_NUMBER,
	ACCESS_INFO_KEY,
	SPECIAL_FACILITY_KEY,
	CALL_FORWARDING_KEY,
	NR_TREES,
};

#define NUMBER_DIGITS 15

struct subscriber {
	uint32_t s_id;
	uint32_t msc_location;
	uint32_t vlr_location;
	uint8_t bit[10];
	uint8_t hex[10];
	uint8_t byte2[10];
	char sub_nbr[NUMBER_DIGITS];
	char padding[199];
};

struct access_info {
	uint32_t s_id;
	uint8_t ai_type;
	uint8_t data1;
	uint8_t data2;
	char data3[3];
	char data4[5];
	char padding[89];
};

struct special_facility {
	uint32_t s_id;
	uint8_t sf_type;
	uint8_t is_active;
	uint8_t error_cntrl;
	uint8_t data_a;
	char data_b[5];
	char padding[91];
};

struct call_forwarding {
	uint32_t s_id;
	uint8_t sf_type;
	uint8_t start_time;
	uint8_t end_time;
	char numberx[NUMBER_DIGITS];
	char padding[82];
};

_Static_assert(sizeof(struct subscriber) == 256 && sizeof(struct access_info) == 104 &&
	       sizeof(struct special_facility) == 104 && sizeof(struct call_forwarding) == 104,
	       "rows have the lengths that schema.h says");

/* Any row. */
union row {
	struct subscriber subscriber;
	struct access_info access;
	struct special_facility facility;
	struct call_forwarding forwarding;
};

/* Start times 0, 8, 16 and types 1 to 4 of each subscriber. */
#define NR_TYPES 4
#define NR_STARTS 3

/* Keys of rows that are one of a subscriber's, and of ranges of them. */
static inline uint64_t type_key(uint64_t s_id, unsigned int type)
{
	return s_id << 2 | (type - 1);
}

static inline uint64_t forwarding_key(uint64_t s_id, unsigned int type, unsigned int start)
{
	return type_key(s_id, type) << 5 | start;
}

/**
 * struct population - the rows of a subscriber after the population
 * @subscriber: its row
 * @nr_access: number of rows of ACCESS_INFO
 * @access: these
 * @nr_facilities: number of rows of SPECIAL_FACILITY
 * @facilities: these
 * @nr_forwardings: number of rows of CALL_FORWARDING
 * @forwardings: these, in the order of their keys
 */
struct population {
	struct subscriber subscriber;
	unsigned int nr_access, nr_facilities, nr_forwardings;
	struct access_info access[NR_TYPES];
	struct special_facility facilities[NR_TYPES];
	struct call_forwarding forwardings[NR_TYPES * NR_STARTS];
};

void number_print(char number[NUMBER_DIGITS], uint64_t value);
uint64_t number_value(const char number[NUMBER_DIGITS]);
void population_of(struct population *p, uint64_t seed, uint32_t s_id);
uint64_t row_key(enum tree tree, const union row *row);
enum table tree_table(enum tree tree);
struct sm_options schema_options(uint64_t subscribers, uint64_t seed, uint64_t born);
double schema_bytes(uint64_t subscribers, bool in_memory, uint64_t pool);
int populate(struct sm *sm, void (*progress)(uint64_t done, uint64_t all));
bool check_integrity(struct sm *sm, char *why, size_t len);

#endif
