#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records the gain of elision on this processor: writes native-PROCESSOR.txt and .csv
# into the folder of this script, from the native section of make bench. O is the build
# directory, ROUNDS the number of runs of each kind. Must never record a number that was
# not measured.
set -eu

O=${O:-build}
here=$(dirname "$0")
if ! grep -qw rtm /proc/cpuinfo; then
	echo 'record: this processor has no RTM' >&2
	exit 1
fi

# of NAME: the value of a line of lscpu
of() { lscpu | sed -n "s/^ *$1: *//p" | head -n 1; }

name=native-$(of 'CPU family')-$(of Model)-$(of Stepping)
{
	echo "Elided on $(of 'Model name'), family $(of 'CPU family'), model $(of Model), stepping $(of Stepping)"
	echo "$(of 'CPU(s)') processors, hypervisor: $(of 'Hypervisor vendor' | grep . || echo none)"
	echo "flags: $(of Flags | tr ' ' '\n' | grep -xE 'rtm|hle|rtm_always_abort|tsxldtrk|hypervisor|constant_tsc' |
		tr '\n' ' ')"
	echo "TSX Asynchronous Abort: $(cat /sys/devices/system/cpu/vulnerabilities/tsx_async_abort)"
	echo "Linux $(uname -r), $(date -u +%Y-%m-%d), load $(cut -d' ' -f1 /proc/loadavg) at the start"
	echo 'A virtual machine shares its processors with others: compare ratios, not times.'
	echo
	O=$O ROUNDS=${ROUNDS:-7} sh "$here/../../tests/bench/run.sh" native | sed '/^The same figures/d'
	echo "Load $(cut -d' ' -f1 /proc/loadavg) at the end; the runs themselves make up to 2."
} >"$here/$name.txt.new"
cp "$O/bench.csv" "$here/$name.csv"
mv "$here/$name.txt.new" "$here/$name.txt"
echo "recorded: $here/$name.txt and .csv"
