# SPDX-License-Identifier: GPL-2.0-or-later
# index_bench, search_bench, latch_bench, tatp_bench and page_bench: ordinary pthread programs;
# they include and link no part of elide. bench_sweep, which runs them, has the statistics of elide compare.

DEMO_SRC := $(filter-out demo/micro/% demo/sweep/% demo/tatp/%,$(wildcard demo/*/*.c))
DEMO_OBJ := $(DEMO_SRC:%.c=$(OBJ)/%.o)
# All objects but main(), for the tests.
DEMO_PART_OBJ := $(filter-out $(OBJ)/demo/bench/index_bench.o,$(DEMO_OBJ))

# What tatp_bench and page_bench share with index_bench.
SHARED_SRC := $(wildcard demo/base/*.c demo/mem/*.c) demo/bench/threads.c

TATP_SRC := $(wildcard demo/tatp/*.c demo/tatp/*/*.c) $(SHARED_SRC)
TATP_OBJ := $(TATP_SRC:%.c=$(OBJ)/%.o)
TATP_PART_OBJ := $(filter-out $(OBJ)/demo/tatp/bench/tatp_bench.o,$(TATP_OBJ))
TATP_LIBS := -lz

# The buffer-managed B-tree without page_bench and its workloads, for the tests; and with them.
PAGES_PART_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard demo/pages/*.c) $(SHARED_SRC))
PAGES_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard demo/pages/bench/*.c)) $(PAGES_PART_OBJ)

# The latches of the storage manager, for the tests.
TATP_LATCH_OBJ := $(OBJ)/demo/tatp/latch/latch.o

demo-bin: $(BINDIR)/index_bench $(BINDIR)/search_bench $(BINDIR)/latch_bench $(BINDIR)/tatp_bench \
	  $(BINDIR)/page_bench $(BINDIR)/bench_sweep

# The trees with latches in their nodes, and their schemes, are compiled with -O3, as those
# of the thesis they come from. The others keep the level at which their figures were made.
DEMO_O2 := $(addprefix demo/,$(addsuffix /%,base mem latch index btree delta bench micro)) \
	   demo/sync/global.c demo/sync/variants.c
demo_cflags = $(if $(filter $(DEMO_O2),$1),$(ALL_CFLAGS),$(patsubst -O2,-O3,$(ALL_CFLAGS)))

$(OBJ)/demo/%.o: demo/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(call demo_cflags,$<) -c -o $@ $<

# Symbols are bound at program start, as in programs of distributions, so no critical
# section looks a symbol up.
$(BINDIR)/index_bench: $(DEMO_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

$(BINDIR)/tatp_bench: $(TATP_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -pthread -lm $(TATP_LIBS) -Wl,-z,relro,-z,now

$(BINDIR)/page_bench: $(PAGES_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -pthread -lm -Wl,-z,relro,-z,now

# The microbenchmarks. The loops around searches are compiled once for each level of search.def.
MICRO_BASE := $(addprefix $(OBJ)/demo/,micro/micro.o base/fields.o base/option.o)
MICRO_KERNELS := $(OBJ)/demo/micro/kernels-O2.o $(OBJ)/demo/micro/kernels-O3.o

$(OBJ)/demo/micro/kernels-%.o: demo/micro/kernels.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -O%,$(ALL_CFLAGS)) -$* -DKERNELS=kernels_$* -c -o $@ $<

$(BINDIR)/search_bench: $(OBJ)/demo/micro/search.o $(MICRO_KERNELS) $(MICRO_BASE)
$(BINDIR)/latch_bench: $(addprefix $(OBJ)/demo/,micro/latch.o base/topology.o bench/threads.o) $(MICRO_BASE)
$(BINDIR)/search_bench $(BINDIR)/latch_bench:
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -pthread -Wl,-z,relro,-z,now

# Of the tools it has the statistics alone, which need nothing else of them.
SWEEP_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard demo/sweep/*.c) tools/model/stats.c) \
	     $(addprefix $(OBJ)/demo/base/,fields.o option.o progress.o)

$(BINDIR)/bench_sweep: $(SWEEP_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lm -Wl,-z,relro,-z,now

# The packages are installed first, because the build needs them.
demo:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all
	$(Q)O=$(O) bash demo/run/demo.sh

# make figures takes minutes, make figures-trees, figures-oltp and figures-pages half an hour; with FULL=1,
# the published sizes, hours and days.
FIGURES := $(Q)O=$(O) FULL=$(FULL) ONLY=$(ONLY) bash demo/figures/run.sh
.PHONY: figures figures-trees figures-oltp figures-pages
figures: emulator preload tools demo-bin
	$(FIGURES) plan RESULTS.md
figures-trees: emulator preload tools demo-bin
	$(FIGURES) plan-trees TREES.md
figures-oltp: emulator preload tools demo-bin
	$(FIGURES) plan-oltp OLTP.md
figures-pages: emulator preload tools demo-bin
	$(FIGURES) plan-pages PAGES.md
