# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of the semantics matrix that are not those of tests/preload, and
# the wrappers broken on purpose that the matrix must find.

SEMANTICS_DIR := $(O)/tests/semantics

.PHONY: semantics-tests
semantics-tests: $(PRELOAD) preload-tests emulated-tests $(SEMANTICS_DIR)/cases $(SEMANTICS_DIR)/futexes \
	$(SEMANTICS_DIR)/limits $(SEMANTICS_DIR)/misuse $(SEMANTICS_DIR)/nested \
	$(SEMANTICS_DIR)/order $(SEMANTICS_DIR)/parked $(SEMANTICS_DIR)/waits $(SEMANTICS_DIR)/word $(SEMANTICS_DIR)/lib-malloc.so

# Without optimisation of calls into jumps: a tail call has no line of its own.
$(SEMANTICS_DIR)/%: tests/semantics/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -fno-optimize-sibling-calls -MF $(OBJ)/tests-semantics-$*.d -o $@ $< \
		-pthread -ldl -Wl,-z,now

$(SEMANTICS_DIR)/lib%.so: tests/semantics/lib%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

# One fault in the wrappers of each kind of lock, in this order: file, what is changed.
BROKEN_WRAPPERS := mutex rwlock spin cond c11 sem barrier futex
broken_mutex  := s/return try ? EBUSY : EDEADLK/return EBUSY/
broken_rwlock := s/: &glibc_write_rule/: \&glibc_read_rule/
broken_spin   := /if (elide_find_held(t, word))/{n;s/return EBUSY/return 0/}
broken_cond   := s/wrap_wait(.*);//
broken_sem    := s/return real.sem_wait(s)/return real.sem_trywait(s)/
broken_barrier := s/b.waits &= !err/err = 0/
broken_futex   := s/return DEED_WAKE_TWO;/return DEED_WAIT;/;s/saved == ETIMEDOUT/!(saved = 0)/
broken_c11    := s/return thrd_busy/return thrd_error/
BROKEN_LIBS   := $(BROKEN_WRAPPERS:%=$(SEMANTICS_DIR)/broken-%.so)

semantics-tests: $(BROKEN_LIBS)

$(SEMANTICS_DIR)/broken-%.so: preload/%.c $(PRELOAD)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sed '$(broken_$*)' $< > $(SEMANTICS_DIR)/broken-$*.c
	$(Q)! cmp -s $< $(SEMANTICS_DIR)/broken-$*.c
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -Ilib -Ipreload -Wno-unused-function \
		-MF $(OBJ)/tests-semantics-broken-$*.d -c -o $(SEMANTICS_DIR)/broken-$*.o \
		$(SEMANTICS_DIR)/broken-$*.c
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -shared -Wl,-z,now \
		-Wl,--version-script=$(OBJ)/preload/versions.map -o $@ $(LIB_OBJ) \
		$(filter-out %/$*.o,$(PRELOAD_OBJ)) $(SEMANTICS_DIR)/broken-$*.o
