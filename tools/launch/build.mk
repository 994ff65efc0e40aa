# SPDX-License-Identifier: GPL-2.0-or-later
# The static program that starts the emulator, and that the emulator starts its children with.

tools: $(LIBEXECDIR)/launch

$(LIBEXECDIR)/launch: tools/launch/launch.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(WARN) -static -o $@ $<
