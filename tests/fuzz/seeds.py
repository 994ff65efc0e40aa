#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""seeds.py DIRECTORY: writes the inputs of corpus/symbol, ELF objects a fuzzer would not guess."""
import struct
import sys

SYMTAB, STRTAB, DYNSYM = 2, 3, 11
FUNC = 2


def elf(kind, name=b"\0lock\0", size=16, offset=0, entries=None, shift=0):
    """An object with one symbol at 0x1000; @offset is added to where its tables lie."""
    header = 64
    symbols = struct.pack("<IBBHQQ", 1, FUNC, 0, 1, 0x1000, size)
    tables = header + shift
    strings = tables + len(symbols)
    sections = (strings + len(name) + 7) // 8 * 8
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    out = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, sections, 0, 64, 0, 0, 64, 3, 0)
    out += bytes(shift) + symbols + name
    out += bytes(sections - len(out))
    out += bytes(64)
    out += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, tables + offset, len(symbols) if entries is None
                       else entries * 24, 2, 0, 8, 24)
    out += struct.pack("<IIQQQQIIQQ", 0, STRTAB, 0, 0, strings, len(name), 0, 0, 1, 0)
    return out


SEEDS = {
    "symtab": elf(SYMTAB),
    "dynsym": elf(DYNSYM),
    "no-end": elf(SYMTAB, name=b"\0lock"),
    "odd-offset": elf(SYMTAB, shift=1),
    "beyond": elf(SYMTAB, offset=1 << 62),
    "many": elf(SYMTAB, entries=(1 << 64) // 24),
    "huge": elf(SYMTAB, size=(1 << 64) - 1),
    "odd-sections": elf(SYMTAB)[:40] + struct.pack("<Q", 65) + elf(SYMTAB)[48:],
}

for seed, image in SEEDS.items():
    with open(f"{sys.argv[1]}/{seed}", "wb") as f:
        f.write(struct.pack("<Q", 0x1004) + image)
