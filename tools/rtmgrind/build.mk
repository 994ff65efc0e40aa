# SPDX-License-Identifier: GPL-2.0-or-later
# rtmgrind: a Valgrind tool, built outside of Valgrind's tree against the headers and static
# libraries of Debian's valgrind package. Without them everything else still builds; so it does where
# the emulator does not build, or fails its self-test, with a version that is not among these.

RTMGRIND_TESTED     := 3.19.0 3.24.0
VALGRIND_INCLUDE    ?= /usr/include/valgrind
VALGRIND_ARCHIVES   ?= /usr/lib/x86_64-linux-gnu/valgrind
VALGRIND_LIBEXECDIR ?= /usr/libexec/valgrind

RTMGRIND_SRC  := $(wildcard tools/rtmgrind/*.c)
RTMGRIND_OBJ  := $(RTMGRIND_SRC:%.c=$(OBJ)/%.o)
RTMGRIND_LIBS := $(addprefix $(VALGRIND_ARCHIVES)/,libcoregrind-amd64-linux.a libvex-amd64-linux.a \
		   libgcc-sup-amd64-linux.a)

# As Valgrind builds its tools: no libc, no floating point, at an address of its own.
RTMGRIND_CFLAGS  := -std=gnu11 -O2 -g $(WARN) -MMD -MP -DELIDE_VERSION='"$(COMMIT_VERSION)"' \
	$(filter -ffile-prefix-map=%,$(CFLAGS)) \
	-ffreestanding -fno-stack-protector -fno-builtin -fno-strict-aliasing -fno-pie \
	-fomit-frame-pointer -fcf-protection=none -mno-avx -isystem $(VALGRIND_INCLUDE) \
	-DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1
RTMGRIND_LDFLAGS := -static -nodefaultlibs -nostartfiles -u _start \
	-Wl,-Ttext-segment=0x58000000 -Wl,--build-id=sha1 -Wl,-z,noexecstack \
	-Wl,--wrap=VG_MINIMAL_SETJMP -Wl,--wrap=LibVEX_Translate -Wl,--wrap=LibVEX_evCheckSzB \
	-Wl,--wrap=do_iropt_BB \
	-Wl,--wrap=vgPlain_gdbserver_report_signal -Wl,--wrap=vgPlain_synth_fault_mapping \
	-Wl,--wrap=vgPlain_synth_fault_perms -Wl,--wrap=vgPlain_umsg \
	-Wl,--wrap=vgPlain_sigframe_create -Wl,--wrap=vgPlain_di_notify_mmap \
	-Wl,--wrap=vgPlain_pp_ExeContext -Wl,--wrap=vgPlain_translate \
	-Wl,--wrap=vgPlain_add_to_transtab -Wl,--wrap=vgPlain_gettid \
	-Wl,--wrap=vgPlain_poll_signals -Wl,--wrap=vgPlain_disp_run_translations \
	-Wl,--wrap=vgPlain_disp_cp_evcheck_fail

RTMGRIND_VALGRIND := $(shell sed -n 's/^.define VERSION "\(.*\)"/\1/p' \
			$(VALGRIND_INCLUDE)/config.h 2>/dev/null)

RTMGRIND_TOOL   := $(LIBEXECDIR)/rtmgrind-amd64-linux
RTMGRIND_PASSED := $(LIBEXECDIR)/selftest.passed
ifneq ($(words $(wildcard $(RTMGRIND_LIBS)) $(RTMGRIND_VALGRIND)),4)
emulator:
	@echo 'rtmgrind: not built: it needs the headers and libraries of the package valgrind'
else ifneq ($(filter $(RTMGRIND_VALGRIND),$(RTMGRIND_TESTED)),)
emulator: $(RTMGRIND_PASSED)
else
emulator:
	$(Q)$(MAKE) $(RTMGRIND_PASSED) || echo 'rtmgrind: cannot be used: it does not build with' \
		'valgrind $(RTMGRIND_VALGRIND), or fails its self-test'
endif

$(OBJ)/tools/rtmgrind/%.o: tools/rtmgrind/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(RTMGRIND_CFLAGS) -c -o $@ $<

# Valgrind finds its own files beside the tool.
$(RTMGRIND_TOOL): $(RTMGRIND_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -o $@ $(RTMGRIND_LDFLAGS) $^ $(RTMGRIND_LIBS)
	$(Q)ln -sf $(VALGRIND_LIBEXECDIR)/* $(@D)

# The self-test: a program that runs in the emulator, with RTM instructions as bytes. A sanitizer's
# runtime and Valgrind need the same addresses.
SELFTEST_SRC := $(wildcard tools/selftest/*.c)
$(LIBEXECDIR)/selftest: $(SELFTEST_SRC) $(wildcard tools/selftest/*.h tools/selftest/*.def) \
			lib/rtm.h lib/emulator.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g $(WARN) $(filter -ffile-prefix-map=%,$(CFLAGS)) \
		$(LDFLAGS) -Wl,--build-id=sha1 -o $@ $(SELFTEST_SRC) -pthread

# Where it passes, `elide run --emulate` need not run it: see tools/run/emulator-check.h.
$(RTMGRIND_PASSED): $(RTMGRIND_TOOL) $(LIBEXECDIR)/selftest $(BINDIR)/elide $(LIBEXECDIR)/elide \
		    $(LIBEXECDIR)/launch
	$(call say,SELFTEST,$(RTMGRIND_TOOL))
	$(Q)rm -rf $@ $(OBJ)/cache; mkdir -p $(OBJ)/cache; \
		XDG_CACHE_HOME=$(abspath $(OBJ))/cache $(BINDIR)/elide doctor >$(OBJ)/doctor.txt; \
		cp $(OBJ)/cache/elide/selftest.passed $@ 2>/dev/null || \
		{ sed -n 's/^emulator */rtmgrind: /p' $(OBJ)/doctor.txt; false; }
