# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages. A line @NAME@ of a .in page is replaced by the list that man/lists.c prints.

MAN_SRC := $(wildcard man/*.[1-8])
MAN_IN  := $(wildcard man/*.in)
MANDIR  := $(O)/man

man: $(MAN_SRC:man/%=$(MANDIR)/%) $(MAN_IN:man/%.in=$(MANDIR)/%)
all: man
.PHONY: man

$(OBJ)/man/lists: man/lists.c lib/tunables.def lib/policy.def lib/aborts.def lib/arms.def lib/learned.def lib/pmu.def tools/model/columns.def tools/model/advice.def tools/model/answer/answer.def tools/model/threads.def tools/base/unseen.def \
		  tools/rtmgrind/unfriendly.def tools/rtmgrind/counters.def \
		  tools/rtmgrind/model.def tools/rtmgrind/models.def tools/selftest/tests.def
	$(call say,HOSTCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -o $@ $<

$(MANDIR)/%: man/%.in $(OBJ)/man/lists
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)while IFS= read -r line; do \
		case "$$line" in \
		@*@) name=$${line#@}; $(OBJ)/man/lists "$${name%@}" || exit 1;; \
		*) printf '%s\n' "$$line";; \
		esac; \
	done < $< > $@.new && mv $@.new $@

$(MANDIR)/%: man/%
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $@
