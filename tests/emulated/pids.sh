# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sourced by tests that compare emulated runs: process ids are the host's, and a
# program that prints one takes longer for one with more digits.

# settle_pids NUMBER: the next so many processes have ids of one length, though many others
# start meanwhile on a busy machine.
settle_pids() {
	local pid max room=$(($1 + 800))

	max=$(cat /proc/sys/kernel/pid_max)
	while :; do
		pid=$(bash -c 'echo $$')
		if [ $((10 ** ${#pid} - pid)) -gt $room ] && [ $((max - pid)) -gt $room ]; then
			return
		fi
		# Uses up some.
		for ((pid = 0; pid < 100; pid++)); do
			/bin/true
		done
	done
}
