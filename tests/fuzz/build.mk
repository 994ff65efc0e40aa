# SPDX-License-Identifier: GPL-2.0-or-later
# make fuzz: libFuzzer (clang) on every target, for FUZZ_SECONDS each. make
# check replays the corpus with the compiler at hand, tests/fuzz/replay.sh.

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := data tunables rules symbol learned
FUZZ_DIR     := $(O)/tests/fuzz

# What a target tests; the rest of what it needs it brings along.
fuzz_data_SRC      := $(filter-out tools/cmd/elide.c tools/cmd/front.c,$(TOOLS_SRC)) $(PAGE_SRC) $(SHELLS_SRC) \
		      tests/tools/synth.c tests/tools/synth-full.c tests/tools/subject.c
fuzz_data_LIBS     := $(TOOLS_LIBS)
fuzz_tunables_SRC  := lib/state/tunables.c lib/base/text.c
fuzz_rules_SRC     := lib/state/rules.c lib/base/text.c
fuzz_symbol_SRC    := lib/state/symbol.c lib/base/text.c lib/base/syscalls.c
fuzz_learned_SRC   := lib/state/learned.c

# A finding ends the run: it must not be one line among many.
FUZZ_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARN) -DELIDE_VERSION='"$(COMMIT_VERSION)"' \
	       -fno-omit-frame-pointer -fno-sanitize-recover=all -I$(OBJ)/generated

# The compiler's sanitizers, where their libraries are installed.
FUZZ_SAN = $(shell echo 'int main(void) { return 0; }' | $(CC) -fsanitize=address,undefined -x c \
	     -o /dev/null - 2>/dev/null && echo -fsanitize=address,undefined)

.PHONY: fuzz fuzz-tests
fuzz: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/fuzz-%)
	$(Q)O=$(O) FUZZ_SECONDS=$(FUZZ_SECONDS) sh tests/fuzz/fuzz.sh $(FUZZ_TARGETS)

fuzz-tests: $(FUZZ_TARGETS:%=$(FUZZ_DIR)/replay-%)

# The known-broken subject: the symbol look-up without its bounds.
fuzz-tests: $(FUZZ_DIR)/replay-broken

$(FUZZ_DIR)/replay-broken: tests/fuzz/main.c tests/fuzz/symbol.c lib/state/symbol.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed 's/if (offset > image->size || .*)$$/if (0)/' lib/state/symbol.c > $@.c
	$(Q)! cmp -s lib/state/symbol.c $@.c
	$(Q)$(CC) $(FUZZ_CFLAGS) $(FUZZ_SAN) -Ilib/state -o $@ tests/fuzz/main.c tests/fuzz/symbol.c lib/base/text.c lib/base/syscalls.c $@.c

define fuzz_target_rules
$(FUZZ_DIR)/fuzz-$(1): tests/fuzz/$(1).c $(fuzz_$(1)_SRC) $(wildcard lib/*.h lib/*/*.h lib/*.def) $(TOOLS_HDR) $(OBJ)/generated/syscalls.inc
	$$(call say,FUZZ,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)clang $$(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -o $$@ \
		tests/fuzz/$(1).c $(fuzz_$(1)_SRC) $(fuzz_$(1)_LIBS)

$(FUZZ_DIR)/replay-$(1): tests/fuzz/main.c tests/fuzz/$(1).c $(fuzz_$(1)_SRC) $(wildcard lib/*.h lib/*/*.h lib/*.def) $(TOOLS_HDR) $(OBJ)/generated/syscalls.inc
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(FUZZ_CFLAGS) $$(FUZZ_SAN) -o $$@ \
		tests/fuzz/main.c tests/fuzz/$(1).c $(fuzz_$(1)_SRC) $(fuzz_$(1)_LIBS)
endef
$(foreach target,$(FUZZ_TARGETS),$(eval $(call fuzz_target_rules,$(target))))
