# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# For tests that compare emulated runs: process ids are the host's, and a program whose id has
# more digits takes longer to print it, and has a longer environment.

# The number of digits of process ids at each call of settle_pids.
pid_digits=''

# settle_pids: to be called before each run. Starts processes until the next 3000 ids, more than
# are used until the processes of the run have begun, have the same number of digits: five or more.
settle_pids() {
	local pid limit room=3000 max

	max=$(cat /proc/sys/kernel/pid_max)
	while :; do
		pid=$(sh -c 'echo $$')
		limit=$(echo "$pid" | sed 's/./9/g')
		[ "$limit" -lt "$max" ] || limit=$max
		[ ${#pid} -lt 5 ] || [ $((limit - pid)) -le $room ] || break
		# Uses up ten ids.
		for limit in 1 2 3 4 5 6 7 8 9 10; do (:); done
	done
	pid_digits="$pid_digits ${#pid}"
}

# like_pids COMMAND...: the command makes several runs. Executes it again, at most three times in
# all, if the number of digits of ids has changed between two runs. Returns its last status.
like_pids() {
	local tries=3 status

	while :; do
		pid_digits=''
		"$@"
		status=$?
		tries=$((tries - 1))
		[ "$(echo "$pid_digits" | tr ' ' '\n' | sort -u | grep -c .)" -gt 1 ] && [ $tries -gt 0 ] ||
			return $status
	done
}
