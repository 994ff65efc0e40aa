# SPDX-License-Identifier: GPL-2.0-or-later
# make check: every kind of test has its own rules; tests/check.sh finds and runs them all.

# Seeds of the torture tests.
SEEDS ?= 3

# How many scripts run at a time.
JOBS ?= $(shell nproc)

# What is built for check.
CHECK_NEEDS = all check-programs

# The packages come first, or what needs them would not build. Who gave no -j builds with JOBS.
# ONLY and FORM are check.sh's.
check check-quick:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS) --output-sync) $(CHECK_NEEDS)
	$(Q)export O=$(O) SEEDS=$(SEEDS) CC="$(CC)" SAN=$(SAN) JOBS=$(JOBS); exec tests/check.sh

# What finds most faults, in three minutes on two processors.
check-quick: SEEDS = 1
check-quick: export FORM = quick
check-quick: export MODES = plain profile restrict
check-quick: export ONLY = tests/unit/ tests/model/ tests/preload/ tests/semantics/ tests/reuse/ tests/truth/ \
		tests/torture/ tests/tools/tools tests/tools/views tests/tools/words
check-quick: CHECK_NEEDS = check-quick-programs

.PHONY: check-quick check-quick-programs
check-quick-programs: preload tools emulator man unit-tests preload-tests semantics-tests reuse-tests truth-tests \
		torture-tests tools-tests

# In a new root of a Debian release, with the packages of tools/deps.sh alone.
RELEASE ?= trixie
.PHONY: check-debian
check-debian:
	$(Q)O=$(O) JOBS=$(JOBS) tools/check-debian.sh $(RELEASE)

# Minutes of torture, for three seeds together.
LONG_MINUTES ?= 30

check-long: SEEDS = 50
check-long: export FORM = long
check-long: export KILLS = 200
check-long: export ATTACH_ROUNDS = 26
check-long: export FUZZ = 1000
check-long: export THREADS_SECONDS = 600
check-long: export SERIAL_SEEDS = 500
check-long: export EXACT_SEEDS = 50
check-long: export DELTA_SEEDS = 60
check-long: export ALL_RATES = yes
check-long: export TREE_SEEDS = 30
check-long: export REUSE_SEEDS = 20
check-long: export LOAD = 10
check-long: export SERVERS = redis memcached nginx python mariadb
check-long: check
	$(Q)O=$(O) LONG_MINUTES=$(LONG_MINUTES) sh tests/torture/run.sh
	$(Q)O=$(O) CRASHES=200 sh tests/torture/crash.sh
	$(Q)if [ "$$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; then $(MAKE) check-deb; \
		else echo 'check-deb is left out: it needs root and mmdebstrap'; fi

.PHONY: check-programs
check-programs: unit-tests
check-programs: preload-tests
check-programs: tools-tests
check-programs: demo-tests
check-programs: emulated-tests
check-programs: fidelity-tests
check-programs: program-tests
check-programs: fuzz-tests
check-programs: torture-tests
check-programs: reuse-tests
check-programs: truth-tests
check-programs: semantics-tests
check-programs: conformance-tests
check-programs: planted-tests
check-programs: policy-tests
