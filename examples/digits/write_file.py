"""Writes safetensors files with a header whose bytes are the same on every run.

The Python package gives metadata in no particular order.
"""

import json
import struct
import zlib

CHECKSUM = "safetensors_core.crc32"


def write_file(path, tensors, metadata, sealed=False):
    """`tensors` gives for each name the dtype as in a header, the shape, and the bytes.

    If the file is to be sealed it gets a checksum, which `Checksum` of safetensors-core compares.
    """
    if sealed:
        metadata = dict(sorted({**metadata, CHECKSUM: "00000000"}.items()))
    # Wide elements first, so that all are aligned.
    order = sorted(tensors, key=lambda name: (-WIDTHS[tensors[name][0]], name))
    header, offset = {"__metadata__": metadata}, 0
    for name in order:
        dtype, shape, data = tensors[name]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file = bytearray(struct.pack("<Q", len(text)) + text + b"".join(tensors[n][2] for n in order))
    if sealed:
        at = file.index(f'"{CHECKSUM}":"'.encode()) + len(CHECKSUM) + 4
        file[at : at + 8] = b"%08x" % zlib.crc32(file)
    path.write_bytes(file)


WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1}
