# SPDX-License-Identifier: GPL-2.0-or-later
# The torture tests: one program for all scenarios, one that is killed, and the
# library with delays at the points of lib/points.def.

TORTURE_DIR := $(O)/tests/torture
TORTURE_SRC := $(filter-out %/points.c %/crash.c,$(wildcard tests/torture/*.c))
TORTURE_OBJ := $(TORTURE_SRC:%.c=$(OBJ)/%.o)

.PHONY: torture-tests
torture-tests: semantics-tests $(TORTURE_DIR)/torture $(TORTURE_DIR)/crash $(TORTURE_DIR)/points.so \
		$(O)/tests/preload/ignores-holder.so $(O)/tests/preload/sums

$(OBJ)/tests/torture/%.o: tests/torture/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(TORTURE_DIR)/torture: $(TORTURE_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -ldl

$(TORTURE_DIR)/crash: $(OBJ)/tests/torture/crash.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

# What has points once more, with them, and what is to happen there.
POINTS_SRC := elide thread
POINTS_OBJ := $(POINTS_SRC:%=$(OBJ)/tests/torture/lib-%.o)

$(OBJ)/tests/torture/lib-%.o: lib/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -c -o $@ $<

$(OBJ)/tests/torture/points.o: tests/torture/points.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -Ilib -c -o $@ $<

$(TORTURE_DIR)/points.so: $(POINTS_OBJ) $(OBJ)/tests/torture/points.o $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now \
		-Wl,--version-script=$(OBJ)/preload/versions.map \
		-o $@ $(PRELOAD_OBJ) $(filter-out $(POINTS_SRC:%=$(OBJ)/lib/%.o),$(LIB_OBJ)) $(filter %.o,$^)
