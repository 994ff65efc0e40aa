# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that run under rtmgrind. They have RTM instructions as bytes, for any compiler.

EMULATED_EARLY := $(O)/tests/emulated/startup-early.so
EMULATED_SRC := $(filter-out %/startup-early.c %/forbidden.c,$(wildcard tests/emulated/*.c))
EMULATED_CXX := exceptions locks
# oneTBB is tested where its headers are installed.
ifneq ($(wildcard /usr/include/tbb/spin_mutex.h),)
EMULATED_CXX += tbb
endif
EMULATED_BIN := $(EMULATED_SRC:%.c=$(O)/%) $(EMULATED_CXX:%=$(O)/tests/emulated/%) \
		$(O)/tests/emulated/bare $(O)/tests/emulated/startup-static $(EMULATED_EARLY) \
		$(O)/tests/emulated/forbidden.so

emulated-tests: $(EMULATED_BIN)
.PHONY: emulated-tests

# A sanitizer's runtime and Valgrind need the same addresses.
$(EMULATED_SRC:%.c=$(O)/%): private SANFLAGS :=
$(EMULATED_SRC:%.c=$(O)/%): $(O)/%: %.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< -pthread

# Without a C library, and without its start files.
$(O)/tests/emulated/bare: tests/emulated/bare.S
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -nostdlib -static -o $@ $<

$(EMULATED_EARLY): tests/emulated/startup-early.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -shared -fPIC -o $@ $< -pthread

$(O)/tests/emulated/startup-static: tests/emulated/startup.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -static -o $@ $< -pthread

$(EMULATED_EARLY) $(O)/tests/emulated/startup-static: private SANFLAGS :=

# The library with points (tests/torture/build.mk), which stores there what it must not.
$(O)/tests/emulated/forbidden.so: tests/emulated/forbidden.c $(O)/tests/torture/points.so
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ENGINE_CFLAGS) -DELIDE_TEST_POINTS -Ilib -c -o $(OBJ)/tests/emulated-forbidden.o $<
	$(Q)$(filter-out %/points.o,$(POINTS_LINK)) -o $@ $(POINTS_OBJ) $(OBJ)/tests/emulated-forbidden.o

# Without -mrtm oneTBB's headers make the speculative mutex a plain one.
$(O)/tests/emulated/tbb: CXXFLAGS := -mrtm
$(O)/tests/emulated/tbb: LDLIBS := -ltbb
$(EMULATED_CXX:%=$(O)/tests/emulated/%): $(O)/tests/emulated/%: tests/emulated/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(CXXFLAGS) -O2 -g -Wall -Wextra -Werror -o $@ $< -pthread $(LDLIBS)

-include $(wildcard $(O)/tests/emulated/*.d)

# Emulators that are broken on purpose, where there is one: see break.sh.
ifeq ($(words $(wildcard $(RTMGRIND_LIBS))),3)
BROKEN := $(shell sh tests/emulated/break.sh --list | sed 's|\(.*\) \(.*\)\.c|$(O)/tests/emulated/broken/\2.\1|')
endif
check-programs: $(BROKEN)

$(BROKEN): tests/emulated/break.sh $(RTMGRIND_TOOL)
	$(call say,BREAK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh $< $(subst .,,$(suffix $@)) >$@.c
	$(Q)$(CC) $(filter-out -MMD -MP,$(RTMGRIND_CFLAGS)) -Wno-error -w -Itools/rtmgrind -c -o $@.o $@.c
	$(Q)$(CC) $(CFLAGS) -o $@ $(RTMGRIND_LDFLAGS) $@.o \
		$(filter-out %/$(basename $(@F)).o,$(RTMGRIND_OBJ)) $(RTMGRIND_LIBS)
