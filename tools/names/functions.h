/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions.h - the functions around an address, inlined ones apart, as DWARF has them.
 */
#ifndef ELIDE_FUNCTIONS_H
#define ELIDE_FUNCTIONS_H

#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>

/**
 * functions_unit() - the compilation unit around an address.
 * @bias: set to what must be added to an address in the unit
 *
 * Return: NULL without DWARF.
 */
Dwarf_Die *functions_unit(Dwfl_Module *m, uint64_t address, Dwarf_Addr *bias);

/**
 * functions_whole_unit() - the unit with functions, variables and types.
 * @whole: room for it
 *
 * With -gsplit-dwarf the object has the lines, and a skeleton in place of the unit, which is in a file
 * that elfutils opens: NAME.dwo, or, since elfutils 0.191, PROGRAM.dwp.
 *
 * Return: @unit if that is no skeleton, or its other part is not found.
 */
Dwarf_Die *functions_whole_unit(Dwarf_Die *unit, Dwarf_Die *whole);

/**
 * functions_around() - the functions around an address of a unit.
 * @to: set to them, the innermost first; the last is the one they were inlined into
 *
 * Return: their number, up to @max; 0 if none is known.
 */
size_t functions_around(Dwarf_Die *unit, uint64_t address, Dwarf_Die *to, size_t max);

#endif
