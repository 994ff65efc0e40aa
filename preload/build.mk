# SPDX-License-Identifier: GPL-2.0-or-later
# libelide-preload.so: the wrappers and the whole engine, self-contained.

PRELOAD_SRC := $(wildcard preload/*.c preload/adapters/*.c)
PRELOAD_OBJ := $(PRELOAD_SRC:%.c=$(OBJ)/%.o)
PRELOAD     := $(LIBDIR)/libelide-preload.so

# Keep the small variables that a program's start touches together, not one beside each large table: the
# first touch of a page costs as much as a thousand instructions.
SMALL_TOGETHER := -Wl,--sort-section=alignment

preload: $(PRELOAD)

$(OBJ)/preload/%.o: preload/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -Ilib -c -o $@ $<

# A version node for every version in the lists of symbols. The functions behind the versioned names are not
# exported under their own names.
$(OBJ)/preload/versions.map: preload/symbols.def preload/adapters/symbols.def
	$(Q)mkdir -p $(@D)
	$(Q)grep -ohE '"(GLIBC|OMP)_[0-9.]*"' $^ | tr -d '"' | sort -uV | sed 's/$$/ { local: cond_*; nest_*; };/' > $@

$(PRELOAD): $(PRELOAD_OBJ) $(LIB_OBJ) $(OBJ)/preload/versions.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -shared -Wl,-soname,libelide-preload.so -Wl,-z,now $(SMALL_TOGETHER) \
		-Wl,--version-script=$(OBJ)/preload/versions.map $(OWN_UNWINDER) \
		-o $@ $(PRELOAD_OBJ) $(LIB_OBJ)
