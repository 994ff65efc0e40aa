// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - starts threads, bound to processors or not.
 */
#include "threads.h"

#include <sched.h>

/**
 * thread_start() - start thread @nr on the processor cpus[nr % nr_cpus]
 * @thread: receives the handle
 * @function: main function of the thread
 * @arg: its argument
 * @cpus: processors in the order of topology_order()
 * @nr_cpus: number of processors; 0: the thread may run on any
 * @nr: number of the thread
 *
 * Return: 0 or an errno value.
 */
int thread_start(pthread_t *thread, void *(*function)(void *), void *arg, const unsigned int *cpus,
		 unsigned int nr_cpus, unsigned int nr)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	if (nr_cpus) {
		CPU_ZERO(&set);
		CPU_SET(cpus[nr % nr_cpus], &set);
		err = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	if (!err)
		err = pthread_create(thread, &attr, function, arg);
	pthread_attr_destroy(&attr);
	return err;
}
