#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The quick rows of the fidelity suite as tests; make fidelity has all of them.
exec bash "$(dirname "$0")/run.sh" --quick
