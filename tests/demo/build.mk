# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the demo programs, and the broken subject they must catch.

.PHONY: demo-tests
demo-tests: demo-bin $(O)/tests/demo/parts $(O)/tests/demo/serial-parts $(O)/tests/demo/broken-lock.so $(O)/tests/demo/linear $(O)/tests/demo/latches \
	    $(O)/tests/demo/serial $(O)/tests/demo/no-memory.so $(O)/tests/demo/page-reads

$(O)/tests/demo/broken-lock.so $(O)/tests/demo/no-memory.so: $(O)/tests/demo/%.so: tests/demo/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -o $@ $<

$(O)/tests/demo/linear: $(OBJ)/tests/demo/linear.o $(DEMO_PART_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

# The objects of linear and of serial, for tests that compile some of them with a fault.
$(O)/tests/demo/parts: demo/build.mk $(DEMO_PART_OBJ)
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' $(patsubst $(OBJ)/demo/%.o,%,$(DEMO_PART_OBJ)) >$@
$(O)/tests/demo/serial-parts: demo/build.mk $(TATP_PART_OBJ)
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' $(patsubst $(OBJ)/demo/%.o,%,$(TATP_PART_OBJ)) >$@

$(O)/tests/demo/latches: $(OBJ)/tests/demo/latches.o $(TATP_LATCH_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -Wl,-z,relro,-z,now

# Run by hand: random reads of pages beside bare pread().
$(O)/tests/demo/page-reads: $(OBJ)/tests/demo/page-reads.o $(PAGES_PART_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

# It records what transactions read and write.
comma := ,
SERIAL_WRAP := $(addprefix -Wl$(comma)--wrap=,btree_lookup btree_range btree_insert btree_delete \
	       heap_read heap_update heap_insert heap_delete xct_commit xct_rollback)
$(O)/tests/demo/serial: $(OBJ)/tests/demo/serial.o $(OBJ)/tests/demo/serial-record.o \
			$(TATP_PART_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread -lm $(TATP_LIBS) $(SERIAL_WRAP) \
		-Wl,-z,relro,-z,now

$(OBJ)/tests/demo/%.o: tests/demo/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<
