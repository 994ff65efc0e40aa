#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make demo: elides the locks of two programs, kccachetest of Kyoto Cabinet and
# index_bench, on an emulated machine with RTM, and on the processor if it has RTM.
# O is the build directory. Prints each command before it runs. Must never print a
# number that no command printed.
set -o pipefail

O=$(realpath "${O:-build}") || exit 1
here=$(realpath "$(dirname "$0")") || exit 1
# Limit of a command in seconds: ten times the duration of the slowest one.
LIMIT=300
# Without a terminal the report has 140 columns, all fields and shortened names.
[ -t 1 ] || width=' --width=140'

section() { printf '\n=== %s\n' "$*"; }

# show COMMAND: print the command and run it; if it fails, the demo fails.
show() {
	printf '\n$ %s\n' "$1"
	timeout -k 5 $LIMIT bash -o pipefail -c "$1"
	status=$?
	[ $status -eq 0 ] || { echo "demo: exit $status: $1" >&2; exit 1; }
}

# page NAME: write the report of NAME.data as HTML.
page() {
	show "elide report --html $1.html $1.data"
	printf 'a page for a browser: %s\n' "$O/demo/$1.html"
}

# The last two lines of kccachetest have its result. A processor gets ten times the operations.
kccachetest='kccachetest wicked -th 4 5000 | tail -n 2'
kccachetest_long='kccachetest wicked -th 4 50000 | tail -n 2'
index_bench='index_bench --scheme=mutex --threads=4 --preload=10000 --ops=50000 --updates=5'

mkdir -p "$O/demo" && cd "$O/demo" || exit 1
PATH=$O/bin:$PATH
export PATH
# The library renames data files of an earlier demo instead of overwriting them.
rm -f -- *.data *.data.old *.html

if [ -x "$O/libexec/elide/rtmgrind-amd64-linux" ]; then
	section 'A program of the distribution, its locks elided on an emulated machine with RTM'
	show "elide run --emulate --heap=1 --set POLICY=fixed -o kccachetest.data -- $kccachetest"
	show "elide report$width kccachetest.data"
	show "elide report --by line --top 1 kccachetest.data"
	page kccachetest

	section 'A B+Tree under one mutex: four threads on four cores, first without elision'
	show "elide run --emulate --cores=4 --mode=off -- $index_bench"
	show "elide run --emulate --cores=4 --heap=1 --set POLICY=fixed -o index_bench.data -- $index_bench"
	show "elide report$width index_bench.data"
	page index_bench

	section 'A delta index on a simulated Haswell, before and after it was made friendly to elision'
	show "O='$O' bash '$here/delta.sh'"
else
	section 'Left out: the emulator needs another version of valgrind than is installed'
fi

if grep -qw rtm /proc/cpuinfo; then
	section 'The same on this processor, which has RTM, with the default policy'
	show "elide run -o kccachetest-native.data -- $kccachetest_long"
	show "elide report$width --top=3 kccachetest-native.data"
	show "elide run -o index_bench-native.data -- $index_bench"
	show "elide report$width --top=3 index_bench-native.data"
fi

printf '\nLook further: cd %s; PATH=%s:$PATH; elide report --by lock *.data; elide --help\n' \
	"$O/demo" "$O/bin"
