# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose locks have the addresses of others, and the libraries that count them wrongly.

REUSE_DIR := $(O)/tests/reuse

# The objects that are loaded at each other's addresses: name and kind, see lib-object.c.
REUSE_OBJECTS := alpha=1 beta=2 gamma=3 delta=4 epsilon=1 zeta=5 eta=1 theta=2 iota=4 kappa=1 lambda=3 my=2
REUSE_OBJECT_LIBS := $(foreach o,$(REUSE_OBJECTS),$(REUSE_DIR)/lib-object-$(firstword $(subst =, ,$(o))).so)

.PHONY: reuse-tests
reuse-tests: $(PRELOAD) preload-tests torture-tests $(REUSE_DIR)/reuse $(REUSE_DIR)/objects $(REUSE_OBJECT_LIBS) \
		$(REUSE_DIR)/lib-late.so

# The programs are other people's: only the library has the sanitizer in it.
$(REUSE_DIR)/reuse $(REUSE_DIR)/objects: private SANFLAGS :=

$(REUSE_DIR)/reuse: tests/reuse/reuse.c tests/reuse/calls.c tests/reuse/reuse.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $(filter %.c,$^) -pthread -Wl,-z,now

$(REUSE_DIR)/objects: tests/reuse/objects.c tests/reuse/object.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $< -pthread -ldl -Wl,-z,now

$(REUSE_DIR)/lib-late.so: tests/reuse/lib-late.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

define reuse_object_rule
$(REUSE_DIR)/lib-object-$(1).so: tests/reuse/lib-object.c tests/reuse/object.h
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) -std=gnu11 $$(CFLAGS) $$(WARN) -DOBJECT=$(1) -DKIND=$(2) -fPIC -shared -Wl,-soname,lib-object-$(1).so \
		-o $$@ $$<
endef
$(foreach o,$(REUSE_OBJECTS),$(eval $(call reuse_object_rule,$(firstword $(subst =, ,$(o))),$(lastword $(subst =, ,$(o))))))

# The planted faults: broken.c in front of what is told of the beginning and the end of locks.
REUSE_LINK = $(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now $(SMALL_TOGETHER) \
	-Wl,--version-script=$(OBJ)/preload/versions.map $(OWN_UNWINDER)

$(OBJ)/tests/reuse/broken.o: tests/reuse/broken.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -Ilib -c -o $@ $<

$(REUSE_DIR)/broken.so: $(OBJ)/tests/reuse/broken.o $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(REUSE_LINK) -Wl,--wrap=elide_lock_new_from,--wrap=elide_lock_gone -o $@ $(PRELOAD_OBJ) $(LIB_OBJ) $<

# And faults in the look-up itself, each a change of one file of the library.
REUSE_FAULTS := trusting unforgetting
reuse_file_trusting     := lib/state/call.c
reuse_trusting          := /^static bool is_call(/,/^}/s/ && call->mark.*;/;/
reuse_file_unforgetting := lib/state/registry.c
reuse_unforgetting      := /^void elide_registry_forget(/,/^}/s/^{/{ return;/
REUSE_BROKEN := $(REUSE_FAULTS:%=$(REUSE_DIR)/broken-%.so)

reuse-tests: $(REUSE_DIR)/broken.so $(REUSE_BROKEN)

$(REUSE_BROKEN): $(REUSE_DIR)/broken-%.so: $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed '$(reuse_$*)' $(reuse_file_$*) > $(REUSE_DIR)/broken-$*.c
	$(Q)! cmp -s $(reuse_file_$*) $(REUSE_DIR)/broken-$*.c
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(ENGINE_CFLAGS) -I$(dir $(reuse_file_$*)) -c \
		-o $(REUSE_DIR)/broken-$*.o $(REUSE_DIR)/broken-$*.c
	$(Q)$(REUSE_LINK) -o $@ $(PRELOAD_OBJ) $(filter-out $(OBJ)/$(reuse_file_$*:.c=.o),$(LIB_OBJ)) $(REUSE_DIR)/broken-$*.o

-include $(OBJ)/tests/reuse/broken.d
