# SPDX-License-Identifier: GPL-2.0-or-later
# Each kind of test has its own rules.

include $(wildcard tests/*/build.mk)
