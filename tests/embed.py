#!/usr/bin/env python3
"""Compiles what `safetensors embed` writes, and compares every number with the file.

    tests/embed.py COMMAND RUSTC

Needs gcc, g++ and rustc for this machine, arm-none-eabi-gcc and QEMU; clang is asked as well if it is there.
"""

import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-pedantic-errors", "-Wconversion", "-Wshadow", "-Werror"]

# For each dtype its bits, and how C writes the type of the array.
DTYPES = {
    "F64": (64, "double"), "I64": (64, "int64_t"), "U64": (64, "uint64_t"), "C64": (64, "float"),
    "F32": (32, "float"), "I32": (32, "int32_t"), "U32": (32, "uint32_t"),
    "F16": (16, "uint16_t"), "BF16": (16, "uint16_t"), "I16": (16, "int16_t"), "U16": (16, "uint16_t"),
    "I8": (8, "int8_t"), "U8": (8, "uint8_t"), "BOOL": (8, "uint8_t"),
    "F8_E4M3": (8, "uint8_t"), "F8_E5M2": (8, "uint8_t"), "F8_E8M0": (8, "uint8_t"),
    "F8_E4M3FNUZ": (8, "uint8_t"), "F8_E5M2FNUZ": (8, "uint8_t"),
    "F6_E2M3": (6, "uint8_t"), "F6_E3M2": (6, "uint8_t"), "F4": (4, "uint8_t"),
}  # fmt: skip
HOSTILE = ["*/ #error", "??/", "a\nb", "\u202e", "", "int", '"', "\\", "a.b", "a-b", "A.B", "x" * 10_000]


def special(code, size):
    """The least and the greatest numbers of a kind, and those between which something changes."""
    if code == "F":
        mantissa, exponent = (23, 8) if size == 4 else (52, 11)
        inf = ((1 << exponent) - 1) << mantissa
        one = ((1 << exponent - 1) - 1) << mantissa
        values = [0, 1, (1 << mantissa) - 1, 1 << mantissa, one, one + 1, inf - 1, inf]
        return values + [value | 1 << (8 * size - 1) for value in values]
    return [0, 1, (1 << 8 * size - 1) - 1, 1 << (8 * size - 1), (1 << 8 * size) - 1]


def is_nan(bits, size):
    mantissa, exponent = (23, 8) if size == 4 else (52, 11)
    return bits >> mantissa & ((1 << exponent) - 1) == (1 << exponent) - 1 and bits % (1 << mantissa) != 0


def numbers(chance, dtype, count):
    bits = DTYPES[dtype][0]
    if bits < 16:
        return chance.randbytes(count * bits // 8)
    size = 4 if dtype == "C64" else bits // 8
    count = count * bits // 8 // size
    found = (special("F" if dtype in ("F32", "F64", "C64") else "I", size) * count)[:count]
    for i in range(len(found) // 2, len(found)):
        found[i] = chance.getrandbits(8 * size)
        # Their payload is not kept in C.
        while dtype in ("F32", "F64", "C64") and is_nan(found[i], size):
            found[i] = chance.getrandbits(8 * size)
    return b"".join(value.to_bytes(size, "little") for value in found)


def model(path):
    """A file of all dtypes, ranks 0 to 5, tensors without elements and names of all kinds."""
    chance = random.Random(1)
    header, data = {"__metadata__": {name: name + "\0é?" for name in HOSTILE}}, b""
    header["__metadata__"]["long"] = "é\0" * 5000
    shapes = [[], [1], [40], [5, 8], [2, 3, 4], [1, 2, 1, 4, 3], [2, 2, 2, 2, 2], [0], [3, 0, 2]]
    for dtype, (bits, _) in DTYPES.items():
        for shape in shapes:
            count = 1
            for dim in shape:
                count *= dim
            if count * bits % 8:
                continue
            tensor = numbers(chance, dtype, count)
            offsets = [len(data), len(data) + len(tensor)]
            name = f"{dtype.lower()}.{'x'.join(map(str, shape))}"
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
            data += tensor
    # Longer than what is read at once.
    long = numbers(chance, "F32", 50_001)
    header["long"] = {"dtype": "F32", "shape": [3, 16667], "data_offsets": [len(data), len(data) + len(long)]}
    data += long
    for name in HOSTILE:
        header[name] = {"dtype": "U8", "shape": [1], "data_offsets": [len(data), len(data) + 1]}
        data += b"\x07"
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return data


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        print(done.stdout)
        sys.exit(f"`{' '.join(map(str, command))}` failed")
    return done.stdout


def declared(header):
    """The names of all arrays but those of the metadata, in the order of the file."""
    lines = (line.split() for line in header.splitlines() if line.startswith("extern const "))
    return [line[3].split("[")[0].rstrip(";") for line in lines if line[2] != "char"]


def c_and_cpp(folder):
    """Prints all arrays from a program in each dialect."""
    names = declared((folder / "all.h").read_text())
    body = "".join(f"    fwrite(&{name}, 1, sizeof {name}, stdout);\n" for name in names)
    aligned = " || ".join(f"(uintptr_t)&{name} % 64 != 0" for name in names)
    body += f"    return {aligned};\n"
    program = f'#include <stdio.h>\n#include "all.h"\nint main(void) {{\n{body}}}\n'
    (folder / "main.c").write_text(program)
    (folder / "main.cpp").write_text(program)
    outputs = []
    for compiler, cpp in (("gcc", "g++"), ("clang", "clang++")):
        if compiler == "clang" and shutil.which(compiler) is None:
            continue
        for standard in ("c99", "c11", "c17"):
            flags = [f"-std={standard}", *WARNINGS]
            run(compiler, *flags, "main.c", "all.c", "-o", "main", cwd=folder)
            outputs.append(subprocess.run(["./main"], cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
        run(compiler, "-std=c99", *WARNINGS, "-c", "all.c", cwd=folder)
        for standard in ("c++11", "c++17", "c++20"):
            run(cpp, f"-std={standard}", *WARNINGS, "main.cpp", "all.o", "-o", "main", cwd=folder)
            outputs.append(subprocess.run(["./main"], cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    return outputs


def rust(folder, rustc):
    module = (folder / "all.rs").read_text()
    names = [line.split()[2].rstrip(":") for line in module.splitlines() if line.startswith("pub static ")]
    body = "".join(f"    print(all::{name});\n" for name in names)
    program = (
        "#![deny(warnings)]\nmod all;\nuse std::io::Write;\n"
        "fn print<T>(array: &T) {\n"
        "    assert_eq!((array as *const T).addr() % 64, 0);\n"
        "    // SAFETY: numbers have no padding.\n"
        "    let bytes = unsafe { std::slice::from_raw_parts((array as *const T).cast::<u8>(), size_of::<T>()) };\n"
        "    std::io::stdout().write_all(bytes).unwrap();\n"
        f"}}\nfn main() {{\n{body}}}\n"
    )
    (folder / "main.rs").write_text(program)
    (folder / "lib.rs").write_text("#![no_std]\n#![deny(warnings)]\n#![forbid(unsafe_code)]\npub mod all;\n")
    outputs = []
    for edition in ("2021", "2024"):
        run(rustc, f"--edition={edition}", "--crate-type=lib", "--emit=metadata", "lib.rs", cwd=folder)
        run(rustc, f"--edition={edition}", "main.rs", "-o", "main", cwd=folder)
        outputs.append(subprocess.run(["./main"], cwd=folder, check=True, stdout=subprocess.PIPE).stdout)
    return outputs


def microcontroller(folder, command):
    digits = ROOT / "examples/digits"
    section = ["--section", ".weights"]
    run(command, "embed", digits / "digits.safetensors", "-o", folder / "digits", *section)
    run(command, "embed", digits / "held-out.safetensors", "-o", folder / "held_out", "--prefix", "held_out")
    sources = [ROOT / "tests/embed/network.c", folder / "digits.c", folder / "held_out.c"]
    flags = ["-std=c99", "-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding", "-nostdlib", f"-I{folder}"]
    # C has no word for addresses of functions as data.
    warnings = [flag for flag in WARNINGS if flag not in ("-Wpedantic", "-pedantic-errors")]
    for source in sources[1:]:
        run("arm-none-eabi-gcc", *flags, *WARNINGS, "-c", source, "-o", folder / "unused.o")
    script = f"-Wl,-T{ROOT / 'tests/embed/board.ld'}"
    program = folder / "network"
    run("arm-none-eabi-gcc", *flags, *warnings, script, *sources, "-lgcc", "-o", program)
    emulator = ["qemu-system-arm", "-cpu", "cortex-m3", "-machine", "lm3s6965evb", "-nographic"]
    emulator += ["-semihosting-config", "enable=on,target=native", "-kernel", program]
    # The emulator writes what a program prints to standard error, as it does its own complaints.
    output = run(*emulator, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, timeout=120)
    return "".join(line for line in output.splitlines(True) if not line.startswith("Timer with"))


def main():
    command, rustc = sys.argv[1:]
    command = str(pathlib.Path(command).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        data = model(folder / "all.safetensors")
        for language in ("c", "rust"):
            run(command, "embed", "all.safetensors", "--align", "64", "--lang", language, cwd=folder)
        outputs = c_and_cpp(folder) + rust(folder, rustc)
        for output in outputs:
            assert output == data, "not the bytes of the file"
        output = microcontroller(folder, command)
        expected = 'classes ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]\n'
        expected += "438 of 450 right, 450 outputs as in numpy\n"
        assert output == expected, output
        print(f"{len(data):,} bytes of all dtypes from {len(outputs)} programs in C, C++ and Rust;")
        print(f"on Cortex-M3 {output.splitlines()[1]}")


main()
