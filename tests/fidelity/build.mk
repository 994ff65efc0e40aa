# SPDX-License-Identifier: GPL-2.0-or-later
# make fidelity: the simulated machine against published figures. The quick rows are tests, too.

FIDELITY_DIR  := $(O)/tests/fidelity
FIDELITY_LIB  := $(OBJ)/tests/fidelity/fidelity.o
FIDELITY_SRC  := $(filter-out tests/fidelity/fidelity.c,$(wildcard tests/fidelity/*.c))
FIDELITY_BIN  := $(FIDELITY_SRC:%.c=$(O)/%)

.PHONY: fidelity fidelity-tests
fidelity-tests: $(FIDELITY_BIN)

# A sanitizer's runtime and Valgrind want the same addresses.
$(FIDELITY_LIB) $(FIDELITY_BIN): private SANFLAGS :=

$(FIDELITY_LIB): tests/fidelity/fidelity.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(FIDELITY_BIN): $(O)/%: %.c $(FIDELITY_LIB)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< $(FIDELITY_LIB) -pthread -lm

fidelity: emulator fidelity-tests demo-bin
	$(Q)O=$(O) bash tests/fidelity/run.sh --record

-include $(wildcard $(FIDELITY_DIR)/*.d)
