# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: figures, not tests; nothing fails because a machine is slow.

BENCH_ROUNDS ?= 9
# Sections wanted; all if empty. Rows of the section pairs: tests/bench/run.sh.
BENCH ?=
PAIRS ?=

BENCH_PROGRAMS := $(addprefix $(O)/tests/bench/,pairs programs turns spawn crowdbench peak)
$(BENCH_PROGRAMS): $(O)/tests/bench/%: tests/bench/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -o $@ $< -pthread

# The trees beside absl::btree_map, where libabsl-dev is installed.
ifneq ($(wildcard /usr/include/absl/container/btree_map.h),)
BENCH_INDEX := $(O)/tests/bench/index
endif

$(OBJ)/tests/bench/%.o: tests/bench/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(O)/tests/bench/index: tests/bench/index.cc $(OBJ)/tests/bench/index-tree.o \
			$(DEMO_PART_OBJ)
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror $(SANFLAGS) -o $@ $^ -labsl_throw_delegate -pthread -lm

bench: preload tools tools-tests emulator demo-bin $(BENCH_PROGRAMS) $(BENCH_INDEX)
	$(Q)O=$(O) ROUNDS=$(BENCH_ROUNDS) PAIRS='$(PAIRS)' sh tests/bench/run.sh $(BENCH)
