/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * detect.h - can RTM be used in this process, and if not, why?
 *
 * Must never execute an RTM instruction before CPUID has shown them usable.
 */
#ifndef ELIDE_DETECT_H
#define ELIDE_DETECT_H

#include <stdbool.h>

#include "../datafile.h"

/* State of the TSX asynchronous abort vulnerability as the kernel reports it. */
enum elide_taa {
	ELIDE_TAA_UNKNOWN, /* no such file: an old kernel */
	ELIDE_TAA_SAFE,    /* "Not affected" */
	ELIDE_TAA_CLEARS,  /* "Mitigation: Clear CPU buffers" */
	ELIDE_TAA_TSX_OFF, /* "Mitigation: TSX disabled" */
	ELIDE_TAA_OPEN,    /* "Vulnerable..." */
};

/**
 * struct elide_facts - the basis of the decision.
 * @rtm:          CPUID.7.0:EBX[11]
 * @always_abort: CPUID.7.0:EDX[11], RTM_ALWAYS_ABORT
 * @hypervisor:   CPUID.1:ECX[31]
 * @emulated:     rtmgrind answers
 * @taa:          enum elide_taa
 * @commits, @stores: commits seen by the live probe of empty and of storing transactions
 * @probes:       transactions of each kind that the probe began
 */
struct elide_facts {
	bool rtm;
	bool always_abort;
	bool hypervisor;
	bool emulated;
	enum elide_taa taa;
	unsigned int commits;
	unsigned int stores;
	unsigned int probes;
};

/** elide_detect_taa() - what a file such as ELIDE_TAA_FILE tells of TAA. */
enum elide_taa elide_detect_taa(const char *file);

/**
 * elide_detect_facts() - collect the facts of this machine.
 * @facts: filled
 * @taa_file: file that tells of TAA, normally ELIDE_TAA_FILE
 *
 * Runs the live probe and reads the file only if CPUID shows RTM: without RTM there is no TAA, and reading
 * the file takes a twentieth of the library's time in a process without a lock call.
 */
void elide_detect_facts(struct elide_facts *facts, const char *taa_file);

/**
 * elide_detect_decide() - the decision, from the facts alone.
 * @facts: as collected
 * @insist: the user wants elision although TAA leaks data
 * @why: filled with the reason in words
 * @size: bytes of @why
 *
 * Return: ELIDE_RTM_NONE, _HARDWARE or _EMULATED.
 */
enum elide_rtm elide_detect_decide(const struct elide_facts *facts, bool insist, char *why,
				   unsigned int size);

#ifndef ELIDE_TAA_FILE
#define ELIDE_TAA_FILE "/sys/devices/system/cpu/vulnerabilities/tsx_async_abort"
#endif

#endif
