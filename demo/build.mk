# SPDX-License-Identifier: GPL-2.0-or-later
# index_bench: a plain pthread program; it contains and links no part of elide.

DEMO_SRC := $(wildcard demo/*.c)
DEMO_OBJ := $(DEMO_SRC:%.c=$(OBJ)/%.o)
# All but main(), for the tests.
DEMO_PART_OBJ := $(filter-out $(OBJ)/demo/bench.o,$(DEMO_OBJ))

demo-bin: $(BINDIR)/index_bench

$(OBJ)/demo/%.o: demo/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Bound at start, as distributions build their programs: no symbol is looked
# up for the first time inside a critical section.
$(BINDIR)/index_bench: $(DEMO_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

# The packages come first, or what needs them would not build.
demo:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all
	$(Q)O=$(O) bash demo/demo.sh

# Minutes; FULL=1: the paper's number of keys, hours.
.PHONY: figures
figures: emulator preload tools demo-bin
	$(Q)O=$(O) FULL=$(FULL) ONLY=$(ONLY) bash demo/figures/run.sh
