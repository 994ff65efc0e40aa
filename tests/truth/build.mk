# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that time themselves.

TRUTH_DIR := $(O)/tests/truth

.PHONY: truth-tests
truth-tests: $(addprefix $(TRUTH_DIR)/,account answer hold wait end order names members)

# A call site is in the function that the source says.
$(TRUTH_DIR)/%: tests/truth/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) $(OBJ)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-optimize-sibling-calls -MF $(OBJ)/tests-truth-$*.d -o $@ $< -pthread

$(TRUTH_DIR)/%: tests/truth/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror $(SANFLAGS) -o $@ $< -pthread
