/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - the numbers of the simulated machine; see model.c.
 *
 * They do not change once the program runs. Must never have a number itself: all are in model.def
 * and models.def.
 */
#ifndef RTMGRIND_MODEL_H
#define RTMGRIND_MODEL_H

#include "pub_tool_basics.h"

/**
 * struct model - the numbers of model.def, by name.
 *
 * model_build() replaces defaults of 0 that depend on other numbers: afterwards domain, die and
 * quadrant are numbers of cores above 0.
 */
struct model {
#define PARAM(name, unit, min, max, initial, help) Long name;
#include "model.def"
#undef PARAM
};

extern struct model model;

/* Number of hardware threads, which are the processors that the guest sees. */
static inline Int model_cpus(void)
{
	return model.cores * model.smt;
}

/* The core of a processor. As in Linux, processors n and n + cores are siblings, on core n. */
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

/*
 * The number of instructions that take as long as a latency on a core with one running hardware thread,
 * rounded to nearest. Generated code charges latencies in this way if translation knows them.
 */
static inline Int model_insns(Long cycles)
{
	return (cycles * 100 + model.cpi / 2) / model.cpi;
}

/* Sets of the first-level cache, a power of two. */
static inline UInt model_l1_sets(void)
{
	return model.l1_kib * 1024 / 64 / model.l1_ways;
}

/* Cycles of virtual time in a second. */
static inline Long model_hz(void)
{
	return model.mhz * 1000000;
}

/* Cycles to nanoseconds, rounded down. No product overflows in a run of less than a century. */
static inline Long model_ns(Long cycles)
{
	return cycles / model.mhz * 1000 + cycles % model.mhz * 1000 / model.mhz;
}

/* Nanoseconds to cycles, rounded up, so that no sleep is too short. */
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
