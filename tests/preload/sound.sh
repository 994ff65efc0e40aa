#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=4
#
# No data file that the library has written counts as damaged: elide report finds no fault in
# those of processes that end well, are killed, fork, unload objects, make arrays of locks grow,
# lock after the library's end, have a seccomp filter, or are read while they grow.
# (tests/preload/sums and tests/torture/crash compare the checksums of each file that other tests
# have them read, too.)

. "$(dirname "$0")/../script.sh"
bin=$O/tests
grower= later= early=
clean_up() { [ -z "$grower" ] || kill -9 "$grower" 2>/dev/null; }
cd "$tmp" || exit 1
no_settings
# The programs that are to crash need leave no core.
ulimit -c 0

needs sound plain

# whole FILE: the report has no fault.
whole() {
	timeout 60 "$elide" report --json "$1" >report 2>err && ! grep -q '"damaged"' report
}

# sound NAME: all files that are there.
sound() {
	left=0 bad=
	for file in data* .data*; do
		[ -e "$file" ] || continue
		left=$((left + 1))
		whole "$file" || bad="$bad $file: $(head -c 300 err)"
	done
	if [ -n "$bad" ]; then
		not_ok "$1" "$bad"
	elif [ $left -eq 0 ] && [ -z "$early" ]; then
		not_ok "$1" 'it left no data file'
	else
		ok "$1"
	fi
	rm -f data* .data*
}

# runs NAME COMMAND...: natively, with all records that there are.
runs() {
	name=$1
	shift
	# In a shell of its own, which says on its stderr how the program ended.
	ELIDE_STACKS=1 ELIDE_ORDER=1 ELIDE_OUTPUT=data LD_PRELOAD=$lib$later \
		sh -c '"$@"' sh timeout 60 "$@" >out 2>&1 </dev/null
	sound "$name"
}

# emulated NAME COMMAND...
emulated() {
	name=$1
	shift
	why=$(lacks emulator)
	[ -z "$why" ] || { skip "$name" "$why"; return; }
	timeout 120 "$elide" run -q --emulate --cores=4 --stacks=1 -o data -- "$@" >out 2>&1 </dev/null
	sound "$name"
}

# It is read while it grows, as it is and as a copy, and after it was killed in the middle.
test_live() {
	ELIDE_STACKS=1 ELIDE_OUTPUT=data LD_PRELOAD=$lib "$bin/torture/crash" live log 1 100000000 \
		>out 2>&1 </dev/null &
	grower=$! bad='' reads=0 tries=0
	while [ $reads -lt 4 ] && [ $tries -lt 3000 ]; do
		tries=$((tries + 1))
		[ -e .data.live ] || { sleep 0.02; continue; }
		reads=$((reads + 1))
		whole data || bad="$bad $(head -c 300 err)"
		timeout 60 "$elide" ctl $grower snapshot -o copy >/dev/null 2>err && ! whole copy &&
			bad="$bad a copy: $(head -c 300 err)"
	done
	kill -9 $grower
	wait $grower 2>/dev/null
	grower=
	if [ -z "$bad" ] && [ $reads -eq 4 ]; then
		ok live
	else
		not_ok live "read $reads times:$bad"
	fi
	sound killed
}

test_live
for scenario in fork fork-exec vfork crash loader; do
	runs $scenario "$bin/preload/scenario" $scenario
done
later=:$bin/preload/lib-late.so
runs late "$bin/preload/scenario" plain
later=
runs reload "$bin/preload/reload" "$bin/preload"
runs filter "$bin/preload/filter"
runs misuse "$bin/semantics/misuse"
runs order "$bin/planted/coupling"
runs array "$bin/planted/false_array"
runs waits "$bin/planted/monitor"
# They may be ended before their first lock call.
early=yes
for how in kill segv; do
	for seed in 1 2; do
		runs $how-$seed "$bin/torture/crash" die log $seed $how
	done
done
early=
emulated emulated-fork "$bin/preload/scenario" fork
emulated emulated-reload "$bin/preload/reload" "$bin/preload"
finish
