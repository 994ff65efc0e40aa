# SPDX-License-Identifier: GPL-2.0-or-later
# libelide-heap.so: where blocks of the heap were allocated; preloaded beside libelide-preload.so on demand.

HEAP_SRC := $(wildcard preload/heap/*.c)
HEAP_OBJ := $(HEAP_SRC:%.c=$(OBJ)/%.o) $(OBJ)/preload/find.o $(OBJ)/lib/evidence/frames.o $(OBJ)/lib/base/own-stack.o $(OBJ)/lib/base/syscalls.o $(OBJ)/lib/base/text.o
HEAP     := $(LIBDIR)/libelide-heap.so

preload: $(HEAP)

# The compiler must not assume that these functions are the standard ones.
$(HEAP_SRC:%.c=$(OBJ)/%.o): private ENGINE_CFLAGS += -fno-builtin-malloc

$(HEAP): $(HEAP_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -shared -Wl,-soname,libelide-heap.so -Wl,-z,now \
		$(OWN_UNWINDER) -o $@ $^
