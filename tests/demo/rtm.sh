# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests

# without_rtm SCHEME: the option that a scheme with transactions of its own needs on a processor
# without RTM: then it acquires latches.
without_rtm() {
	case $1 in rtm) grep -qw rtm /proc/cpuinfo || echo --attempts=0 ;; esac
}
