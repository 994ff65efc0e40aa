# SPDX-License-Identifier: GPL-2.0-or-later
# make check: every kind of test has its own rules; tests/check.sh runs them all.

# Seeds of the torture tests.
SEEDS ?= 3

# The packages come first, or what needs them would not build.
check:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all check-programs
	$(Q)O=$(O) SEEDS=$(SEEDS) CC="$(CC)" tests/check.sh

check-long: SEEDS = 50
check-long: check

.PHONY: check-programs
check-programs: unit-tests preload-tests semantics-tests tools-tests demo-tests emulated-tests
