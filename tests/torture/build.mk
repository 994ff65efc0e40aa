# SPDX-License-Identifier: GPL-2.0-or-later
# The torture tests: one program for all scenarios, one that is killed, and the
# library with delays at the points of lib/points.def.

TORTURE_DIR := $(O)/tests/torture
TORTURE_SRC := $(filter-out %/points.c %/crash.c %/slow.c %/slow-events.c %/lib-slow.c,$(wildcard tests/torture/*.c))
TORTURE_OBJ := $(TORTURE_SRC:%.c=$(OBJ)/%.o)

SLOW_BROKEN_SUBJECTS := interruptible late
SLOW_BROKEN := $(SLOW_BROKEN_SUBJECTS:%=$(TORTURE_DIR)/slow-%.so)

.PHONY: torture-tests
torture-tests: semantics-tests $(TORTURE_DIR)/torture $(TORTURE_DIR)/crash $(TORTURE_DIR)/points.so \
		$(TORTURE_DIR)/slow $(TORTURE_DIR)/lib-slow.so $(SLOW_BROKEN) \
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

# It brings along the events that points.so inflicts.
$(TORTURE_DIR)/slow: $(OBJ)/tests/torture/slow.o $(OBJ)/tests/torture/slow-events.o \
		$(OBJ)/tests/torture/locks.o $(OBJ)/tests/torture/exclusion.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -Wl,--export-dynamic-symbol=torture_event -o $@ $^ -pthread -ldl

$(TORTURE_DIR)/lib-slow.so: tests/torture/lib-slow.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

# What has points once more, with them, and what is to happen there.
POINTS_SRC := $(patsubst lib/%.c,%,$(shell grep -l test_point lib/*/*.c))
POINTS_OBJ := $(POINTS_SRC:%=$(OBJ)/tests/torture/lib/%.o)
# And the wrappers, which have the shortest ways inlined.
POINTS_WRAPPERS := $(PRELOAD_SRC:preload/%.c=%)
POINTS_OBJ += $(POINTS_WRAPPERS:%=$(OBJ)/tests/torture/preload-%.o)

$(OBJ)/tests/torture/preload-%.o: preload/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -Ilib -c -o $@ $<

$(OBJ)/tests/torture/lib/%.o: lib/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -c -o $@ $<

$(OBJ)/tests/torture/points.o: tests/torture/points.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -Ilib -c -o $@ $<

POINTS_LINK = $(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now \
	-Wl,--version-script=$(OBJ)/preload/versions.map $(OWN_UNWINDER) \
	$(filter-out $(POINTS_WRAPPERS:%=$(OBJ)/preload/%.o),$(PRELOAD_OBJ)) \
	$(filter-out $(POINTS_SRC:%=$(OBJ)/lib/%.o),$(LIB_OBJ)) $(OBJ)/tests/torture/points.o

$(TORTURE_DIR)/points.so: $(POINTS_OBJ) $(OBJ)/tests/torture/points.o $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(POINTS_LINK) -o $@ $(POINTS_OBJ)

# The known-broken subjects: points.so with global-lock paths that signals interrupt, and with global-lock
# paths that admit signals before they have released the engine's lock. run.sh must catch both.
broken_interruptible := s/uint64_t blocked = ~FAULTS;/uint64_t blocked = 0;/
broken_late := /^static bool run_locked/,/^}/{/elide_pi_unlock/d;s/slow_end(slow);/sys_sigmask(\&slow->signals, NULL); elide_pi_unlock(\&wiped->lock, slow->tid); elide_busy = false; errno = slow->saved_errno;/}

$(TORTURE_DIR)/slow-%.so: lib/state/gate.c $(TORTURE_DIR)/points.so
	$(call say,LD,$@)
	$(Q)sed '$(broken_$*)' $< > $(TORTURE_DIR)/slow-$*.c && ! cmp -s $< $(TORTURE_DIR)/slow-$*.c
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -Ilib/state -c \
		-o $(OBJ)/tests/torture/slow-$*.o $(TORTURE_DIR)/slow-$*.c
	$(Q)$(POINTS_LINK) -o $@ $(filter-out %/lib/state/gate.o,$(POINTS_OBJ)) $(OBJ)/tests/torture/slow-$*.o
