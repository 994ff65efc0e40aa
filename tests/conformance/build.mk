# SPDX-License-Identifier: GPL-2.0-or-later
# The conformance program: tests/conformance/run.sh runs it in each mode.

CONFORM_SRC := $(wildcard tests/conformance/*.c)
CONFORM_OBJ := $(CONFORM_SRC:%.c=$(OBJ)/%.o)
CONFORM     := $(O)/tests/conformance/conform

.PHONY: conformance-tests
conformance-tests: $(CONFORM) semantics-tests preload-tests

# A sanitizer's runtime and Valgrind want the same addresses.
$(CONFORM_OBJ): private SANFLAGS :=
$(CONFORM_OBJ): $(OBJ)/%.o: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Bound at the start: in a transaction the dynamic linker would abort it.
$(CONFORM): $(CONFORM_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ -pthread -Wl,-z,now
