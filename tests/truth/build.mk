# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that time themselves.

TRUTH_DIR := $(O)/tests/truth

.PHONY: truth-tests
truth-tests: $(addprefix $(TRUTH_DIR)/,account answer hold wait end order names members glib openmp runtimes runtimes-rust)

# Sources of these libraries are read with their own warnings.
RUNTIMES := Qt5Core absl_synchronization tbb

$(TRUTH_DIR)/runtimes: tests/truth/runtimes.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -O2 -g -fPIC -fno-optimize-sibling-calls $(SANFLAGS) -o $@ $< \
		$$(pkg-config --cflags --libs $(RUNTIMES)) -pthread

$(TRUTH_DIR)/runtimes-rust: tests/truth/runtimes.rs
	$(call say,RUSTC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)MAKEFLAGS= rustc --crate-name runtimes --crate-type bin -O -g -o $@ $<

# A call site is in the function that the source says.
$(TRUTH_DIR)/%: tests/truth/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) $(OBJ)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-optimize-sibling-calls -MF $(OBJ)/tests-truth-$*.d -o $@ $< -pthread $(LIBS)

$(TRUTH_DIR)/glib: private LIBS := $$(pkg-config --cflags --libs glib-2.0)
# GCC's, as clang calls functions of libomp.
$(TRUTH_DIR)/openmp: private CC := gcc
$(TRUTH_DIR)/openmp: private LIBS := -fopenmp

$(TRUTH_DIR)/%: tests/truth/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror $(SANFLAGS) -o $@ $< -pthread
