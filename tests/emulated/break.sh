#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, makes emulators that are broken on purpose for selftest.sh
#
#   break.sh --list      lines "TEST FILE": a fault that this test of the self-test must find, and
#                        the file of the emulator that has it
#   break.sh TEST        prints that file with the fault
#
# Must never print a file without a fault: where the code has changed, so must the fault.
set -eu

src=$(dirname "$0")/../../tools/rtmgrind

# TEST FILE EXPRESSION, one a line.
faults='
instructions txn.c s/RTM_EXPLICIT | code << 24/RTM_EXPLICIT/
rollback txn.c s/VG_(memcpy)(memory, line->old, LINE_SIZE);/;/
nesting txn.c s/if (--txn->depth)/if ((txn->depth = 0))/
capacity access.c s/^\t\tabort_capacity(txn, addr, True);/\t\t;/
isolation access.c /^void access_conflict/,/^}/s/if (line)/if (0)/
loads loads.c s/add(out, block->stmts\[i\]);/addStmtToIRSB(out, block->stmts[i]);/
faults core-hooks.c /^Bool __wrap_vgPlain_gdbserver_report_signal/,/^}/s/if (is_fault(info))/if (0)/
signals core-hooks.c s/^\t\ttxn_abort_parked(tid, RTMGRIND_CAUSE_INTERRUPT);/\t\t;/
clocks time.c s/model_cycles(ns % NS_PER_SECOND)/2 * model_cycles(ns % NS_PER_SECOND)/
threads cores.c s/return !cpus\[cpu\].tid \&\&/return cpu < 2 \&\& !cpus[cpu].tid \&\&/
costs coherence.c s/charge(cycles - cycles . 2);/;/
processes image.c s/valgrinds >= text + length)/1)/
'

if [ "$1" = --list ]; then
	echo "$faults" | awk 'NF { print $1, $2 }'
	exit
fi
line=$(echo "$faults" | grep "^$1 ") || { echo "break: there is no fault $1" >&2; exit 2; }
line=${line#* }
file=${line%% *}
changed=$(sed "${line#* }" "$src/$file")
if [ "$changed" = "$(cat "$src/$file")" ]; then
	echo "break: $file has no place for the fault $1" >&2
	exit 1
fi
printf '%s\n' "$changed"
