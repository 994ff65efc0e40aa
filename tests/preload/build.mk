# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests/preload/run.sh runs with and without the library. They
# are plain pthread programs; only symbols.c and sums.c read the data file.

PRELOAD_TEST_DIR := $(O)/tests/preload
PRELOAD_TEST_BIN := $(patsubst tests/preload/%.c,$(PRELOAD_TEST_DIR)/%,$(filter-out tests/preload/lib%,\
	$(wildcard tests/preload/*.c)))

.PHONY: preload-tests
preload-tests: $(PRELOAD) $(PRELOAD_TEST_BIN)

# The programs are other people's: only the library has the sanitizer in it.
$(PRELOAD_TEST_BIN): private SANFLAGS :=

# With frame pointers and without tricks: call sites are told apart by return addresses.
$(PRELOAD_TEST_DIR)/%: tests/preload/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $(OBJ)/tests-preload-$*.d -o $@ $< -pthread -ldl -Wl,-z,now

$(PRELOAD_TEST_DIR)/lib%.so: tests/preload/lib%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

preload-tests: $(PRELOAD_TEST_DIR)/lib-hidden.so $(PRELOAD_TEST_DIR)/lib-early.so

# The known-broken subjects: the library with one line taken out. The counter
# test must find each of them, or it would find nothing.
BROKEN_SUBJECTS := ignores-holder commits-changed
broken_ignores-holder   := / void subscribe(/,/push_outermost/{s/if (!is_free(\(.*\)))$$/is_free(\1);/;/rtm_abort/d}
broken_of_ignores-holder := elide
broken_commits-changed  := /read_word(word, h->size) != h->value/,/rtm_abort/d
broken_of_commits-changed := release
PRELOAD_BROKEN := $(BROKEN_SUBJECTS:%=$(PRELOAD_TEST_DIR)/%.so)

preload-tests: $(PRELOAD_BROKEN)

$(PRELOAD_TEST_DIR)/%.so: lib/elide.c lib/release.c $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed '$(broken_$*)' lib/$(broken_of_$*).c > $(PRELOAD_TEST_DIR)/$*.c
	$(Q)! cmp -s lib/$(broken_of_$*).c $(PRELOAD_TEST_DIR)/$*.c
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -Ilib -MF $(OBJ)/tests-preload-$*.d -c \
		-o $(PRELOAD_TEST_DIR)/$*.o $(PRELOAD_TEST_DIR)/$*.c
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now -Wl,--version-script=$(OBJ)/preload/versions.map \
		$(OWN_UNWINDER) -o $@ $(PRELOAD_OBJ) $(filter-out %/$(broken_of_$*).o,$(LIB_OBJ)) $(PRELOAD_TEST_DIR)/$*.o
