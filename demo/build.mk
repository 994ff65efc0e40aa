# SPDX-License-Identifier: GPL-2.0-or-later
# index_bench: an ordinary pthread program; it includes and links no part of elide.

DEMO_SRC := $(filter-out demo/tatp/%,$(wildcard demo/*/*.c))
DEMO_OBJ := $(DEMO_SRC:%.c=$(OBJ)/%.o)
# All objects but main(), for the tests.
DEMO_PART_OBJ := $(filter-out $(OBJ)/demo/bench/index_bench.o,$(DEMO_OBJ))

# The latches of the storage manager, for the tests.
TATP_LATCH_OBJ := $(OBJ)/demo/tatp/latch.o

demo-bin: $(BINDIR)/index_bench

# The trees with latches in their nodes, and their schemes, are compiled with -O3, as those
# of the thesis they come from. The others keep the level at which their figures were made.
DEMO_O2 := $(addprefix demo/,$(addsuffix /%,base mem latch index btree delta bench)) \
	   demo/sync/global.c demo/sync/variants.c
demo_cflags = $(if $(filter $(DEMO_O2),$1),$(ALL_CFLAGS),$(patsubst -O2,-O3,$(ALL_CFLAGS)))

$(OBJ)/demo/%.o: demo/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(call demo_cflags,$<) -c -o $@ $<

# Symbols are bound at program start, as in programs of distributions, so no critical
# section looks a symbol up.
$(BINDIR)/index_bench: $(DEMO_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

# The packages are installed first, because the build needs them.
demo:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all
	$(Q)O=$(O) bash demo/run/demo.sh

# make figures takes minutes; with FULL=1, which loads the paper's number of keys, hours.
.PHONY: figures
figures: emulator preload tools demo-bin
	$(Q)O=$(O) FULL=$(FULL) ONLY=$(ONLY) bash demo/figures/run.sh
