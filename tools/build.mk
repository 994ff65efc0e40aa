# SPDX-License-Identifier: GPL-2.0-or-later
# elide, the command. It links no part of the engine.

# A folder may include those after it, but print, live, run and counters not each other:
# tests/unit/layers.sh.
TOOLS_DIRS := cmd print print/view print/html print/export live run counters model model/answer model/file model/join names base
TOOLS_SRC := $(wildcard $(TOOLS_DIRS:%=tools/%/*.c))
TOOLS_HDR := $(wildcard $(TOOLS_DIRS:%=tools/%/*.h) tools/model/*.def tools/rtmgrind/*.def)
FRONT_OBJ := $(OBJ)/tools/cmd/front.o
TOOLS_OBJ := $(filter-out $(FRONT_OBJ),$(TOOLS_SRC:%.c=$(OBJ)/%.o))
TOOLS_LIBS := -ldw -lelf -liberty -ljansson -lncursesw -ltinfo -lz -lm

tools: $(BINDIR)/elide $(LIBEXECDIR)/elide $(LIBEXECDIR)/launch

$(OBJ)/tools/%.o: tools/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -D_GNU_SOURCE -I$(GENERATED) -c -o $@ $<

# The names of system calls, from the kernel's header.
GENERATED := $(OBJ)/generated
$(OBJ)/tools/names/syscalls.o: $(GENERATED)/syscalls.inc
$(GENERATED)/syscalls.inc:
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <asm/unistd_64.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$$/SYSCALL(\1, \2)/p' > $@.new
	$(Q)grep -q 'SYSCALL(write, 1)' $@.new && mv $@.new $@

# Style and script of report --html.
PAGE_SRC := $(OBJ)/tools/print/html/assets.c
PAGE_OBJ := $(PAGE_SRC:.c=.o)

$(PAGE_SRC): $(addprefix tools/print/html/,assets.sh report.css report.js)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh tools/print/html/assets.sh > $@.new && mv $@.new $@

# The functions of the shells for elide completion.
SHELLS_SRC := $(OBJ)/tools/cmd/shells.c
SHELLS := $(addprefix tools/cmd/completion/elide.,bash zsh)

$(SHELLS_SRC): $(SHELLS) tools/build.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for file in $(SHELLS); do \
		echo "const char completion_$${file##*.}[] ="; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$file; echo ';'; \
	done > $@.new && mv $@.new $@

EMBEDDED_OBJ := $(PAGE_OBJ) $(SHELLS_SRC:.c=.o)
$(EMBEDDED_OBJ): %.o: %.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(LIBEXECDIR)/elide: $(TOOLS_OBJ) $(EMBEDDED_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(TOOLS_LIBS)

# What `elide run` needs of the other files, the linker finds. Static: to load the C library would
# take a quarter of the time of an elide run that starts true. A sanitizer has to be loaded.
FRONT_LINK := $(if $(SANFLAGS),,-static)
$(OBJ)/tools/parts.a: $(filter-out $(OBJ)/tools/cmd/elide.o,$(TOOLS_OBJ))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BINDIR)/elide: $(FRONT_OBJ) $(OBJ)/tools/parts.a
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $(FRONT_LINK) -o $@ $^

# Completion as it is installed.
COMPLETION := $(O)/completion
tools: $(COMPLETION)/elide.bash $(COMPLETION)/elide.zsh

$(COMPLETION)/elide.%: $(LIBEXECDIR)/elide
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(LIBEXECDIR)/elide completion $* > $@.new && mv $@.new $@

# Static: it is started with the library in LD_PRELOAD and must not be elided itself.
$(LIBEXECDIR)/launch: tools/launch/launch.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) $(LDFLAGS) -static -o $@ $<
