# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests: every tests/unit/test_*.c is a cmocka program of its own. It
# links the engine's archive unless NAME_LINK says what else, and NAME_LIBS
# besides. demo/ and lib/ have been included before, by their names.

comma := ,
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/unit/%)

test_btree_LINK    := $(DEMO_PART_OBJ)
test_delta_LINK    := $(DEMO_PART_OBJ)
test_csb_LINK      := $(DEMO_PART_OBJ)
test_bw_LINK       := $(DEMO_PART_OBJ)
test_index_LINK    := $(DEMO_PART_OBJ)
test_trees_LINK    := $(DEMO_PART_OBJ)
test_reclaim_LINK  := $(DEMO_PART_OBJ)
test_memory_LINK   := $(DEMO_PART_OBJ)
test_latch_LINK    := $(DEMO_PART_OBJ)
test_histogram_LINK := $(DEMO_PART_OBJ)
test_verify_LINK   := $(DEMO_PART_OBJ)
test_workload_LINK := $(DEMO_PART_OBJ)

$(foreach test,$(filter test_pages%,$(notdir $(UNIT_SRC:.c=))),\
	$(eval $(test)_LINK := $(PAGES_PART_OBJ)))
test_pages_shifts_LINK := $(OBJ)/demo/pages/bench/shifts.o

$(foreach test,$(filter test_tatp%,$(notdir $(UNIT_SRC:.c=))),\
	$(eval $(test)_LINK := $(TATP_PART_OBJ))$(eval $(test)_LIBS := $(TATP_LIBS)))
# It compiles these two with the points of speculative lock inheritance.
test_tatp_lock_LINK := $(filter-out $(OBJ)/demo/tatp/lock.o $(OBJ)/demo/tatp/sli.o,$(TATP_PART_OBJ))

# The calls of the system go through functions of the test, which let them fail.
test_pages_faults_LIBS := $(addprefix -Wl$(comma)--wrap=,open flock fstat pread pwrite \
			  posix_fallocate fdatasync ftruncate mmap aligned_alloc calloc \
			  pthread_create)

# Allocations go through functions of the test, which let them fail.
test_memory_LIBS   := $(addprefix -Wl$(comma)--wrap=,malloc calloc reallocarray aligned_alloc mmap)

# Tests of the tools link them all but main(), and the maker of data files.
TOOLS_PART_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(filter-out tools/cmd/elide.c tools/cmd/front.c,$(TOOLS_SRC))) \
		  $(EMBEDDED_OBJ) $(patsubst %,$(OBJ)/tests/tools/%.o,synth synth-full subject)
TOOLS_TESTS := test_classes test_load test_merge test_records test_report test_symbolize test_suggest test_settings \
	       test_machine test_export test_join test_pmu_stat test_pcm test_perf test_stats test_short test_stacks \
	       test_text test_elf_file test_unseen test_demangle test_symbolize_split test_verdict
$(foreach test,$(TOOLS_TESTS),$(eval $(test)_LINK := $(TOOLS_PART_OBJ)))
$(foreach test,$(TOOLS_TESTS),$(eval $(test)_LIBS = $$(TOOLS_LIBS)))
# It has the subject in itself.
test_symbolize_split_LINK := $(filter-out %/subject.o,$(TOOLS_PART_OBJ))
$(OBJ)/tests/unit/test_symbolize_split.o: ALL_CFLAGS += -gsplit-dwarf

.PHONY: unit-tests
unit-tests: $(UNIT_BIN)

$(OBJ)/tests/unit/%.o: tests/unit/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

define unit_test_rule
$(O)/tests/unit/$(1): $(OBJ)/tests/unit/$(1).o $(or $($(1)_LINK),$(LIBDIR)/libelide.a)
	$$(call say,LD,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(SANFLAGS) -o $$@ $$^ -lcmocka -pthread -lm $$($(1)_LIBS)
endef
$(foreach test,$(UNIT_SRC:tests/unit/%.c=%),$(eval $(call unit_test_rule,$(test))))
