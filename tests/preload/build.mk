# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests/preload/run.sh runs with and without the library. They
# are plain pthread programs; only symbols.c and sums.c read the data file.

PRELOAD_TEST_DIR := $(O)/tests/preload
PRELOAD_TEST_BIN := $(patsubst tests/preload/%.c,$(PRELOAD_TEST_DIR)/%,$(filter-out tests/preload/lib%,\
	$(wildcard tests/preload/*.c)))

.PHONY: preload-tests
preload-tests: $(PRELOAD) $(PRELOAD_TEST_BIN)

# With frame pointers and without tricks: call sites are told apart by return addresses.
$(PRELOAD_TEST_DIR)/%: tests/preload/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $(OBJ)/tests-preload-$*.d -o $@ $< -pthread -ldl -Wl,-z,now
