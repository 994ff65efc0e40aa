# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# For tests that compare emulated runs: process ids are the host's, and a program whose id has
# more digits takes longer to print it, and has a longer environment.

# Of each call of settle_pids, how many digits the ids have.
pid_digits=''

# settle_pids: to be called before each run. The next 3000 processes, more than others start until
# those of the run are there, have ids of one length; of five digits where there are no longer ones.
settle_pids() {
	local pid limit room=3000 max

	max=$(cat /proc/sys/kernel/pid_max)
	while :; do
		pid=$(sh -c 'echo $$')
		limit=$(echo "$pid" | sed 's/./9/g')
		[ "$limit" -lt "$max" ] || limit=$max
		[ ${#pid} -lt 5 ] || [ $((limit - pid)) -le $room ] || break
		# Uses up some.
		for limit in 1 2 3 4 5 6 7 8 9 10; do (:); done
	done
	pid_digits="$pid_digits ${#pid}"
}

# like_pids COMMAND...: the command makes several runs. Makes them again if ids have become longer
# from one to the next. Returns what the command does the last time.
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
