/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * datatype.h - what DWARF knows of the type of a variable's bytes.
 */
#ifndef ELIDE_DATATYPE_H
#define ELIDE_DATATYPE_H

#include <elfutils/libdw.h>
#include <stdint.h>

/**
 * datatype_is_pointer() - does a pointer lie in a variable at an offset?
 * @unit: compilation unit of code that uses the variable
 * @address: of the variable, in the unit
 * @name: of the variable in the symbol table
 * @offset: from its start
 *
 * Members of structures and unions and elements of arrays are searched.
 *
 * Return: 1, or 0 if it is something else or unknown.
 */
int datatype_is_pointer(Dwarf_Die *unit, uint64_t address, const char *name, uint64_t offset);

#endif
