# SPDX-License-Identifier: GPL-2.0-or-later
# elide, the command. It links no part of the engine.

TOOLS_SRC := $(wildcard tools/*.c)
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(OBJ)/%.o)
# __cxa_demangle is in libstdc++ and callable from C.
TOOLS_LIBS := -ldw -lelf -ljansson -l:libstdc++.so.6 -lncursesw -ltinfo -lm

tools: $(BINDIR)/elide $(LIBEXECDIR)/launch

$(OBJ)/tools/%.o: tools/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -D_GNU_SOURCE -c -o $@ $<

$(BINDIR)/elide: $(TOOLS_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(TOOLS_LIBS)

# Static: it is started with the library in LD_PRELOAD and must not be elided itself.
$(LIBEXECDIR)/launch: tools/launch/launch.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARN) -static -o $@ $<
