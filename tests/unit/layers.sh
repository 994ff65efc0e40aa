#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# Which part may know what: lib/ knows locks as words, preload/ knows glibc,
# tools/ know the file format, the emulator knows Valgrind, demo/ knows
# nothing of elide. Each rule is a grep that must find nothing; each is also
# tried on a tree with that violation planted, where it must find it.

. "$(dirname "$0")/../script.sh"

# Code without comments of either kind, as FILE:LINE:TEXT.
code() {
	# A pattern that no file matches stays as it is.
	for file in "$@"; do
		shift
		[ ! -f "$file" ] || set -- "$@" "$file"
	done
	[ $# -gt 0 ] || return 0
	awk 'FNR == 1 { inside = 0 } {
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
				print FILENAME ":" FNR ":" before; line = ""; break
			}
		}
		if (line != "") print FILENAME ":" FNR ":" line
	}' "$@"
}

# Names of included files of our own: FILE:LINE:NAME.
includes() { code "$@" | sed -n 's/^\([^:]*:[0-9]*:\)[ \t]*#[ \t]*include[ \t]*"\(.*\)".*/\1\2/p'; }

# Every rule prints what violates it. They run in the root of a tree.

# All of lib/: its root and its folders.
lib_code() { code lib/*.[ch] lib/*/*.[ch]; }

lib_names_no_pthread() { lib_code | grep -E 'pthread_[a-z]|<pthread\.h>'; }

# The instructions by their encodings, names and the compiler's intrinsics.
rtm_only_in_one_header() {
	code $(find lib preload tools demo -name '*.[chS]' ! -path lib/rtm.h \
		! -path 'tools/rtmgrind/*' ! -path 'tools/selftest/*' ! -path demo/latch/rtm.h) |
		grep -iE '0xc7, *0xf8|0x0f, *0x01, *0xd[56]|0xc6, *0xf8|\bx(begin|end|abort|test)\b|_x(begin|end|abort|test)\b|immintrin'
}

# Transactions are begun and ended by the engine's elision and by the probe that looks whether they
# work; in the demo by the Bx tree, by the Bw-tree's CAS of several words, and by the storage
# manager's wrapper.
transactions_only_in_elision() {
	code preload/*.[ch] preload/*/*.[ch] $(tools_files) $(demo_files) | grep -E 'rtm_(begin|end)\b' |
		grep -v '^tools/base/machine\.c:' | # doctor's probe, in a child
		grep -v '^tools/selftest/' | # runs in the emulator alone
		grep -vE '^demo/(latch/rtm\.h|sync/(bx\.c|bw-words\.h)|tatp/latch/section\.h):'
	lib_code | grep -E '\brtm_(begin|end)\(' |
		grep -vE '^lib/section/(acquire|retry|release)\.c:|^lib/section/fast-path\.h:|^lib/base/detect\.c:|^lib/rtm\.h:'
}

# A lock call is none, so what it calls must not be one: see lib/base/syscalls.h.
lib_has_no_cancellation_point() {
	lib_code | grep -E '[^_a-z](p?read|p?write|open|openat|close|fcntl|poll|select|u?sleep|nanosleep|wait|waitpid|fsync|msync)\('
}

# An include names a file of the same folder, of another folder, or of the root.
lib_includes_itself() {
	includes lib/*.[ch] lib/*/*.[ch] | while IFS=: read -r file line name; do
		case ${file%/*}:$name in
		*:/* | *:../../* | lib:../*) ;;
		*) [ -f "${file%/*}/$name" ] && continue ;;
		esac
		echo "$file:$line: $name"
	done
}

# The root has what other parts may include, and what is built and read with it.
lib_root_is_public() {
	for path in lib/*; do
		case ${path#lib/} in
		elide.h | attach.h | datafile.h | datafile-rows.h | datafile-samples.h | live-name.h | what-if.h | row-sums.h | policy-numbers.h | emulator.h | compiler.h | rtm.h | *.def) ;;
		build.mk | README.md | elide.pc.in) ;;
		section | life | adapt | evidence | check | state | policy | base) ;;
		*) echo "$path" ;;
		esac
	done
}

# lib/README.md names no file, and no function, that is not there.
lib_readme_is_true() {
	grep -oE '`[A-Za-z0-9_/-]+\.(c|h|def)`' lib/README.md | tr -d '`' | sort -u | while read -r name; do
		case $name in
		tests/*) ;;
		*/*) [ -f "lib/$name" ] || [ -f "$name" ] || echo "lib/README.md: $name" ;;
		*) [ -n "$(find lib -name "$name")" ] || echo "lib/README.md: $name" ;;
		esac
	done
	{
		code lib/*/*.[ch] preload/*.[ch] preload/*/*.[ch] tools/names/*.[ch] | tr -cs '[:alnum:]_' '\n' | sort -u
		grep -oE '`[a-z0-9_]+\(\)`' lib/README.md | sort -u | sed 's/`\(.*\)()`/? \1/'
	} | awk '$1 == "?" { if (!($2 in known)) print "lib/README.md: " $2 "()"; next } { known[$1] }'
}

# What a header of the root includes lies there too.
lib_root_stands_alone() { includes lib/*.[ch] | grep ':[^:]*/[^:]*$'; }

# lib_floors FOLDER: the folders that it may include.
lib_floors() {
	case $1 in
	section) echo life adapt evidence check state policy base ;;
	life) echo adapt evidence check state policy base ;;
	adapt) echo evidence state policy base ;; # what it has decided goes into the data file
	evidence | check) echo state policy base ;;
	state) echo policy base ;;
	policy) echo base ;;
	esac
}

# lib_arrow FROM TO: where FROM includes TO.
lib_arrow() { includes lib/"$1"/*.[ch] | grep -E ":\.\./$2/"; }

# Libraries other than libc are known to their adapters alone.
libraries_in_adapters() {
	{ lib_code; code preload/*.[ch]; } | grep -E '\b(g_(rec_)?(mutex|cond|rw_lock)_|omp_[a-z]+_lock|GOMP_)'
}

preload_is_not_included() {
	includes $(find lib tools demo -name '*.[ch]') | while IFS=: read -r where line name; do
		case $name in
		*preload/*) echo "$where:$line: $name" ;;
		esac
		[ -f "preload/${name##*/}" ] && [ ! -f "${where%/*}/$name" ] && echo "$where:$line: $name"
	done
}

tools_files() { find tools -name '*.[ch]' ! -path 'tools/rtmgrind/*'; }

tools_see_formats_only() {
	includes $(tools_files) | grep -E ':(\.\./)+(lib|preload|demo)/' |
		grep -vE '/lib/(elide\.h|attach\.h|datafile\.h|live-name\.h|what-if\.h|row-sums\.h|policy-numbers\.h|compiler\.h|emulator\.h|[a-z]+\.def)$' |
		grep -vE '^tools/(base/machine|selftest/[a-z]+)\.c:[0-9]+:(\.\./)+lib/rtm\.h$' # doctor's probe
}

# What files include of tools/, as FILE:LINE:FOLDER/NAME; the emulator's lists belong to no floor.
included_folders() {
	includes "$@" | awk -F: '{
		depth = split($1, path, "/") - 1
		parts = split($3, name, "/")
		for (i = 1; i <= parts; i++)
			if (name[i] == "..") depth--
			else path[++depth] = name[i]
		if (path[1] == "tools" && depth > 2)
			print $1 ":" $2 ":" path[2] "/" path[depth]
	}' | grep -v ':rtmgrind/[a-z]*\.def$'
}

# tools_folder_sees FOLDER ALLOWED: it includes itself and the folders that match ALLOWED.
tools_folder_sees() { included_folders $(find "tools/$1" -name '*.[ch]') | grep -vE ":($1|$2)/"; }

# cmd -> {print, live, run, counters} -> model -> names -> base
tools_base_sees_nothing() { tools_folder_sees base base; }
tools_names_see_base() { tools_folder_sees names base; }
tools_model_sees_names() { tools_folder_sees model 'names|base'; }
tools_print_sees_model() { tools_folder_sees print 'model|names|base'; }
tools_live_sees_model() { tools_folder_sees live 'model|names|base'; }
tools_run_sees_model() { tools_folder_sees run 'model|names|base'; }
tools_counters_see_model() { tools_folder_sees counters 'model|names|base'; }
tools_cmd_sees_all() { tools_folder_sees cmd 'print|live|run|counters|model|names|base'; }

# A command uses none of another's functions: all that commands share is their table.
tools_commands_are_apart() { included_folders tools/cmd/*.[ch] | grep ':cmd/' | grep -v ':cmd/cmd\.h$'; }

# A folder without a rule would be on no floor; tools/launch/ and tools/selftest/ are
# programs of their own.
tools_files_have_a_floor() { tools_files | grep -vE '^tools/(cmd|print|print/view|print/html|print/export|live|run|counters|model|model/answer|model/file|model/join|names|base|launch|selftest)/[^/]*$'; }

# too_many FILE...: the folders with more than 25 .c files, which nobody looks through any more.
too_many() { printf '%s\n' "$@" | grep '\.c$' | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 25'; }
tools_folders_are_small() { too_many $(tools_files); }

# declared HEADER...: the functions that headers declare, as FILE:LINE NAME.
declared() {
	code "$@" | grep -vE ':([[:space:]]|#|static|typedef|$)' |
		sed -n 's/^\([^:]*:[0-9]*\):[^(]*[ *]\([a-z0-9_]*\)(.*/\1 \2/p'
}

# Those of the headers on standard input that the file of the same name does not define.
declared_elsewhere() {
	declared $(cat) | while read -r where name; do
		grep -qE "^[A-Za-z].*\b$name\b" "${where%.h:*}.c" 2>/dev/null || echo "$where: $name"
	done
}

# But for a table of commands, of formats, of self-tests, and the family of the page.
tools_header_is_of_one_file() {
	tools_files | grep '\.h$' | grep -vE '^tools/(cmd/cmd|print/output|print/html/html|selftest/selftest)\.h$' |
		declared_elsewhere
}

tools_link_no_engine() { grep -nE 'libelide|LIB_OBJ|PRELOAD_OBJ' tools/build.mk tools/launch/build.mk 2>/dev/null; }

emulator_sees_valgrind_only() {
	[ -d tools/rtmgrind ] || return
	code tools/rtmgrind/*.[ch] | grep -E '#[ \t]*include[ \t]*<' | grep -vE '<(stddef|stdarg|stdbool|stdint|linux/[a-z]+|asm/[a-z_]+|valgrind/[a-z_]+)\.h>'
	includes tools/rtmgrind/*.[ch] | grep -E ':(\.\./)+(lib|preload|demo)/' |
		grep -vE '/lib/(emulator\.h|rtm\.h|[a-z]+\.def)$'
}

# The common header, rtmgrind.h, has no file of its name, so it declares no function at all.
emulator_header_is_of_one_file() { ls tools/rtmgrind/*.h 2>/dev/null | declared_elsewhere; }

# A file of the emulator includes the header of each function of another file that it calls.
emulator_includes_what_it_calls() {
	{
		declared tools/rtmgrind/*.h | sed 's/^/declared /'
		code tools/rtmgrind/*.c
	} | awk '
	$1 == "declared" {
		header = $2
		sub(/:.*/, "", header)
		sub(/.*\//, "", header)
		of[$3] = header
		next
	}
	{
		file = $0
		sub(/:.*/, "", file)
		text = substr($0, length(file) + 2)
		line = text
		sub(/:.*/, "", line)
		text = substr(text, length(line) + 2)
		own = file
		sub(/.*\//, "", own)
		sub(/c$/, "h", own)
		if (text ~ /^#[ \t]*include "/) {
			split(text, part, "\"")
			included[file, part[2]] = 1
		}
		while (match(text, /[a-z_][a-z0-9_]*/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			if (name in of && of[name] != own && !((file, of[name]) in included) && text ~ /^\(/)
				print file ":" line ": " name " is of " of[name]
		}
	}'
}

# All of demo/ in folders.
demo_files() { find demo -mindepth 2 \( -name '*.[ch]' -o -name '*.def' \); }

# One file of the storage manager includes elide.h; it links no library all the same.
demo_has_no_elide() {
	code $(demo_files) | grep -v '^demo/tatp/latch/latch-api\.h:' |
		grep -iE 'elide_[a-z]|#[ \t]*include.*elide'
	grep -nE 'libelide|LIB_OBJ|\$\(LIBDIR\)' demo/build.mk
}

# What files include of other folders of demo/, as FILE:LINE:FOLDER:FILE without "demo/"; a file outside of
# it begins with "../".
demo_includes() {
	includes $(demo_files) | awk -F: '{
		nr = split($1, path, "/") - 1
		folder = substr($1, 6, length($1) - 6 - length(path[nr + 1]))
		parts = split($3, name, "/")
		for (i = 1; i <= parts; i++)
			if (name[i] == "..") nr--
			else path[++nr] = name[i]
		to = path[1] == "demo" ? path[2] : "../" path[1] "/" path[2]
		for (i = 3; i <= nr; i++) to = to "/" path[i]
		if (to != folder "/" path[nr]) print $1 ":" $2 ":" folder ":" to
	}'
}

# base <- mem, latch <- index <- node <- sync <- bench, and every other folder is a tree, below
# sync: trees, index and node include no latch and no scheme, a tree includes no other tree but
# the nodes that several share, and the driver includes neither trees nor latches, and of sync
# the list of variants alone. The microbenchmarks have latches and neither trees nor nodes. The
# latches of the storage manager have base and the pthread latches, it has its latches, base and mem;
# the tree in pages has base and areas, and one scheme has it. The latches of both wait as others do. Each
# of the two has a benchmark above it, which has base and the start of threads, too.
demo_include_allowed() {
	case $1:$2 in
	base:*) return 1 ;;
	sweep:base/*.h | sweep:../tools/model/stats.h) ;;
	sweep:* | *:sweep/*) return 1 ;;
	*/bench:bench/threads.h | */bench:base/*.h) ;;
	tatp/bench:tatp/*.h | pages/bench:pages/*.h | pages/bench:pages/*.def) ;;
	tatp/latch:latch/back-off.h | pages:latch/back-off.h) ;;
	tatp/latch:base/*.h | tatp/latch:latch/mutex.h | tatp/latch:latch/rwlock.h | tatp/latch:latch/spin.h) ;;
	tatp:base/*.h | tatp:mem/*.h | tatp:tatp/latch/latch.h) ;;
	pages:base/*.h | pages:mem/area.h) ;;
	bench:base/*.h | bench:index/*.h | bench:index/counts.def | bench:sync/variants.h) ;;
	micro:base/*.h | micro:latch/*.h | micro:bench/threads.h) ;;
	tatp*:* | pages*:* | *:tatp/* | bench:* | *:bench/* | micro:*) return 1 ;;
	sync:pages/latches.def | sync:pages/xmerge.h) ;; # of sync/pages.c alone: see below
	*:pages/*) return 1 ;;
	sync:*) ;;
	*:base/*.h) ;;
	mem:* | latch:*) return 1 ;;
	*:mem/*.h) ;;
	index:*) return 1 ;;
	*:index/*.h) ;;
	node:*) return 1 ;;
	*:node/*.h) ;;
	*) return 1 ;;
	esac
}

demo_folders_in_order() {
	find demo -maxdepth 1 \( -name '*.[ch]' -o -name '*.def' \)
	demo_includes | while IFS=: read -r file line folder name; do
		case $file:$name in
		demo/sync/pages.c:pages/*) ;;
		demo/sync/*:pages/*) echo "$file:$line: $name" ;;
		demo/tatp/latch/section.h:latch/rtm.h | demo/tatp/latch/latch-api.h:../lib/elide.h) continue ;;
		esac
		demo_include_allowed "$folder" "$name" || echo "$file:$line: $name"
	done
}

demo_folders_are_small() { too_many $(demo_files); }

# Locks are called in latches, and by the drivers, which start threads. pthread_ also begins names of
# kinds of the storage manager's latches.
demo_locks_in_latches() {
	code $(demo_files) | grep -E 'pthread_[a-z]|<pthread\.h>' |
		grep -vE '^demo/(latch/|bench/|micro/|tatp/(latch/(latch-(occ|pthread)\.h|latches\.def)|bench/(helpers\.c|worker\.[ch])):|pages/(latch\.[ch]|latches\.def|pool(-open)?\.[ch]|provider\.[ch]|bench/(run\.c|work\.h)):)'
}

policy_is_pure() {
	code lib/policy/*.[ch] | grep -E '\b(clock_gettime|time|rdtsc|cycles_now|__atomic_[a-z_]+|READ_ONCE|WRITE_ONCE|printf|elide_log|syscall|rand)\b'
}

# Numbers of the policies stand in numbers.def, each with its unit, its source and a row: those of the papers'
# policies stand with these, and what is no choice (a layout, a conversion) where it is used.
numbers_in_one_table() {
	code lib/policy/*.[ch] lib/adapt/*.[ch] |
		grep -E '#[ \t]*define[ \t]+[A-Za-z_0-9]+[ \t]+\(*(-?[0-9]|[A-Z_0-9]+ *[*/<+-])' |
		grep -vE '^lib/policy/published\.|define (LEARN_(US|SITES|ASKED_ALL)|CROWD_PARKED|SCALE_BITS|STATE_MASK|TUNED) '
	awk -F', *' '/^ELIDE_NUMBER/ {
		nr++
		if (seen[$1]++ || NF < 6 || $3 !~ /^"[^"]+"$/ || $5 !~ /^"(-|[a-z0-9-]+ [0-9]+|tests\/[^"]*\.md)"$/ ||
		    $4 !~ /^(swept|native|derived|bound|chosen)$/ || $6 !~ /^"[^"]/)
			print FILENAME ":" FNR ": " $0
	}
	END { if (nr > 83) print FILENAME ": " nr " numbers" }' lib/policy/numbers.def
}

# What elide_global_run() and its kin run is a function NAME_global(), and each of these has three points under
# a name of its own, the first and the last in itself; the gate has those of any. No point is without a use.
global_paths_have_points() {
	{
		sed -n 's/^ELIDE_POINT(\([a-z_]*\),.*/point:0:\1/p' lib/points.def
		lib_code
	} | awk -F: '
	function report(why) { print where ": " why }
	function end_of_function() {
		if (name ~ /_global$/) {
			if (!entered || !done || begins != ends)
				report(name "() is a global-lock path without NAME_entered and NAME_done")
			else if (begins in owner)
				report(name "() has the points of " owner[begins])
			else
				owner[begins] = name "()"
		}
		entered = done = 0
	}
	$1 == "point" { defined[$3] = 1; next }
	{ text = substr($0, length($1) + length($2) + 3) }
	text ~ /^[a-z_].*\(/ {
		where = $1 ":" $2
		name = text
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
	}
	text ~ /^}/ { end_of_function() }
	text ~ /^[ \t].*global_(try_)?run(_unready)?\(/ && text !~ /run[a-z_]*\(([a-z_]+_global|body),/ {
		where = $1 ":" $2
		report("a global-lock path is a function NAME_global()")
	}
	match(text, /test_point\([a-z_]+\)/) {
		point = substr(text, RSTART + 11, RLENGTH - 12)
		used[point] = 1
		stem = point
		sub(/_[a-z]*$/, "", stem)
		if (!entered && point ~ /_entered$/) { entered = NR; begins = stem }
		if (entered && point ~ /_done$/) { done = NR; ends = stem }
	}
	END {
		for (stem in owner)
			if (!((stem "_publish") in used)) print owner[stem] ": no " stem "_publish"
		for (point in defined)
			if (!(point in used)) print point " is used nowhere"
	}'
}

# A cause with a code is raised by an XABORT, one without is found in the status word or by the
# evidence.
every_cause_is_counted() {
	used=$({ lib_code; code preload/*.[ch]; } | grep -oE '\bELIDE_(CAUSE|CODE)_[a-z_]+' | sort -u)
	sed -n 's/^ELIDE_CAUSE(\([a-z_]*\), \([0-9a-fx]*\),.*/\1 \2/p' lib/aborts.def | while read -r id code; do
		case $id:$code in
		*:0) name=ELIDE_CAUSE_$id ;;
		*) name=ELIDE_CODE_$id ;;
		esac
		echo "$used" | grep -qx "$name" || echo "lib/aborts.def: $name is used nowhere"
	done
}

# without_licence LINES LICENCE FILE...: the files without it in their first lines.
without_licence() {
	lines=$1 licence=$2
	shift 2
	[ $# -eq 0 ] || awk -v lines="$lines" -v says=" SPDX-License-Identifier: $licence" '
		FNR <= lines && index($0, says) { has[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "$@"
}

# What scripts of tests begin with is in tests/script.sh alone.
scripts_begin_alike() {
	grep -rlE '^(ok|not_ok)\(\)|^\. .*/part\.sh' tests --include='*.sh' | grep -vx 'tests/script\.sh'
}

one_line_licence() {
	without_licence 1 LGPL-2.1-or-later \
		$(find lib preload -name '*.[ch]' -o -path 'lib/*.def' -o -path 'preload/*.def')
	without_licence 2 GPL-2.0-or-later \
		$(find tools demo tests -name '*.[ch]' -o -name '*.sh' -o -name '*.def')
}

# A picture is a plot of a page, of at most 6 KB: see demo/figures/slim.awk.
pictures_are_small() {
	find demo lib preload tests tools \( -name '*.svg' -o -name '*.png' \) -size +6000c
}

# rule NAME FILE VIOLATION: holds in the tree, and catches VIOLATION appended to FILE, or to each of
# several.
rule() {
	found=$(cd "$root" && "$1")
	if [ -n "$found" ]; then
		not_ok "$1" "$(echo "$found" | head -n 3 | tr '\n' ' ')"
	else
		ok "$1"
	fi
	catches "$1" "$2" "$3"
}

# catches NAME FILE VIOLATION: the rule finds VIOLATION appended to FILE, or to each of several,
# in a copy of the tree.
catches() {
	first=$(echo $2 | cut -d ' ' -f 1)
	for file in $2; do
		mkdir -p "$(dirname "$tmp/tree/$file")"
		[ ! -e "$tmp/tree/$file" ] || cp "$tmp/tree/$file" "$tmp/before"
		printf '%s\n' "$3" >>"$tmp/tree/$file"
	done
	if [ -n "$(cd "$tmp/tree" && "$1")" ]; then
		ok "$1-catches-$first"
	else
		not_ok "$1-catches-$first" 'a planted violation was not found'
	fi
	for file in $2; do rm -f "$tmp/tree/$file"; done
	# Of several none was there before.
	[ ! -e "$tmp/before" ] || mv "$tmp/before" "$tmp/tree/$2"
}

mkdir "$tmp/tree" "$tmp/tree/tests"
(cd "$root" && cp -r lib preload tools demo "$tmp/tree/")

# arrow FROM TO: no file of lib/FROM includes one of lib/TO, and one planted there is found.
arrow() {
	found=$(cd "$root" && lib_arrow "$1" "$2")
	if [ -n "$found" ]; then
		not_ok "lib-$1-without-$2" "$(echo "$found" | head -n 3 | tr '\n' ' ')"
	else
		ok "lib-$1-without-$2"
	fi
	printf '#include "../%s/planted.h"\n' "$2" >"$tmp/tree/lib/$1/planted.c"
	if [ -n "$(cd "$tmp/tree" && lib_arrow "$1" "$2")" ]; then
		ok "lib-$1-without-$2-catches"
	else
		not_ok "lib-$1-without-$2-catches" "a violation planted in lib/$1 was not found"
	fi
	rm -f "$tmp/tree/lib/$1/planted.c"
}

rule lib_names_no_pthread lib/state/planted.c 'static pthread_mutex_t m;'
rule rtm_only_in_one_header preload/planted.c '__asm__(".byte 0x0f, 0x01, 0xd5");'
rule transactions_only_in_elision lib/state/planted.c 'void f(void) { rtm_end(); }'
catches transactions_only_in_elision demo/sync/planted.c 'void f(void) { rtm_end(); }'
catches rtm_only_in_one_header demo/sync/planted.c '__asm__(".byte 0x0f, 0x01, 0xd5");'
catches transactions_only_in_elision demo/tatp/latch/latch.h 'static void f(void) { rtm_end(); }'
catches rtm_only_in_one_header demo/tatp/latch/section.h '__asm__(".byte 0x0f, 0x01, 0xd5");'
rule lib_has_no_cancellation_point lib/state/planted.c 'void f(int fd) { close(fd); }'
rule lib_includes_itself lib/state/planted.c '#include "../../preload/wrap.h"'
rule lib_root_is_public lib/planted.c 'int planted;'
rule lib_readme_is_true lib/README.md 'See `state/planted.c`.'
catches lib_readme_is_true lib/README.md 'See `planted()`.'
rule lib_root_stands_alone lib/emulator.h '#include "base/log.h"'
for from in section life adapt evidence check state policy base; do
	for to in section life adapt evidence check state policy base; do
		case " $from $(lib_floors $from) " in
		*" $to "*) ;;
		*) arrow $from $to ;;
		esac
	done
done
rule libraries_in_adapters preload/planted.c "void g_mutex_lock(void *m);"
catches transactions_only_in_elision preload/adapters/planted.c "void f(void) { rtm_end(); }"
rule preload_is_not_included tools/cmd/planted.c '#include "../preload/real.h"'
rule tools_see_formats_only tools/print/html/planted.c '#include "../../../lib/section/engine.h"'
rule tools_base_sees_nothing tools/base/text.c '#include "../names/short.h"'
rule tools_names_see_base tools/names/names.c '#include "../model/report.h"'
rule tools_model_sees_names tools/model/advice.c '#include "../print/table.h"'
rule tools_print_sees_model tools/print/html/html.c '#include "../../live/top.h"'
rule tools_live_sees_model tools/live/top.c '#include "../print/table.h"'
rule tools_run_sees_model tools/run/run.h '#include "../cmd/cmd.h"'
rule tools_counters_see_model tools/counters/pmu.c '#include "../run/child.h"'
rule tools_cmd_sees_all tools/cmd/planted.c '#include "../planted/planted.h"'
rule tools_commands_are_apart tools/cmd/cmd-run.c '#include "cmd-report.h"'
rule tools_files_have_a_floor tools/planted.c 'int planted;'
rule tools_folders_are_small "$(seq -f 'tools/base/planted%g.c' 26)" 'int planted;'
rule tools_header_is_of_one_file tools/model/load.h 'int records_planted(void);'
rule tools_link_no_engine tools/build.mk 'TOOLS_OBJ += $(LIBDIR)/libelide.a'
rule emulator_sees_valgrind_only tools/rtmgrind/planted.c '#include <stdio.h>'
rule emulator_header_is_of_one_file tools/rtmgrind/line.h 'void line_planted(void);'
catches emulator_header_is_of_one_file tools/rtmgrind/rtmgrind.h 'void planted(void);'
rule emulator_includes_what_it_calls tools/rtmgrind/line.c 'void planted(void) { wait_cancel(1); }'
rule demo_has_no_elide demo/sync/planted.c 'void f(void) { elide_lock(); }'
catches demo_has_no_elide demo/tatp/latch/latch.h '#include "../../../lib/elide.h"'
catches demo_has_no_elide demo/tatp/latch/latch.c 'void f(void) { elide_end(0); }'
catches demo_has_no_elide demo/build.mk 'TATP_OBJ += $(LIBDIR)/libelide.a'
rule demo_folders_in_order demo/btree/node.h '#include "../latch/spin.h"'
catches demo_folders_in_order demo/planted.c 'int planted;'
catches demo_folders_in_order demo/bench/planted.c '#include "../../lib/elide.h"'
catches demo_folders_in_order demo/base/planted.h '#include "../mem/pool.h"'
catches demo_folders_in_order demo/mem/planted.c '#include "../index/tree.h"'
catches demo_folders_in_order demo/latch/planted.h '#include "../index/index.h"'
catches demo_folders_in_order demo/latch/planted.h '#include "../mem/pool.h"'
catches demo_folders_in_order demo/index/index.h '#include "../latch/latch.h"'
catches demo_folders_in_order demo/index/planted.c '#include "../btree/node.h"'
catches demo_folders_in_order demo/delta/options.def '#include "../sync/variants.def"'
catches demo_folders_in_order demo/planted/node.h '#include "../latch/latch.h"'
catches demo_folders_in_order demo/planted/planted.c '#include "../btree/btree.h"'
catches demo_folders_in_order demo/node/planted.h '#include "../latch/ttas.h"'
catches demo_folders_in_order demo/node/planted.c '#include "../blink/blink.h"'
catches demo_folders_in_order demo/planted/planted.c '#include "../bench/options.h"'
catches demo_folders_in_order demo/sync/planted.c '#include "../bench/worker.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../delta/delta.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../latch/mutex.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../sync/../btree/btree.h"'
catches demo_folders_in_order demo/tatp/latch/latch.h '#include "../../../lib/elide.h"'
catches demo_folders_in_order demo/tatp/latch/latch-api.h '#include "../../../lib/section/engine.h"'
catches demo_folders_in_order demo/tatp/latch/latch.h '#include "../../latch/rtm.h"'
catches demo_folders_in_order demo/tatp/latch/latch.h '#include "../../latch/ttas.h"'
catches demo_folders_in_order demo/tatp/planted.c '#include "../index/index.h"'
catches demo_folders_in_order demo/tatp/planted.c '#include "../bench/worker.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../tatp/latch/latch.h"'
catches demo_folders_in_order demo/sync/planted.c '#include "../tatp/latch/latch.h"'
catches demo_folders_in_order demo/pages/planted.c '#include "../latch/mutex.h"'
catches demo_folders_in_order demo/pages/planted.c '#include "../tatp/page.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../pages/node.h"'
catches demo_folders_in_order demo/sync/planted.c '#include "../pages/node.h"'
catches demo_folders_in_order demo/pages/planted.c '#include "../bench/worker.h"'
catches demo_folders_in_order demo/sync/planted.c '#include "../pages/xmerge.h"'
catches demo_folders_in_order demo/pages/planted.c '#include "../index/index.h"'
catches demo_folders_in_order demo/pages/planted.c '#include "bench/work.h"'
catches demo_folders_in_order demo/pages/bench/planted.c '#include "../../mem/area.h"'
catches demo_folders_in_order demo/tatp/planted.c '#include "bench/tatp.h"'
catches demo_folders_in_order demo/tatp/planted.c '#include "latch/latch-mcs.h"'
catches demo_folders_in_order demo/tatp/latch/planted.h '#include "../page.h"'
catches demo_folders_in_order demo/sweep/planted.c '#include "../bench/worker.h"'
catches demo_folders_in_order demo/sweep/planted.c '#include "../../tools/model/load.h"'
catches demo_folders_in_order demo/bench/planted.c '#include "../sweep/sweep.h"'
catches demo_folders_in_order demo/tatp/bench/planted.c '#include "../../pages/node.h"'
rule demo_folders_are_small "$(seq -f 'demo/tatp/bench/planted%g.c' 26)" 'int planted;'
rule demo_locks_in_latches demo/planted/planted.c 'static pthread_mutex_t m;'
catches demo_locks_in_latches demo/tatp/lock.c 'static pthread_mutex_t m;'
catches demo_locks_in_latches demo/tatp/latch/latch.c 'static pthread_mutex_t m;'
catches demo_locks_in_latches demo/pages/node.c 'static pthread_mutex_t m;'
rule policy_is_pure lib/policy/probe.c 'static long now(void) { return time(0); }'
rule numbers_in_one_table lib/adapt/trial.c '#define PLANTED_MAX (20 * LEARN_US)'
catches numbers_in_one_table lib/policy/judge.h '#define PLANTED 0.5'
catches numbers_in_one_table lib/policy/numbers.def 'ELIDE_NUMBER(PLANTED, 1, "", chosen, "-", "no unit")'
catches numbers_in_one_table lib/policy/numbers.def 'ELIDE_NUMBER(PLANTED, 1, "ns", guessed, "-", "no source")'
catches numbers_in_one_table lib/policy/numbers.def "$(seq -f 'ELIDE_NUMBER(PLANTED_%g, 1, "ns", chosen, "-", "one of many")' 90)"
rule global_paths_have_points lib/points.def 'ELIDE_POINT(planted, 0)'
catches global_paths_have_points lib/check/planted.c 'void planted(void)
{
	elide_global_run(planted_body, NULL);
}'
catches global_paths_have_points lib/check/planted.c 'static void planted_global(void *arg)
{
}'
catches global_paths_have_points lib/check/planted.c 'static void planted_global(void *arg)
{
	test_point(fill_entered);
	test_point(fill_done);
}'
catches global_paths_have_points lib/check/planted.c 'static void planted_global(void *arg)
{
	test_point(planted_entered);
	test_point(planted_done);
}'
rule scripts_begin_alike tests/planted.sh 'ok() { echo "ok $1"; }'
rule every_cause_is_counted lib/aborts.def 'ELIDE_CAUSE(planted, 0xf7, OTHER, "", "")'
catches every_cause_is_counted lib/aborts.def 'ELIDE_CAUSE(planted, 0, OTHER, "", "")'
rule one_line_licence lib/state/planted.c 'int planted;'
rule pictures_are_small demo/results/planted.svg "$(printf '%6000s' '')"

finish
