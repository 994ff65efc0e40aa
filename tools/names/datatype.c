// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * datatype.c - is a word of a variable a pointer, or a number?
 *
 * A compilation unit that uses a variable has at least a declaration of it, so only that unit is
 * searched: a large program has thousands. Must never loop on broken DWARF.
 */
#include <dwarf.h>
#include <string.h>

#include "datatype.h"

/* The deepest nesting of types, and of scopes, that is followed. */
#define DEPTH_MAX 32

/* Removes typedefs and qualifiers from a type. */
static int peel(Dwarf_Die *type)
{
	for (int i = 0; i < DEPTH_MAX; i++) {
		Dwarf_Attribute attr;

		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attr), type))
				return -1;
			break;
		default:
			return 0;
		}
	}
	return -1;
}

/* The type of a variable, a member or an array's elements. */
static int type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), type))
		return -1;
	return peel(type);
}

/* The member of a structure that holds the byte at *@offset, which becomes the offset in that member. */
static int enter_member(Dwarf_Die *type, uint64_t *offset)
{
	Dwarf_Die member, of;

	if (dwarf_child(type, &member))
		return -1;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0, size;
		int tag = dwarf_tag(&member);

		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		/* Members of a union have no location: their offset is 0. */
		if (dwarf_attr(&member, DW_AT_data_member_location, &attr) &&
		    dwarf_formudata(&attr, &at))
			continue;
		if (type_of(&member, &of) || dwarf_aggregate_size(&of, &size))
			continue;
		if (*offset < at || *offset - at >= size)
			continue;
		*offset -= at;
		*type = of;
		return 0;
	} while (!dwarf_siblingof(&member, &member));
	return -1;
}

static int enter_element(Dwarf_Die *type, uint64_t *offset)
{
	Dwarf_Word size;
	Dwarf_Die of;

	if (type_of(type, &of) || dwarf_aggregate_size(&of, &size) || !size)
		return -1;
	*offset %= size;
	*type = of;
	return 0;
}

static int holds_pointer(Dwarf_Die *variable, uint64_t offset)
{
	Dwarf_Die type;
	int rc = type_of(variable, &type);

	for (int i = 0; i < DEPTH_MAX && !rc; i++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
			return 1;
		case DW_TAG_array_type:
			rc = enter_element(&type, &offset);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			rc = enter_member(&type, &offset);
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* Is a location just this address? */
static int is_at(Dwarf_Attribute *location, uint64_t address)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr found;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_getlocation(location, &ops, &nr) || nr != 1)
		return 0;
	if (ops[0].atom == DW_OP_addr)
		return ops[0].number == address;
	/* clang, and gcc with -gsplit-dwarf, have addresses in a table. */
	return (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
	       !dwarf_getlocation_attr(location, ops, &indexed) &&
	       !dwarf_formaddr(&indexed, &found) && found == address;
}

/* Is it the variable? Compares the address; for a declaration, which has none, the name. */
static int is_variable(Dwarf_Die *die, uint64_t address, const char *name)
{
	Dwarf_Attribute attr;

	if (dwarf_attr(die, DW_AT_location, &attr))
		return is_at(&attr, address);
	if (!dwarf_hasattr(die, DW_AT_declaration))
		return 0;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		return !strcmp(dwarf_formstring(&attr) ?: "", name);
	return !strcmp(dwarf_diename(die) ?: "", name);
}

/* Find a variable in a scope and in nested ones. Return: 1 if *@found is set to it. */
static int find_variable(Dwarf_Die *scope, uint64_t address, const char *name, int depth,
			 Dwarf_Die *found)
{
	if (depth == DEPTH_MAX || dwarf_child(scope, found))
		return 0;
	do {
		Dwarf_Die inside;

		switch (dwarf_tag(found)) {
		case DW_TAG_variable:
			if (is_variable(found, address, name))
				return 1;
			break;
		case DW_TAG_namespace:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			if (find_variable(found, address, name, depth + 1, &inside)) {
				*found = inside;
				return 1;
			}
		}
	} while (!dwarf_siblingof(found, found));
	return 0;
}

int datatype_is_pointer(Dwarf_Die *unit, uint64_t address, const char *name, uint64_t offset)
{
	Dwarf_Die variable;

	return find_variable(unit, address, name, 0, &variable) && holds_pointer(&variable, offset);
}
