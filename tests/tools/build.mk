# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that the tests of the tools use.

SYNTH_OBJ := $(patsubst %,$(OBJ)/tests/tools/%.o,synth synth-full subject)
TOOLS_TEST_BIN := $(O)/tests/tools/mkdata $(O)/tests/tools/looper $(O)/tests/tools/page \
		  $(O)/tests/tools/sections $(O)/tests/tools/swapper $(O)/tests/tools/lambda $(O)/tests/tools/wrapped \
		  $(O)/tests/tools/named $(O)/tests/tools/waiters $(O)/tests/tools/hang $(O)/tests/tools/serial $(O)/tests/tools/drops \
		  $(O)/tests/tools/array $(O)/tests/tools/array-stripped \
		  $(O)/tests/tools/attached $(O)/tests/tools/kill-at

tools-tests: $(TOOLS_TEST_BIN)
.PHONY: tools-tests

$(OBJ)/tests/tools/%.o: tests/tools/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -D_GNU_SOURCE -g -c -o $@ $<

$(O)/tests/tools/mkdata: $(OBJ)/tests/tools/mkdata.o $(OBJ)/tests/tools/synth-large.o $(SYNTH_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^

$(O)/tests/tools/swapper: $(OBJ)/tests/tools/swapper.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/looper: $(OBJ)/tests/tools/looper.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/page: $(OBJ)/tests/tools/page.o $(filter-out %/elide.o,$(TOOLS_OBJ)) $(EMBEDDED_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ $(TOOLS_LIBS)

$(O)/tests/tools/sections: $(OBJ)/tests/tools/sections.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/attached: $(OBJ)/tests/tools/attached.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/kill-at: $(OBJ)/tests/tools/kill-at.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $^

$(O)/tests/tools/wrapped: $(OBJ)/tests/tools/wrapped.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/named: $(OBJ)/tests/tools/named.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/serial: $(OBJ)/tests/tools/serial.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/hang: $(OBJ)/tests/tools/hang.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/drops: $(OBJ)/tests/tools/drops.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/waiters: $(OBJ)/tests/tools/waiters.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/array: $(OBJ)/tests/tools/array.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -o $@ $^ -pthread

$(O)/tests/tools/array-stripped: $(O)/tests/tools/array
	$(call say,STRIP,$@)
	$(Q)strip -o $@ $<

# The test asks what the report says of inlined functions.
$(O)/tests/tools/lambda: tests/tools/lambda.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror -o $@ $< -pthread
