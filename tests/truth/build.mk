# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that time themselves.

TRUTH_DIR := $(O)/tests/truth
TRUTH_BIN := $(TRUTH_DIR)/hold

.PHONY: truth-tests
truth-tests: preload tools $(TRUTH_BIN)

# The programs are other people's: only the library has the sanitizer in it.
$(TRUTH_BIN): private SANFLAGS :=

$(TRUTH_DIR)/%: tests/truth/%.c tests/truth/truth.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $< -pthread
