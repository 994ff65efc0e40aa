// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * functions.c - a walk of a compilation unit down to an address.
 *
 * elfutils' own walk does not enter functions without the address, so it misses the call of a
 * lambda and the methods of a local class. Must never recurse beyond DEPTH_MAX.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "functions.h"

/* The deepest nesting of DWARF entries that is followed. */
#define DEPTH_MAX 64

/* The functions found so far, from the innermost one outwards. */
struct walk {
	Dwarf_Addr address;
	Dwarf_Die *to;
	size_t max;
	size_t nr;
	int whole; /* also search functions that do not contain the address */
};

Dwarf_Die *functions_unit(Dwfl_Module *m, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(m, address, bias);

	/*
	 * That search needs .debug_aranges, which neither clang nor Go write, and takes the unit before
	 * an address that is in none: check it, or search every unit.
	 */
	if (unit && dwarf_haspc(unit, address - *bias) == 1)
		return unit;
	unit = NULL;
	while ((unit = dwfl_module_nextcu(m, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) == 1)
			return unit;
	return NULL;
}

/* May an entry that does not contain the address contain functions that do? */
static int may_hold(const struct walk *w, int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return 1;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return w->whole;
	default:
		return 0;
	}
}

/* Is the address in something below @die? Then adds the functions there. */
static int descend(struct walk *w, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child), here;

		here = (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
			tag == DW_TAG_inlined_subroutine) &&
		       dwarf_haspc(&child, w->address) == 1;
		if (!here && !may_hold(w, tag))
			continue;
		if (!descend(w, &child, depth + 1) && !here)
			continue;
		/* Stop at a function: the one that it is nested in is not around its code. */
		if (here && tag != DW_TAG_lexical_block && w->nr < w->max &&
		    (!w->nr || dwarf_tag(&w->to[w->nr - 1]) != DW_TAG_subprogram))
			w->to[w->nr++] = child;
		return 1;
	} while (!dwarf_siblingof(&child, &child));
	return 0;
}

Dwarf_Die *functions_whole_unit(Dwarf_Die *unit, Dwarf_Die *whole)
{
	uint8_t type = 0;

	if (!dwarf_cu_info(unit->cu, NULL, &type, NULL, whole, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton && whole->cu)
		return whole;
	return unit;
}

size_t functions_around(Dwarf_Die *unit, uint64_t address, Dwarf_Die *to, size_t max)
{
	struct walk w = {.address = address, .to = to, .max = max};
	Dwarf_Die whole;

	unit = functions_whole_unit(unit, &whole);
	if (!descend(&w, unit, 0)) {
		w.whole = 1;
		descend(&w, unit, 0);
	}
	return w.nr;
}
