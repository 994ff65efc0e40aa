/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * poison.h - memory that AddressSanitizer lets nobody access.
 *
 * In a build without AddressSanitizer the functions do nothing.
 */
#ifndef DEMO_POISON_H
#define DEMO_POISON_H

#include <stddef.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(const volatile void *addr, size_t size);
void __asan_unpoison_memory_region(const volatile void *addr, size_t size);

static inline void poison(const void *p, size_t size)
{
	__asan_poison_memory_region(p, size);
}

static inline void unpoison(const void *p, size_t size)
{
	__asan_unpoison_memory_region(p, size);
}
#else
static inline void poison(const void *p, size_t size)
{
}

static inline void unpoison(const void *p, size_t size)
{
}
#endif

#endif
