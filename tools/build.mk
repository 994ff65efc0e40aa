# SPDX-License-Identifier: GPL-2.0-or-later
# elide, the command. It links no part of the engine.

TOOLS_SRC := $(wildcard tools/*.c)
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(OBJ)/%.o)
# __cxa_demangle is in libstdc++ and callable from C.
TOOLS_LIBS := -ldw -lelf -ljansson -l:libstdc++.so.6

tools: $(BINDIR)/elide $(LIBEXECDIR)/launch

$(OBJ)/tools/%.o: tools/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -D_GNU_SOURCE -c -o $@ $<

# Style and script of report --html.
PAGE_SRC := $(OBJ)/tools/assets.c
PAGE_OBJ := $(OBJ)/tools/assets.o

$(PAGE_SRC): tools/assets.sh tools/report.css tools/report.js
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh tools/assets.sh > $@.new && mv $@.new $@

$(PAGE_OBJ): $(PAGE_SRC)
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(BINDIR)/elide: $(TOOLS_OBJ) $(PAGE_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(TOOLS_LIBS)

# Static: it is started with the library in LD_PRELOAD and must not be elided itself.
$(LIBEXECDIR)/launch: tools/launch/launch.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARN) -static -o $@ $<
