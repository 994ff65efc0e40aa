# SPDX-License-Identifier: GPL-2.0-or-later
# make help says what there is. Products go to $(O), laid out as installed.

O       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
VERSION := 0.1.0

# Everything in the tree is gnu11 and free of warnings with gcc and clang.
WARN    := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter
CFLAGS  ?= -O2 -g
ifneq ($(SAN),)
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
endif
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(SANFLAGS) -MMD -MP -DELIDE_VERSION='"$(VERSION)"'

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' $(1) $(patsubst $(O)/%,%,$(2))
MAKEFLAGS += --no-print-directory
endif

LIBDIR     := $(O)/lib
BINDIR     := $(O)/bin
LIBEXECDIR := $(O)/libexec/elide
OBJ        := $(O)/obj

.PHONY: all lib preload tools emulator demo-bin deps check check-long demo bench install clean help
all: lib preload tools emulator demo-bin

include $(wildcard */build.mk) $(wildcard preload/heap/build.mk tools/rtmgrind/build.mk tests/*/build.mk)

deps:
	$(Q)tools/deps.sh

# What lies in $(O) for the build alone stays there: obj/, tests/. The links to
# valgrind's files are copied as links.
ROOT := $(DESTDIR)$(PREFIX)
install: all
	$(call say,INSTALL,$(ROOT))
	$(Q)install -d $(ROOT)/bin $(ROOT)/lib/pkgconfig $(ROOT)/libexec/elide $(ROOT)/include
	$(Q)install -m 755 $(BINDIR)/* $(ROOT)/bin
	$(Q)cp -dR --no-preserve=ownership $(LIBDIR)/. $(ROOT)/lib
	$(Q)cp -dR --no-preserve=ownership $(LIBEXECDIR)/. $(ROOT)/libexec/elide
	$(Q)install -m 644 lib/elide.h $(ROOT)/include
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' lib/elide.pc.in \
		> $(ROOT)/lib/pkgconfig/elide.pc
	$(Q)for page in $(MANDIR)/*; do \
		install -D -m 644 "$$page" "$(ROOT)/share/man/man$${page##*.}/$${page##*/}" || exit 1; \
	done

clean:
	$(Q)rm -rf $(O)

help:
	@echo 'make            build everything into $(O) (O=dir to change)'
	@echo 'make demo       install what is missing, build, elide two real programs, print the reports'
	@echo 'make check      install what is missing, build, run the tests, JOBS= of them at a time'
	@echo 'make check-long the long torture runs'
	@echo 'make fuzz       libFuzzer on the readers of hostile input, FUZZ_SECONDS=60 each; needs clang'
	@echo 'make bench      overhead, plain against ours, interleaved, medians'
	@echo 'make bench-policy  the adaptive policy beside the best choice for each workload; FULL=1: hours'
	@echo 'make bench-entry   what its decision costs a section on this processor'
	@echo 'make bench-learned what short processes gain from the file of what was learnt'
	@echo 'make fidelity   the simulated machine beside published figures: tests/fidelity/FIDELITY.md'
	@echo 'make figures    the figures of a paper on simulated machines: demo/RESULTS.md; FULL=1: its sizes'
	@echo 'make figures-trees  those of a thesis on trees and their latches: demo/TREES.md'
	@echo 'make figures-oltp   those of a paper on a storage manager: demo/OLTP.md'
	@echo 'make figures-pages  those of a paper on a B-tree in a buffer pool: demo/PAGES.md'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'variables       CC=gcc|clang V=1 O=dir SAN=address|thread|undefined ELIDE_DEPS=skip'

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
