# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that tests/preload/run.sh runs with and without the library. They
# are plain pthread programs; only symbols and sums read the data file.

PRELOAD_TEST_DIR := $(O)/tests/preload
PRELOAD_TEST_BIN := $(patsubst tests/preload/%.c,$(PRELOAD_TEST_DIR)/%,$(filter-out tests/preload/lib%,\
	$(wildcard tests/preload/*.c)))

.PHONY: preload-tests
preload-tests: $(PRELOAD) $(PRELOAD_TEST_BIN)

# The programs are other people's: only the library has the sanitizer in it.
$(PRELOAD_TEST_BIN): private SANFLAGS :=

# With frame pointers and without tail calls: call sites differ by their return addresses.
$(PRELOAD_TEST_DIR)/%: tests/preload/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $(OBJ)/tests-preload-$*.d -o $@ $< -pthread -ldl -Wl,-z,now

SYMBOLS_SRC := $(wildcard tests/preload/symbols/*.c)

# Also bound function by function at the first call.
$(PRELOAD_TEST_DIR)/symbols: private BOUND := -Wl,-z,now
$(PRELOAD_TEST_DIR)/symbols-lazy: private BOUND := -Wl,-z,lazy
$(PRELOAD_TEST_DIR)/symbols $(PRELOAD_TEST_DIR)/symbols-lazy: private SANFLAGS :=
$(PRELOAD_TEST_DIR)/symbols $(PRELOAD_TEST_DIR)/symbols-lazy: $(SYMBOLS_SRC) \
		$(wildcard tests/preload/symbols/*.h tests/preload/*.h preload/*.def preload/*/*.def lib/*.h lib/*.def)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -o $@ $(SYMBOLS_SRC) -pthread -ldl $(BOUND) \
		-Wl,--no-as-needed -lglib-2.0 -lgomp

preload-tests: $(PRELOAD_TEST_DIR)/symbols $(PRELOAD_TEST_DIR)/symbols-lazy

STACK_SRC := $(wildcard tests/preload/stack/*.c) $(filter-out %/main.c,$(SYMBOLS_SRC))

$(PRELOAD_TEST_DIR)/stack: private SANFLAGS :=
$(PRELOAD_TEST_DIR)/stack: $(STACK_SRC) $(wildcard tests/preload/stack/*.h tests/preload/symbols/*.h preload/*.def \
		preload/*/*.def)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -fno-builtin -o $@ $(STACK_SRC) -pthread -ldl -Wl,-z,now \
		-Wl,--no-as-needed -lglib-2.0 -lgomp

preload-tests: $(PRELOAD_TEST_DIR)/stack

$(PRELOAD_TEST_DIR)/lib%.so: tests/preload/lib%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

preload-tests: $(PRELOAD_TEST_DIR)/lib-hidden.so $(PRELOAD_TEST_DIR)/lib-early.so \
	$(PRELOAD_TEST_DIR)/lib-atfork.so $(PRELOAD_TEST_DIR)/lib-late.so

PLUGINS := alpha beta gamma delta
PLUGIN_LIBS := $(PLUGINS:%=$(PRELOAD_TEST_DIR)/lib-plugin-%.so)

preload-tests: $(PLUGIN_LIBS)

$(PLUGIN_LIBS): $(PRELOAD_TEST_DIR)/lib-plugin-%.so: tests/preload/lib-plugin.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -DPLUGIN=$* -fPIC -shared -Wl,-soname,lib-plugin-$*.so -o $@ $<

GMUTEX_RULES := 1 2 3 4
GMUTEX_LIBS  := $(GMUTEX_RULES:%=$(PRELOAD_TEST_DIR)/lib-gmutex-%.so)

preload-tests: $(GMUTEX_LIBS)

$(GMUTEX_LIBS): $(PRELOAD_TEST_DIR)/lib-gmutex-%.so: tests/preload/lib-gmutex.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -DRULE=$* -fPIC -shared -o $@ $<

# The known-broken subjects: the library with one thing taken out wherever it stands. The
# counter test must find each of them, or it would find nothing.
BROKEN_SUBJECTS := ignores-holder commits-changed
broken_ignores-holder   := / void subscribe(/,/t->open/{s/if (!is_free(\(.*\)))$$/is_free(\1);/;/rtm_abort/d}
broken_of_ignores-holder := lib/section/section.h
broken_commits-changed  := /if (read_word(word, .*) != .*value)/,/rtm_abort/d
broken_of_commits-changed := lib/section/fast-path.h lib/section/release.c
# What holds the code of a section, its own or inlined.
BROKEN_SRC := lib/section/acquire.c lib/section/release.c $(PRELOAD_SRC)
PRELOAD_BROKEN := $(BROKEN_SUBJECTS:%=$(PRELOAD_TEST_DIR)/%.so)

preload-tests: $(PRELOAD_BROKEN)

$(PRELOAD_TEST_DIR)/%.so: $(PRELOAD)
	$(call say,LD,$@)
	$(Q)rm -rf $(PRELOAD_TEST_DIR)/$*.src && mkdir -p $(PRELOAD_TEST_DIR)/$*.src
	$(Q)cp -R lib preload $(PRELOAD_TEST_DIR)/$*.src
	$(Q)for file in $(broken_of_$*); do \
		sed '$(broken_$*)' $$file > $(PRELOAD_TEST_DIR)/$*.src/$$file || exit 1; \
		! cmp -s $$file $(PRELOAD_TEST_DIR)/$*.src/$$file || exit 1; \
	done
	$(Q)for file in $(BROKEN_SRC); do \
		$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(ENGINE_CFLAGS) \
			-I$(PRELOAD_TEST_DIR)/$*.src/lib -c -o $(PRELOAD_TEST_DIR)/$*.src/$$file.o \
			$(PRELOAD_TEST_DIR)/$*.src/$$file || exit 1; \
	done
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now -Wl,--version-script=$(OBJ)/preload/versions.map \
		$(OWN_UNWINDER) -o $@ $(BROKEN_SRC:%=$(PRELOAD_TEST_DIR)/$*.src/%.o) \
		$(filter-out $(BROKEN_SRC:%.c=$(OBJ)/%.o),$(LIB_OBJ))
