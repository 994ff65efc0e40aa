# SPDX-License-Identifier: GPL-2.0-or-later
# libelide: one set of position-independent objects serves the archive, the
# shared library and the preloaded library.

LIB_SRC := $(wildcard lib/*/*.c)
LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
ENGINE_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector -fdata-sections

# The unwinder is linked in, and only for ourselves.
OWN_UNWINDER := -static-libgcc -Wl,--exclude-libs,ALL

# A new number of the interface makes programs link again.
SONAME := libelide.so.0

lib: $(LIBDIR)/libelide.a $(LIBDIR)/libelide.so

$(OBJ)/lib/%.o: lib/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -c -o $@ $<

$(LIBDIR)/libelide.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)ar rcs $@ $^

# Only the linker needs the name without a number.
$(LIBDIR)/libelide.so: $(LIBDIR)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(LIBDIR)/$(SONAME): $(LIB_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,-z,now $(OWN_UNWINDER) -o $@ $^
