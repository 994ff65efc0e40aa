# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of the kind users have, each built where its library is installed.

PROGRAMS := c11 cxx
ifneq ($(wildcard /usr/include/openssl/evp.h),)
PROGRAMS += crypto
endif
ifneq ($(shell pkg-config --exists glib-2.0 2>/dev/null && echo yes),)
PROGRAMS += gmutex
endif
PROGRAMS_BIN := $(PROGRAMS:%=$(O)/tests/programs/%)

program-tests: $(PROGRAMS_BIN)
.PHONY: program-tests

$(O)/tests/programs/crypto: LDLIBS := -lcrypto
$(O)/tests/programs/gmutex: CPPFLAGS = $(shell pkg-config --cflags glib-2.0)
$(O)/tests/programs/gmutex: LDLIBS = $(shell pkg-config --libs glib-2.0)

$(O)/tests/programs/%: tests/programs/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -o $@ $< -pthread $(LDLIBS)

$(O)/tests/programs/%: tests/programs/%.cc
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -g -Wall -Wextra -Werror -o $@ $< -pthread
