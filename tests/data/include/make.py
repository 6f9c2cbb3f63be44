#!/usr/bin/env python3
"""Writes numbers.safetensors and odd.safetensors beside this file, with Python's `struct` alone.

numbers: tensors [2, 3] of one dtype each, with the same numbers as far as the dtype has them, a
scalar and an empty tensor, the data section at a multiple of 8 bytes. odd: F32 at a byte that is no
multiple of 4.
"""

import json
import struct
from pathlib import Path

REAL = [0.5, -1.0, 2.0, 3.0, -4.0, 1.5]
SIGNED = [1, -2, 3, 4, -5, 100]
UNSIGNED = [1, 2, 3, 4, 5, 200]


def pack(code, values):
    return struct.pack(f"<{len(values)}{code}", *values)


bfloat16 = b"".join(pack("f", [value])[2:] for value in REAL)
tensors = [
    ("f64", "F64", pack("d", REAL)),
    ("i64", "I64", pack("q", SIGNED)),
    ("u64", "U64", pack("Q", UNSIGNED)),
    ("c64", "C64", pack("f", REAL + REAL)),
    ("f32", "F32", pack("f", REAL)),
    ("i32", "I32", pack("i", SIGNED)),
    ("u32", "U32", pack("I", UNSIGNED)),
    ("f16", "F16", pack("e", REAL)),
    ("bf16", "BF16", bfloat16),
    ("i16", "I16", pack("h", SIGNED)),
    ("u16", "U16", pack("H", UNSIGNED)),
    ("i8", "I8", pack("b", SIGNED)),
    ("u8", "U8", pack("B", UNSIGNED)),
    ("bool", "BOOL", bytes([1, 0, 1, 1, 0, 1])),
    # The codes of 0.5, -1, 2, 3, -4, 1.5.
    ("f8_e4m3", "F8_E4M3", bytes([0x30, 0xB8, 0x40, 0x44, 0xC8, 0x3C])),
    ("f4", "F4", bytes([0xA1, 0x54, 0x3E])),
]
tensors = [(name, dtype, [2, 3], data) for name, dtype, data in tensors]
tensors += [("scalar", "U8", [], b"\x07"), ("empty", "F32", [0, 3], b"")]


def write(path, tensors, rest):
    header, data = {}, b""
    for name, dtype, shape, bytes_ in tensors:
        offsets = [len(data), len(data) + len(bytes_)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        data += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * ((rest - len(text)) % 8)
    Path(__file__).with_name(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


write("numbers.safetensors", tensors, 0)
write("odd.safetensors", [("f32", "F32", [2, 3], pack("f", REAL))], 1)
