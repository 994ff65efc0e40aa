#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""seeds.py CORPUS: writes inputs a fuzzer would not guess, CORPUS/symbol and CORPUS/learned."""
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
    with open(f"{sys.argv[1]}/symbol/{seed}", "wb") as f:
        f.write(struct.pack("<Q", 0x1004) + image)


def learned(offsets=(0x1000, 0x2000), obj=0, arm=1, nr_sites=1, array=64, arms=(b"real", b"keen"),
            build_id=20, classes=None, cut=0):
    """A file of ELIDE_LEARNED; the fuzz target makes its checksum fit."""
    tables = b"".join(a.ljust(16, b"\0") for a in arms)
    tables += struct.pack("<I", build_id) + bytes(36) + b"/opt/program".ljust(216, b"\0")
    for offset in offsets:
        tables += struct.pack("<IHHQIBBBBIHHIIII", obj, 2, 1, offset, array, 0, nr_sites, arm, 2, 500,
                              990, 0, 400, 30, 20, 0)
        tables += struct.pack("<IHBBQ", obj, 1, arm, 1, 0x77) + bytes(16 * 7)
    tables = tables[:len(tables) - cut]
    head = struct.pack("<8sIIQIIII", b"ELDLEARN", 1, 512, 0, 512 + len(tables), len(arms), 1,
                       len(offsets) if classes is None else classes)
    return head + b"processors=4 rtm=2".ljust(472, b"\0") + tables


LEARNED = {
    "sound": learned(),
    "empty": learned(offsets=()),
    "order": learned(offsets=(0x2000, 0x1000)),
    "object": learned(obj=1),
    "arm": learned(arm=2),
    "probe": learned(arms=(b"probe", b"unheard-of")),
    "name": learned(arms=(b"real", b"x" * 16)),
    "sites": learned(nr_sites=9),
    "build-id": learned(build_id=37),
    "array": learned(array=(1 << 32) - 1, offsets=(0, (1 << 64) - 1)),
    "many": learned(classes=(1 << 32) - 1),
    "cut": learned(cut=8),
}

for seed, image in LEARNED.items():
    with open(f"{sys.argv[1]}/learned/{seed}", "wb") as f:
        f.write(image)
