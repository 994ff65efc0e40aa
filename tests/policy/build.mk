# SPDX-License-Identifier: GPL-2.0-or-later
# The regret suite: loads over pthread's locks and over those of the peers that are installed.

POLICY_DIR := $(O)/tests/policy
POLICY_BIN := $(POLICY_DIR)/load $(POLICY_DIR)/load-none $(POLICY_DIR)/hot \
	      $(POLICY_DIR)/plugin $(POLICY_DIR)/plugin-lib.so
ifneq ($(wildcard /usr/include/tbb/spin_rw_mutex.h),)
POLICY_BIN += $(POLICY_DIR)/load-tbb
endif
ifneq ($(wildcard /usr/include/ck_elide.h),)
POLICY_BIN += $(POLICY_DIR)/load-ck
endif

.PHONY: policy-tests bench-policy
policy-tests: $(POLICY_BIN)

# Like programs of a distribution: no sanitizer, bound at start.
POLICY_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN)
POLICY_LDFLAGS := -pthread -Wl,-z,relro,-z,now
POLICY_H := $(wildcard tests/policy/*.h tests/policy/*.def)

# A peer's locks have no condition variables, no types and no time.
LOADS := tests/policy/load.c tests/policy/sections.c $(wildcard tests/policy/load-*.c)
PEER_LOADS := $(filter-out %/load-queue.c %/load-kinds.c,$(LOADS))

$(POLICY_DIR)/load: $(LOADS) $(POLICY_H)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -o $@ $(filter %.c,$^) $(POLICY_LDFLAGS)

$(POLICY_DIR)/load-none: $(PEER_LOADS) $(POLICY_H)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -DLOCKS_OF=3 -o $@ $(filter %.c,$^) $(POLICY_LDFLAGS)

$(POLICY_DIR)/hot: tests/policy/hot.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -o $@ $< $(POLICY_LDFLAGS)

$(POLICY_DIR)/plugin: tests/policy/plugin.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -o $@ $< $(POLICY_LDFLAGS)

$(POLICY_DIR)/plugin-lib.so: tests/policy/plugin-lib.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -shared -fPIC -o $@ $< $(POLICY_LDFLAGS)

$(POLICY_DIR)/load-ck: $(PEER_LOADS) tests/policy/lock-ck.c $(POLICY_H)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -DLOCKS_OF=2 -DCK_MD_RTM_ENABLE -o $@ $(filter %.c,$^) \
		$(POLICY_LDFLAGS) -lck

# Without -mrtm its headers make the speculative mutexes plain ones.
$(POLICY_DIR)/lock-tbb.o: tests/policy/lock-tbb.cc $(POLICY_H)
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -mrtm $(CFLAGS) -Wall -Wextra -Werror -c -o $@ $<

$(POLICY_DIR)/tbb/%.o: tests/policy/%.c $(POLICY_H)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -DLOCKS_OF=1 -c -o $@ $<

$(POLICY_DIR)/load-tbb: $(PEER_LOADS:tests/policy/%.c=$(POLICY_DIR)/tbb/%.o) $(POLICY_DIR)/lock-tbb.o
	$(call say,LD,$@)
	$(Q)$(CXX) $(CFLAGS) -o $@ $^ $(POLICY_LDFLAGS) -ltbb

# About half an hour on two idle cores; FULL=1: hours. tests/policy/run.sh says what selects.
bench-policy: lib preload tools emulator demo-bin policy-tests
	$(Q)O=$(O) bash tests/policy/run.sh

# What short processes gain from the file of what was learnt; figures, not a test.
.PHONY: bench-learned
bench-learned: lib preload tools emulator policy-tests
	$(Q)O=$(O) bash tests/policy/learned-gain.sh

# The library with RTM instructions that are nothing: what it costs itself, natively.
NOP := $(POLICY_DIR)/libelide-nop.so
NOP_OBJ := $(patsubst %.c,$(POLICY_DIR)/nop/%.o,$(wildcard lib/*/*.c preload/*.c))

$(POLICY_DIR)/nop/%.o: %.c tests/policy/nop.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -Ilib -include tests/policy/nop.h -c -o $@ $<

$(NOP): $(NOP_OBJ) $(OBJ)/preload/versions.map
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-z,now \
		-Wl,--version-script=$(OBJ)/preload/versions.map $(OWN_UNWINDER) -o $@ $(NOP_OBJ)

# Entry and exit of a section natively; figures, not a test.
.PHONY: bench-entry
$(POLICY_DIR)/entry: tests/policy/entry.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(POLICY_CFLAGS) -o $@ $< $(POLICY_LDFLAGS)

bench-entry: tools $(NOP) $(POLICY_DIR)/entry
	$(Q)O=$(O) sh tests/policy/entry.sh
-include $(NOP_OBJ:.o=.d)
