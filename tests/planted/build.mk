# SPDX-License-Identifier: GPL-2.0-or-later
# Programs with a planted problem, and their repaired twins: NAME and NAME-repaired.

PLANTED_SRC := $(filter-out tests/planted/planted.c,$(wildcard tests/planted/*.c tests/planted/*.cc))
PLANTED_BIN := $(addprefix $(O)/,$(basename $(PLANTED_SRC)))
PLANTED_OBJ := $(OBJ)/tests/planted/planted.o

planted-tests: $(PLANTED_BIN) $(PLANTED_BIN:=-repaired)
.PHONY: planted-tests

# A sanitizer's runtime and Valgrind want the same addresses.
$(PLANTED_OBJ): private SANFLAGS :=
$(PLANTED_OBJ): tests/planted/planted.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Symbols are bound at the start, but where that is the problem.
PLANTED_BIND := now
$(O)/tests/planted/lazy_binding: PLANTED_BIND := lazy
$(O)/tests/planted/lazy_binding $(O)/tests/planted/lazy_binding-repaired: CPPFLAGS := -fno-builtin

define planted_rules
$(O)/tests/planted/%$(1): private SANFLAGS :=
$(O)/tests/planted/%$(1): tests/planted/%.c $(PLANTED_OBJ)
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(CPPFLAGS) $(2) -o $$@ $$^ -pthread -Wl,-z,$$(PLANTED_BIND)

$(O)/tests/planted/%$(1): tests/planted/%.cc $(PLANTED_OBJ)
	$$(call say,CXX,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CXX) -std=c++17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -MMD -MP $(2) -o $$@ $$^ \
		-pthread -Wl,-z,$$(PLANTED_BIND)
endef
$(eval $(call planted_rules,-repaired,-DREPAIRED))
$(eval $(call planted_rules,,))

-include $(wildcard $(O)/tests/planted/*.d)
