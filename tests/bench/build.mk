# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: figures, not tests; nothing fails because a machine is slow.

BENCH_ROUNDS ?= 9
# Sections wanted; all if empty.
BENCH ?=

$(O)/tests/bench/lockbench: tests/bench/lockbench.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -o $@ $< -pthread

bench: preload emulator demo-bin $(O)/tests/bench/lockbench
	$(Q)O=$(O) ROUNDS=$(BENCH_ROUNDS) sh tests/bench/run.sh $(BENCH)
