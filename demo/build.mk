# SPDX-License-Identifier: GPL-2.0-or-later
# index_bench: a plain pthread program; it contains and links no part of elide.

DEMO_SRC := $(wildcard demo/*.c)
DEMO_OBJ := $(DEMO_SRC:%.c=$(OBJ)/%.o)

demo-bin: $(BINDIR)/index_bench

$(OBJ)/demo/%.o: demo/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BINDIR)/index_bench: $(DEMO_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm
