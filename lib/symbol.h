/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol.h - name of the symbol that covers an address of an ELF object.
 *
 * For the rules only: reports are symbolised offline, with libdw, by the
 * tools. Must never allocate or take a lock: it runs inside lock calls.
 */
#ifndef ELIDE_SYMBOL_H
#define ELIDE_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

/**
 * elide_symbol_find() - look an address up in .symtab, else in .dynsym.
 * @path: the object's file; checked, it may be anything
 * @address: in the object's own addresses
 * @name: filled, as in the table (C++ names are mangled)
 * @size: bytes of @name
 *
 * Maps the file for the length of the call.
 *
 * Return: 0, or -ENOENT with @name empty.
 */
int elide_symbol_find(const char *path, uint64_t address, char *name, size_t size);

#endif
