#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Which part may know what: lib/ knows locks as words, preload/ knows glibc,
# tools/ know the file format, the emulator knows Valgrind, demo/ knows
# nothing of elide. Each rule is a grep that must find nothing; each is also
# tried on a tree with that violation planted, where it must find it.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

ok() { nr=$((nr + 1)); echo "ok $1"; }
not_ok() { nr=$((nr + 1)); failed=$((failed + 1)); echo "not ok $1: $2"; }

# Code without comments of either kind, as FILE:LINE:TEXT.
code() {
	for file in "$@"; do
		[ -f "$file" ] || continue
		awk -v file="$file" '{
			line = $0
			while (1) {
				if (inside) {
					if (!(end = index(line, "*/"))) { line = ""; break }
					line = substr(line, end + 2); inside = 0
				}
				if (!(begin = index(line, "/*"))) break
				rest = substr(line, begin + 2)
				if ((end = index(rest, "*/"))) {
					line = substr(line, 1, begin - 1) " " substr(rest, end + 2)
				} else {
					before = substr(line, 1, begin - 1); inside = 1
					print file ":" NR ":" before; line = ""; break
				}
			}
			if (line != "") print file ":" NR ":" line
		}' "$file"
	done
}

# Names of included files of our own: FILE:LINE:NAME.
includes() { code "$@" | sed -n 's/^\([^:]*:[0-9]*:\)[ \t]*#[ \t]*include[ \t]*"\(.*\)".*/\1\2/p'; }

# Every rule prints what violates it. They run in the root of a tree.

lib_names_no_pthread() { code lib/*.[ch] | grep -E 'pthread_[a-z]|<pthread\.h>'; }

# The instructions by their encodings, names and the compiler's intrinsics.
rtm_only_in_one_header() {
	find lib preload tools demo -name '*.[chS]' ! -path lib/rtm.h ! -path 'tools/rtmgrind/*' |
		while read -r file; do code "$file"; done |
		grep -iE '0xc7, *0xf8|0x0f, *0x01, *0xd[56]|0xc6, *0xf8|\bx(begin|end|abort|test)\b|_x(begin|end|abort|test)\b|immintrin'
}

# Transactions are begun and ended by the engine's elision and by the probe that looks whether they work.
transactions_only_in_elision() {
	code preload/*.[ch] tools/*.[ch] demo/*.[ch] | grep -E 'rtm_(begin|end)\b' |
		grep -v '^tools/machine\.c:' # doctor's probe, in a child
	code lib/*.[ch] | grep -E '\brtm_(begin|end)\(' |
		grep -vE '^lib/(elide|release|detect)\.c:|^lib/(quick|rtm)\.h:'
}

# A lock call is none, so what it calls must not be one: see lib/syscalls.h.
lib_has_no_cancellation_point() {
	code lib/*.[ch] | grep -E '[^_a-z](p?read|p?write|open|openat|close|fcntl|poll|select|u?sleep|nanosleep|wait|waitpid|fsync|msync)\('
}

lib_includes_itself() {
	includes lib/*.[ch] | while IFS=: read -r file line name; do
		case $name in
		*/*) echo "$file:$line: $name" ;;
		*) [ -f "lib/$name" ] || echo "$file:$line: $name" ;;
		esac
	done
}

preload_is_not_included() {
	find lib tools demo -name '*.[ch]' | while read -r file; do
		includes "$file" | while IFS=: read -r where line name; do
			case $name in
			*preload/*) echo "$where:$line: $name" ;;
			esac
			[ -f "preload/${name##*/}" ] && [ ! -f "lib/${name##*/}" ] &&
				[ ! -f "$(dirname "$file")/$name" ] && echo "$where:$line: $name"
		done
	done
}

tools_see_formats_only() {
	includes tools/*.[ch] tools/launch/*.[ch] | grep -E ':(\.\./)+(lib|preload|demo)/' |
		grep -vE '/lib/(elide\.h|datafile\.h|compiler\.h|emulator\.h|[a-z]+\.def)$' |
		grep -vE '^tools/machine\.c:[0-9]+:\.\./lib/rtm\.h$' # doctor's probe
}

tools_link_no_engine() { grep -nE 'libelide|LIB_OBJ|PRELOAD_OBJ' tools/build.mk tools/launch/build.mk 2>/dev/null; }

emulator_sees_valgrind_only() {
	[ -d tools/rtmgrind ] || return
	code tools/rtmgrind/*.[ch] | grep -E '#[ \t]*include[ \t]*<' | grep -vE '<(stddef|stdarg|stdbool|stdint|linux/[a-z]+|asm/[a-z_]+|valgrind/[a-z_]+)\.h>'
	includes tools/rtmgrind/*.[ch] | grep -E ':(\.\./)+(lib|preload|demo)/' |
		grep -vE '/lib/(emulator\.h|rtm\.h|[a-z]+\.def)$'
}

demo_has_no_elide() {
	includes demo/*.[ch] | grep -iE 'elide|:(\.\./)+'
	grep -nE 'libelide|LIB_OBJ|\$\(LIBDIR\)' demo/build.mk
}

demo_node_has_no_latch() { includes demo/*node*.[ch] demo/btree*.[ch] demo/delta*.[ch] demo/dictionary.[ch] | grep -E 'latch|sync'; }

policy_is_pure() {
	code lib/policy.c lib/learn.c | grep -E '\b(clock_gettime|time|rdtsc|cycles_now|__atomic_[a-z_]+|READ_ONCE|WRITE_ONCE|printf|elide_log|syscall|rand)\b'
}

one_line_licence() {
	for file in $(find lib preload -name '*.[ch]' -o -path 'lib/*.def' -o -path 'preload/*.def'); do
		head -n 1 "$file" | grep -q 'SPDX-License-Identifier: LGPL-2.1-or-later' || echo "$file"
	done
	for file in $(find tools demo tests -name '*.[ch]' -o -name '*.sh' -o -name '*.def'); do
		head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$file"
	done
}

# rule NAME FILE VIOLATION: holds in the tree, and catches VIOLATION appended to FILE.
rule() {
	found=$(cd "$root" && "$1")
	if [ -n "$found" ]; then
		not_ok "$1" "$(echo "$found" | head -n 3 | tr '\n' ' ')"
	else
		ok "$1"
	fi
	rm -rf "$tmp/tree"
	mkdir "$tmp/tree"
	(cd "$root" && cp -r lib preload tools demo "$tmp/tree/" && mkdir "$tmp/tree/tests")
	mkdir -p "$tmp/tree/$(dirname "$2")"
	printf '%s\n' "$3" >>"$tmp/tree/$2"
	if [ -n "$(cd "$tmp/tree" && "$1")" ]; then
		ok "$1-catches"
	else
		not_ok "$1-catches" "a violation planted in $2 was not found"
	fi
}

rule lib_names_no_pthread lib/planted.c 'static pthread_mutex_t m;'
rule rtm_only_in_one_header preload/planted.c '__asm__(".byte 0x0f, 0x01, 0xd5");'
rule transactions_only_in_elision lib/planted.c 'void f(void) { rtm_end(); }'
rule lib_has_no_cancellation_point lib/planted.c 'void f(int fd) { close(fd); }'
rule lib_includes_itself lib/planted.c '#include "../preload/wrap.h"'
rule preload_is_not_included tools/planted.c '#include "../preload/real.h"'
rule tools_see_formats_only tools/planted.c '#include "../lib/engine.h"'
rule tools_link_no_engine tools/build.mk 'TOOLS_OBJ += $(LIBDIR)/libelide.a'
rule emulator_sees_valgrind_only tools/rtmgrind/planted.c '#include <stdio.h>'
rule demo_has_no_elide demo/planted.c '#include "../lib/elide.h"'
rule demo_node_has_no_latch demo/btree-node.h '#include "latch.h"'
rule policy_is_pure lib/policy.c 'static long now(void) { return time(0); }'
rule one_line_licence lib/planted.c 'int planted;'

echo "$nr tests, $failed failed"
[ $failed -eq 0 ]
