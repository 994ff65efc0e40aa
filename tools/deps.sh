#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the Debian packages that building, testing and the demo need, and
# says which and why. ELIDE_DEPS=skip leaves the machine as it is; --list prints
# the names. They are the same in Debian 12 and 13. Must never remove or upgrade
# anything.
set -u

# PACKAGE REASON, one a line.
packages='
gcc compiles it
make builds it
libc6-dev headers of the C library
libdw-dev names and source lines in the report (elfutils)
libelf-dev symbol tables in the report (elfutils)
libunwind-dev stacks of a running process (elide stacks)
libjansson-dev JSON output of the report
zlib1g-dev the profile of report --pprof, and checksums of the pages and the log of tatp_bench
libiberty-dev demangles names of C++ and Rust in the report
libncurses-dev the screen of elide top
valgrind rtmgrind, the emulator, is one of its tools and is linked against its libraries
libcmocka-dev unit tests
g++ tests with C++ programs
python3 tests: checks JSON, and is a program that runs emulated
mandoc tests: reads the manual pages strictly
jq tests: reads the numbers of a report, and of one after a crash
chromium tests: shows the page of report --html and types on it
xz-utils tests: a threaded program that runs emulated
libjemalloc2 tests: a replaced allocator
libabsl-dev make bench: an index to compare with
libqt5core5a tests: locks of another library
qtbase5-dev tests: its headers
rustc tests: locks of Rust
libtbb-dev tests, make bench-policy: a library with transactions of its own
libck-dev make bench-policy: elision to compare with
pkg-config tests: options of the libraries below
libssl-dev tests: a library that uses rwlocks
libglib2.0-dev tests: locks of another library
pigz tests: threads that wait for each other
pbzip2 tests: the same
lbzip2 make bench: threads that hardly meet, emulated
zstd make bench: the same
memcached tests: a server, on the loopback interface
libmemcached-tools tests: its load
procps tests: processes that a run has left behind
bubblewrap tests: containers, without a daemon or an image
spin tests: searches the models of the protocol
zsh tests: the completion of elide for it
bash-completion tests: the completion of a program behind elide run
git tests: the source archive and its version
kyotocabinet-utils the demo: a program of Debian
gnuplot-nox make figures, make bench-policy: the pictures
linux-perf tests: samples to join with a report
'

if [ "${1:-}" = --list ]; then
	echo "$packages" | awk 'NF && !seen[$1]++ { print $1 }'
	exit 0
fi
[ "${ELIDE_DEPS:-}" = skip ] && exit 0
if ! command -v dpkg-query >/dev/null; then
	echo 'deps: not a Debian system: install what this list names, then set ELIDE_DEPS=skip' >&2
	echo "$packages" >&2
	exit 1
fi

missing=$(echo "$packages" | while read -r name reason; do
	[ -n "$name" ] || continue
	status=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)
	[ "$status" = installed ] || echo "$name"
done)
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" -ne 0 ]; then
	sudo=sudo
	if ! command -v sudo >/dev/null; then
		echo "deps: not root and no sudo; please install:" $missing >&2
		exit 1
	fi
fi
echo 'deps: installing with apt-get:'
for name in $missing; do
	echo "$packages" | sed -n "s/^$name /  $name: /p"
done
# An old package list does no harm as long as what it names can be fetched.
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
install() { $sudo apt-get install -y -q --no-install-recommends $missing >/dev/null; }
install 2>/dev/null || { $sudo apt-get update -q >/dev/null && install; } || {
	echo 'deps: apt-get failed; install the packages above, then set ELIDE_DEPS=skip' >&2
	exit 1
}
