/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - the simulated machine: every number of it.
 *
 * Read-only once the program starts. Must never hold a number itself: they
 * are in model.def and models.def.
 */
#ifndef RTMGRIND_MODEL_H
#define RTMGRIND_MODEL_H

#include "pub_tool_basics.h"

/**
 * struct model - the numbers of model.def, by name.
 *
 * Those that depend on others are resolved by model_build(): domain, die and
 * quadrant are then numbers of cores above 0.
 */
struct model {
#define PARAM(name, unit, min, max, initial, help) Long name;
#include "model.def"
#undef PARAM
};

extern struct model model;

/* Hardware threads, as the guest sees processors. */
static inline Int model_cpus(void)
{
	return model.cores * model.smt;
}

/* Processors are numbered as Linux does: n and n + cores are siblings, on core n. */
static inline Int model_core(Int cpu)
{
	return cpu % model.cores;
}

static inline Int model_socket(Int cpu)
{
	return model_core(cpu) / (model.cores / model.sockets);
}

static inline Int model_domain(Int cpu)
{
	return model_core(cpu) / model.domain;
}

/* What generated code charges for a latency known at translation: the instructions that take
 * as long on an unshared core, rounded to nearest.
 */
static inline Int model_insns(Long cycles)
{
	return (cycles * 100 + model.cpi / 2) / model.cpi;
}

/* A power of two. */
static inline UInt model_l1_sets(void)
{
	return model.l1_kib * 1024 / 64 / model.l1_ways;
}

/* Virtual time is counted in cycles; these are a second's. */
static inline Long model_hz(void)
{
	return model.mhz * 1000000;
}

/* Nanoseconds, rounded down. Both exact for every run below a century. */
static inline Long model_ns(Long cycles)
{
	return cycles / model.mhz * 1000 + cycles % model.mhz * 1000 / model.mhz;
}

/* Cycles, rounded up: a sleep is never too short. */
static inline Long model_cycles(Long ns)
{
	return ns / 1000 * model.mhz + (ns % 1000 * model.mhz + 999) / 1000;
}

void model_select(const HChar *spec);
void model_set(const HChar *name, const HChar *text);
void model_build(void);
const HChar *model_name(void);
const HChar *model_differences(void);

#endif
