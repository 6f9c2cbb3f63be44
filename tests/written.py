#!/usr/bin/env python3
"""What the command writes, read by the Python package: `written.py SAFETENSORS`.

Needs safetensors and numpy. Files that the package writes come back from `repack` byte for byte, also
if they were spelled in another way before; and the package reads what `repack` and `metadata` write.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

COMMAND = os.path.abspath(sys.argv[1])
ROUNDS = 60
DTYPES = "float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64".split()
CHARACTERS = "abc./_0\"\\\n\t\x01\x1f\x7fé€🎨\u2028"


def run(*args):
    return subprocess.run([COMMAND, *args], check=True, capture_output=True, text=True).stdout


def text(rng, most=12):
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(most)))


def arrays(rng):
    """Names of all kinds; all dtypes of numpy that the format knows; scalars and empty arrays."""
    found = {}
    for _ in range(rng.randrange(12)):
        shape = [rng.choice([0, 1, 2, 3, 7]) for _ in range(rng.randrange(4))]
        count = int(np.prod(shape))
        dtype = np.dtype(rng.choice(DTYPES))
        data = rng.randbytes(count * dtype.itemsize)
        if dtype == bool:
            data = bytes(byte & 1 for byte in data)
        found[text(rng)] = np.frombuffer(data, dtype).reshape(shape)
    found.pop("__metadata__", None)
    return found


def spelled_otherwise(rng, file):
    """The same content in another order, with white space and escapes."""
    size = int.from_bytes(file[:8], "little")
    header, data = json.loads(file[8 : 8 + size]), file[8 + size :]
    pairs = list(header.items())
    rng.shuffle(pairs)
    header = json.dumps(dict(pairs), indent=rng.choice([None, 1]), ensure_ascii=rng.random() < 0.5)
    header = (header + " " * rng.randrange(9)).encode()
    return len(header).to_bytes(8, "little") + header + data


def same(file, expected, metadata):
    found = load_file(file)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
    with safe_open(file, framework="numpy") as opened:
        assert (opened.metadata() or {}) == metadata, (opened.metadata(), metadata)


def main():
    rng = random.Random(0)
    folder = pathlib.Path(tempfile.mkdtemp())
    canonical, other, out = (str(folder / name) for name in ["canonical", "other", "out"])
    for _ in range(ROUNDS):
        expected = arrays(rng)
        # With more than one the package's order is random.
        metadata = {text(rng): text(rng)} if rng.random() < 0.7 else None
        save_file(expected, canonical, metadata)
        file = pathlib.Path(canonical).read_bytes()
        pathlib.Path(other).write_bytes(spelled_otherwise(rng, file))
        for source in [canonical, other]:
            run("repack", source, out)
            assert pathlib.Path(out).read_bytes() == file, source
        align = rng.choice([1, 16, 64, 4096])
        run("repack", other, out, "--align", str(align), "--reserve", str(rng.randrange(200)))
        start = 8 + int.from_bytes(pathlib.Path(out).read_bytes()[:8], "little")
        assert start % align == 0
        same(out, expected, metadata or {})
        changed = dict(metadata or {})
        args = []
        for _ in range(rng.randrange(4)):
            # What an argument can't have.
            key, value = text(rng).replace("=", ""), text(rng, 300)
            changed[key] = value
            args.append(f"--set={key}={value}")
        for key in rng.sample(sorted(metadata or {}), rng.randrange(len(metadata or {}) + 1)):
            args.append(f"--unset={key}")
            if not any(arg.startswith(f"--set={key}=") for arg in args):
                del changed[key]
        if args:
            run("metadata", out, *args)
        same(out, expected, changed)
        assert json.loads(run("metadata", out, "--json")) == changed
    print(f"{ROUNDS} rounds")


main()
