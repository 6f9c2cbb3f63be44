#!/usr/bin/env python3
"""Makes the seeds of the targets: most from the corpus in tests/data, one file a group and error."""

import base64
import json
import re
from pathlib import Path

here = Path(__file__).parent
data = here.parent / "tests" / "data"
seeds, seen = {}, set()
for name in ("expected", "matrix", "mutations"):
    for text in (data / f"{name}.jsonl").read_text().strip().split("\n"):
        line = json.loads(text)
        title = line.get("name") or line["file"].split("/")[-1]
        kind = (title.split("--")[0], line["verdict"], re.sub(r"[\d`'].*", "", line.get("detail", "")))
        if "parts" in line or kind in seen:
            continue
        payload = (data / "cases" / line["file"]).read_bytes() if "file" in line else base64.b64decode(line["b64"])
        if len(payload) < 700:
            seen.add(kind)
            seeds[title.replace(".safetensors", "").replace("/", "_")] = payload
for target in ("parse", "reference", "storage"):
    folder = here / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for title, payload in seeds.items():
        end = 8 + int.from_bytes(payload[:8], "little")
        header = b"h" + payload[8:end]
        (folder / title).write_bytes(header if len(payload) >= end else b"f" + payload)
folder = here / "seeds" / "text"
folder.mkdir(parents=True, exist_ok=True)
for i, text in enumerate(["", "plain", "é🎨", r"\"\\\/\b\f\n\r\t", r"\u00e9\ud83d\ude00", r"\ud83d", r"\u12", "\x1f", r"\x"]):
    (folder / str(i)).write_text(text)

folder = here / "seeds" / "metadata"
folder.mkdir(parents=True, exist_ok=True)
for i, text in enumerate(
    [
        r'{"s":"a\"b\u00e9","n":-7,"l":[[1,true]],"m":{"x":"A","y":{"B":5},"z":{"C":{"c":"d"}}},"i":{"-3":"q"},"t":{}}',
        r'{"A":null}',
        r'"\ud83d\ude00\n"',
        "[null,-1,9223372036854775807]",
        r'{"7":[{"x":1.5e3}]}',
        "[" * 17 + "]" * 17,
    ]
):
    (folder / str(i)).write_text(text)

# The targets' order of dtypes, and the bytes that their `Input` reads.
dtypes = (
    "BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ"
    " I16 U16 F16 BF16 I32 U32 F32 C64 F64 I64 U64"
).split()
numbers = bytes(range(0, 256, 11)) + bytes.fromhex("0000807f 0100c07f 000080ff 0000f07f ffff7f7f ffffffff")


def indexer(*parts):
    """An index, or start, end and step."""
    bounds = [byte for part in parts[:2] for byte in ([0] if part is None else [1, 12 + part])]
    return bytes([0, 12 + parts[0]] if len(parts) == 1 else [4, *bounds, 12 + parts[2]])


def cut(name, dims, *indexers):
    """A slice of a tensor that begins at byte 3."""
    head = bytes([2, dtypes.index(name), 3, len(dims), *dims, 0, len(indexers)])
    return head + b"".join(indexer(*parts) for parts in indexers) + b"data"


convert = {}
for i, name in enumerate(dtypes):
    convert[f"decode_{name}"] = bytes([0, i, 0, 1, 6, 7, 2, 3, 8, 0, 3, 1]) + numbers
    # Special numbers but for NaN, those beside a border of rounding and on it, and one of any bits.
    special = b"".join(bytes([1 + 8 * (k % 4), k]) for k in range(12) if k != 2)
    borders = b"".join(bytes([2 + 4 * k, 5 * k, 0]) for k in range(8))
    head = bytes([1, i, i % 2, 0xA5, 20, 3])
    convert[f"encode_{name}"] = head + special + borders + b"\0\0\0\x80?"
for name in ("I32", "U32", "F64", "I64", "U64"):
    odd = b"".join(bytes([k, 0, 0, 1 + 128 * (k % 2), 8 * k, k]) for k in range(8))
    convert[f"decode_{name}_borders"] = bytes([0, dtypes.index(name), *[0] * 10]) + odd
convert |= {
    "slice_whole": cut("F32", [2, 3, 4]),
    "slice_row": cut("I16", [4, 5], [-1]),
    "slice_columns": cut("F16", [4, 8], [None, None, 1], [-6, -1, 2]),
    "slice_backwards": cut("C64", [3, 4], [None, None, -1], [2, None, -2]),
    "slice_halves": cut("F4", [3, 8], [1, None, 1], [2, 6, 1]),
    "slice_split": cut("F6_E2M3", [2, 8], [None, None, 1], [2, 6, 1]),
    "slice_empty": cut("U8", [2, 0, 5], [0], [None, None, -1]),
    "slice_too_many": cut("BOOL", [2], [0], [0]),
    "slice_zero_step": cut("F64", [2, 2], [None, None, 0]),
    "shape": bytes([3, 4, 1, 2, 3, 4, 5]),
    "shape_scalar": bytes([3, 0, 0]),
    "shape_large": bytes([3, 3, 2, 0, 255]) + b"\xff" * 8 + b"\0\x07",
}
folder = here / "seeds" / "convert"
folder.mkdir(parents=True, exist_ok=True)
for title, payload in convert.items():
    (folder / title).write_bytes(payload)

# What `choose` of the target reads: whether all is plain, layout, pieces; pairs; tensors.
plain, odd = bytes([1, 0, 0, 0, 0]), bytes([0, 64, 12, 30, 210, 1])


def text(*characters):
    """A name, key or value of characters that are written in different ways."""
    return bytes([0, len(characters), *characters])


def described(name, dtype, dims, at_hand=0):
    """A tensor; of its bytes the third says whether the data is at hand, or wrong."""
    return name + bytes([dtype, len(dims)]) + b"".join(map(dim, dims)) + bytes([9, at_hand])


def dim(size):
    return bytes([size]) if size < 9 else b"\xff" + size.to_bytes(8, "little") + b"\0"


def chosen(layout, metadata, tensors, sort=0, piece=7, end=100, escaped=0):
    head = bytes([sort, piece, end, 0, escaped])
    pairs = bytes([len(metadata or [])]) + b"".join(key + value for key, value in metadata or [])
    return layout + head + pairs + bytes([metadata is not None, len(tensors)]) + b"".join(tensors)


u8, reserved, control = dtypes.index("U8"), b"\0\x07", b"\x03\x08\0\x08\x0b\x0c\x1f\x7f\r\t"
pairs = [(text(0, 4), text(3)), (text(3), control)]
write = {
    "nothing": chosen(plain, None, []),
    "no_pairs": chosen(plain, [], []),
    "metadata": chosen(plain, pairs, []),
    "control": chosen(plain, [(control, control)], [described(control, u8, [3])], escaped=2),
    "reserved": chosen(plain, None, [described(reserved, u8, [])]),
    "twice": chosen(plain, None, [described(text(k % 2), u8, [2]) for k in range(3)], escaped=4),
    "pairs_twice": chosen(plain, [(text(0), text(1)), (text(0), text(2))], [], escaped=1),
    "missing": chosen(plain, None, [described(text(0), 19, [3], 200)]),
    "wrong_len": chosen(plain, None, [described(text(0), 19, [3], 250)]),
    "partial": chosen(plain, None, [described(text(0), 1, [3])]),
    "product": chosen(plain, None, [described(text(0), u8, [1 << 63, 2, 0])]),
    "bits": chosen(plain, None, [described(text(0), u8, [1 << 61])]),
    "file": chosen(plain, None, [described(text(k), u8, [(1 << 61) - 1]) for k in range(8)]),
    "sum": chosen(plain, None, [described(text(k), u8, [(1 << 61) - 1]) for k in range(9)]),
    "limit": chosen(bytes([0, 8, 1, 0, 14, 0]), None, [described(text(0), u8, [1])]),
    "long": chosen(odd, [(b"\x03\x1f" + b"k" * 31, b"\x03\x1f" + b"v" * 31)] * 2, []),
}
for i, name in enumerate(dtypes):
    tensors = [described(text(k), (i + k) % len(dtypes), [4, k], 60 * k) for k in range(4)]
    write[f"plain_{name}"] = chosen(plain, pairs[: i % 2], tensors, piece=3 * i, end=9 * i)
    write[f"odd_{name}"] = chosen(odd, pairs, tensors, sort=i % 2, piece=3 * i, end=9 * i, escaped=i)
folder = here / "seeds" / "write"
folder.mkdir(parents=True, exist_ok=True)
for title, payload in write.items():
    (folder / title).write_bytes(payload)

# Room, limit, whether all data is there, changes; a line end; and a header as the other targets take it.
headers = {
    "none": "{}",
    "null": ' { "__metadata__" : null , "a":{"dtype":"U8","shape":[2],"data_offsets":[0,2],"note":[1,{}]} }  ',
    "pairs": '{"__metadata__":{"a":"1" , "\\u0062":"\\n","c":""},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}',
    "behind": '{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"b":{"dtype":"F4","shape":[2],"data_offsets":[4,5]},"__metadata__":{}}   ',
    "aligned": '{"a":{"dtype":"I64","shape":[9],"data_offsets":[0,72]}}\t\n'.ljust(120),
    "twice": '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}',
}
folder = here / "seeds" / "edit"
folder.mkdir(parents=True, exist_ok=True)
for title, header in headers.items():
    for kind in range(5):
        # Names that are there, control characters, long texts.
        for i, name in enumerate((b"\1", b"\x79", b"\x88\x60")):
            spelled = bytes([i & 1, i >> 1])
            first, second = (bytes([kind]) + name + other + spelled for other in (b"\2", b"\x89\x28"))
            changes = bytes([200, 0, 0, 2]) + first + b"\x21" + second + b"\x21" + first + b"\xf0"
            (folder / f"{title}_{kind}_{i}").write_bytes(changes + b"\nh" + header.encode())
for title, start in {"small": [4, 0, 0], "limited": [250, 208, 0], "less_aligned": [250, 217, 0], "header_only": [200, 0, 3]}.items():
    changes = bytes([*start, 3]) + b"\0\x79\1\0\0" + b"\0\x88\x60\1\0\1" + b"\3\0\1\0\0\7"
    (folder / title).write_bytes(changes + b"\nh" + headers["aligned"].encode())
