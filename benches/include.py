#!/usr/bin/env python3
"""How long the compiler takes for models that are included, beside a program without one.

    python3 benches/include.py

A debug build each, of a program of its own whose dependencies are built before; the median of five.
"""

import json
import os
import pathlib
import statistics
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = 5


def model(path, tensors):
    """Tensors of zeros: name, dtype, width in bytes, shape."""
    header, offset = {}, 0
    for name, dtype, width, shape in tensors:
        size = width
        for dim in shape:
            size *= dim
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(offset))


def program(statics):
    used = "".join(f'    println!("{{:?}}", {name});\n' for name in statics)
    lines = "".join(f"    static {name}: {rest};\n" for name, rest in statics.items())
    if not statics:
        return "fn main() {}\n"
    return (
        'safetensors_core::include_safetensors! {\n    static MODEL = "model.safetensors";\n'
        f"{lines}}}\nfn main() {{\n{used}    println!(\"{{}}\", MODEL.len());\n}}\n"
    )


LAYERS = [(f"model.layers.{i // 9}.block{i % 9}.weight", "F32", 4, [4, 8]) for i in range(300)]
CASES = [
    ("without a model", [], {}),
    ("300 tensors, one borrowed", LAYERS, {"W": '&[[f32; 8]; 4] = "model.layers.0.block3.weight"'}),
    ("1 MiB of F32, copied", [("w", "F32", 4, [262144])], {"W": '[f32; 262144] = "w"'}),
    ("100,000 F16, converted", [("w", "F16", 2, [100000])], {"W": '[f32; 100000] = "w"'}),
]


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "included"\nversion = "0.0.0"\nedition = "2024"\n'
            f'[dependencies]\nsafetensors-core = {{ path = "{ROOT}" }}\n[workspace]\n'
        )
        # What the compiler found out in the turn before would be taken from there.
        environment = {**os.environ, "CARGO_INCREMENTAL": "0"}
        environment["CARGO_TARGET_DIR"] = str(folder / "target")
        source = folder / "src/main.rs"
        base = None
        for name, tensors, statics in CASES:
            model(folder / "src/model.safetensors", tensors)
            seconds = []
            for turn in range(TURNS + 1):
                source.write_text(f"// {name} {turn}\n" + program(statics))
                start = time.monotonic()
                subprocess.run(["cargo", "build", "--quiet"], cwd=folder, env=environment, check=True)
                seconds.append(time.monotonic() - start)
            # The first also builds the dependencies.
            median = statistics.median(seconds[1:])
            base = base or median
            print(f"{name:28} {median:6.2f} s {median / base:7.1f}")


main()
