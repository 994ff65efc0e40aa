# SPDX-License-Identifier: GPL-2.0-or-later
# make help says what there is. Products go to $(O), laid out as installed.

O       ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
# Where distributions want what: lib/x86_64-linux-gnu, vendor-completions.
libdir  ?= $(PREFIX)/lib
zshdir  ?= $(PREFIX)/share/zsh/site-functions
# Of the release, and of the commit that is built: tools/version.sh.
VERSION := $(shell sh tools/version.sh --release)
COMMIT_VERSION := $(shell sh tools/version.sh)

# Everything in the tree is gnu11 and free of warnings with gcc and clang.
WERROR  ?= -Werror
WARN    := -Wall -Wextra $(WERROR) -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter \
	   -Wno-missing-field-initializers
CFLAGS  ?= -O2 -g
ifneq ($(SAN),)
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
endif
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CPPFLAGS) $(CFLAGS) $(WARN) $(SANFLAGS) -MMD -MP \
	     -DELIDE_VERSION='"$(COMMIT_VERSION)"'

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

# What prints the version is compiled again where that is another one.
$(OBJ)/version: version-is-known
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(COMMIT_VERSION)' | cmp -s - $@ || echo '$(COMMIT_VERSION)' > $@
$(OBJ)/tools/cmd/elide.o $(OBJ)/tools/rtmgrind/main.o: $(OBJ)/version
.PHONY: version-is-known

# What lies in $(O) for the build alone stays there: obj/, tests/. The links to
# valgrind's files are copied as links.
ROOT    := $(DESTDIR)$(PREFIX)
TO_LIB  := $(DESTDIR)$(libdir)
install: all
	$(call say,INSTALL,$(ROOT))
	$(Q)install -d $(ROOT)/bin $(TO_LIB)/pkgconfig $(ROOT)/libexec/elide $(ROOT)/include \
		$(DESTDIR)$(zshdir) $(ROOT)/share/bash-completion/completions
	$(Q)install -m 755 $(BINDIR)/* $(ROOT)/bin
	$(Q)cp -dR --no-preserve=ownership $(LIBDIR)/. $(TO_LIB)
	$(Q)cp -dR --no-preserve=ownership $(LIBEXECDIR)/. $(ROOT)/libexec/elide
	$(Q)install -m 644 lib/elide.h $(ROOT)/include
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
		-e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(libdir))|' \
		lib/elide.pc.in > $(TO_LIB)/pkgconfig/elide.pc
	$(Q)for page in $(MANDIR)/*; do \
		install -D -m 644 "$$page" "$(ROOT)/share/man/man$${page##*.}/$${page##*/}" || exit 1; \
	done
	$(Q)install -m 644 $(COMPLETION)/elide.bash $(ROOT)/share/bash-completion/completions/elide
	$(Q)install -m 644 $(COMPLETION)/elide.zsh $(DESTDIR)$(zshdir)/_elide
	$(Q)install -m 644 demo/sweep/completion.bash $(ROOT)/share/bash-completion/completions/bench_sweep
	$(Q)install -m 644 demo/sweep/completion.zsh $(DESTDIR)$(zshdir)/_bench_sweep
	$(Q)install -D -m 644 -t $(ROOT)/share/doc/elide/examples tools/systemd/*

# The source archive has the files of the commit, and nothing of the time or the machine.
DIST := $(O)/dist/elide-$(VERSION).tar.xz
dist:
	$(call say,DIST,$(DIST))
	$(Q)sh tools/dist.sh $(DIST)

# The packages, into $(O)/deb.
deb:
	$(Q)O=$(O) sh tools/deb.sh

# The packages, built and tried in clean roots of these releases. Needs root.
RELEASES ?= bookworm trixie
check-deb:
	$(Q)O=$(O) bash tests/deb/packages.sh $(RELEASES)
.PHONY: dist deb check-deb

clean:
	$(Q)rm -rf $(O)

help:
	@echo 'make            build everything into $(O) (O=dir to change)'
	@echo 'make demo       install what is missing, build, elide two real programs, print the reports'
	@echo 'make check      install what is missing, build, run the tests, JOBS= of them at a time'
	@echo 'make check ONLY="tests/reuse/* words"  the tests with one of these patterns in their path'
	@echo 'make check-quick  those that find most faults, in three minutes'
	@echo 'make check-long the long torture runs'
	@echo 'make check-debian RELEASE=bookworm|trixie  build and make check in a new root of that release; as root'
	@echo 'make fuzz       libFuzzer on the readers of hostile input, FUZZ_SECONDS=60 each; needs clang'
	@echo 'make bench      overhead, plain against ours, in turn; BENCH=pairs: what a lock costs on this processor,'
	@echo '                rows by PAIRS="kind=mutex,spin n=1000 classes=1,30 mode=profile seconds=2"; without it all rows, some minutes'
	@echo 'make bench-policy  the adaptive policy beside the best choice for each workload; FULL=1: hours'
	@echo 'make bench-entry   what its decision costs a section on this processor'
	@echo 'make bench-learned what short processes gain from the file of what was learnt'
	@echo 'make fidelity   the simulated machine beside published figures: tests/fidelity/FIDELITY.md'
	@echo 'make figures    the figures of a paper on simulated machines: demo/RESULTS.md; FULL=1: its sizes'
	@echo 'make figures-trees  those of a thesis on trees and their latches: demo/TREES.md'
	@echo 'make figures-oltp   those of a paper on a storage manager: demo/OLTP.md'
	@echo 'make figures-pages  those of a paper on a B-tree in a buffer pool: demo/PAGES.md'
	@echo 'make install    PREFIX=/usr/local DESTDIR= libdir= zshdir='
	@echo 'make deb        Debian packages, in $(O)/deb; make dist: the source archive, in $(O)/dist'
	@echo 'make check-deb  packages built twice, installed, upgraded and purged in clean roots; as root'
	@echo 'variables       CC=gcc|clang V=1 O=dir SAN=address|thread|undefined ELIDE_DEPS=skip'

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
