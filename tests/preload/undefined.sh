#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=1
#
# The functions of libc that libelide-preload.so calls. A lock call must be no cancellation point, take no
# lock of libc, and call nothing that another library may stand in front of with a lock of its own:
# for everything else the library makes the system call itself (lib/base/syscalls.h) or has its own code.

. "$(dirname "$0")/../script.sh"

if ldd "$lib" 2>/dev/null | grep -q 'lib[a-z]*san\.so'; then
	skip undefined 'a sanitizer brings calls of its own'
	finish
fi
# REASON: SYMBOL...
cat >"$tmp/reasons" <<'END'
linker: _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __gmon_start__
variables of libc: __environ environ __libc_stack_end __libc_single_threaded _r_debug
the address of a thread-local variable: __errno_location
read memory, or write what they are given, and call nothing: memchr memcmp memcpy memmove memset strchr strcmp strcpy strcspn strlen strncasecmp strncmp stpcpy strspn strncpy strnlen strrchr strstr strtoull
a table of constant texts: strerrordesc_np
the loader's table, without a lock: _dl_find_object
at the start of the process alone: __register_atfork getauxval __x86_get_cpuid_feature_leaf
where the library is bypassed from the start: dl_iterate_phdr
read the program's own object, and call nothing: pthread_barrierattr_getpshared pthread_condattr_getpshared pthread_condattr_init pthread_condattr_setclock pthread_condattr_setpshared pthread_getcpuclockid sem_getvalue
sem_wait(3) is a cancellation point: pthread_testcancel
libgcc's unwinder, where it finds no table of its own; the library's own stacks need none: malloc free abort pthread_once __pthread_key_create dl_iterate_phdr
of libelide-heap.so: elide_heap_find
the report at exit, after the data file is complete: dladdr snprintf strerror posix_spawn posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addopen posix_spawn_file_actions_destroy posix_spawn_file_actions_init posix_spawnattr_init posix_spawnattr_setflags posix_spawnattr_setsigdefault posix_spawnattr_setsigmask sigemptyset sigfillset
END
sed 's/^[^:]*: *//' "$tmp/reasons" | tr ' ' '\n' | sort -u >"$tmp/allowed"
nm -D --undefined-only "$lib" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u >"$tmp/called"
more=$(comm -13 "$tmp/allowed" "$tmp/called" | tr '\n' ' ')
if [ ! -s "$tmp/called" ]; then
	not_ok undefined 'nm found nothing'
elif [ -n "$more" ]; then
	not_ok undefined "$more"
else
	ok undefined
fi
finish
