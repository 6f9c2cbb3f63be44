#!/usr/bin/env python3
"""Flash, static RAM and stack of small programs on microcontrollers.

    tests/sizes.py                 builds the programs of tests/sizes, runs them in QEMU, prints a table
    tests/sizes.py --quick         Cortex-M3 at opt-level "s" only
    tests/sizes.py --record TEXT   writes the record of this compiler; TEXT is in CHANGELOG.md
                                   (or in the variable SIZES_RECORD, for `tests/run.sh sizes`)
    tests/sizes.py --markdown      prints what README.md shows of the newest record, and builds nothing

Fails if a budget is exceeded, if a figure is more than 5 % above the record of this compiler in
tests/sizes/records, or if README.md does not show the newest record. Needs the targets, QEMU and `size`;
`tests/run.sh sizes` installs them.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tests/sizes/records"
LEVELS = ["s", "z"]
# The boards of QEMU that the programs run on.
BOARDS = {
    "thumbv7m-none-eabi": ["-cpu", "cortex-m3", "-machine", "lm3s6965evb"],
    "thumbv6m-none-eabi": ["-machine", "microbit"],
}
PROGRAMS = ["empty", "reader", "reference", "writer", "compiled", "pointers"]
# Flash and static RAM are those above `empty`; for `empty` itself all of it.
FIGURES = ["flash", "static", "stack", "heap"]
TOLERANCE = 1.05

READER_FLASH = 8192
COMPILED_FLASH = 256
PARSE_STACK = 512


def run(*args, **options):
    return subprocess.run(args, check=True, capture_output=True, text=True, **options).stdout


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", metavar="TEXT", default=os.environ.get("SIZES_RECORD"))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--cargo", default="cargo", help="the command that builds, with options")
    parser.add_argument("--rustc", default="rustc", help="the compiler that it takes")
    parser.add_argument("--target-dir", default=os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    given = parser.parse_args()
    if given.record is not None and (given.quick or not recorded_change(given.record)):
        parser.error("--record takes all programs, and a text that is in CHANGELOG.md")
    return given


# ── measuring ──


def build(given, target, level, *options):
    """Builds all programs and returns the folder they are in."""
    env = {**os.environ, "CARGO_PROFILE_RELEASE_OPT_LEVEL": level}
    command = [*shlex.split(given.cargo), "build", "--locked", "--quiet", "--release", "--bins"]
    command += ["--manifest-path", str(ROOT / "tests/sizes/Cargo.toml"), *options]
    command += ["--target", target, "--target-dir", str(given.target_dir)]
    subprocess.run(command, check=True, env=env)
    return pathlib.Path(given.target_dir, target, "release")


def sections(program):
    """The bytes of a program in flash and in static RAM."""
    text, data, bss = run("size", program).splitlines()[1].split()[:3]
    return int(text) + int(data), int(data) + int(bss)


def emulated(program, target):
    """What a program for QEMU says it measured, as `stack 700`."""
    command = ["qemu-system-arm", *BOARDS[target], "-nographic"]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", program]
    output = run(*command, stdin=subprocess.DEVNULL, timeout=60)
    return {name: int(value) for name, value in map(str.split, output.splitlines())}


def measure(given, target, level):
    programs = build(given, target, level)
    flash, static = sections(programs / "empty")
    found = {}
    for name in PROGRAMS:
        # All of `empty`, and of the others what they have more.
        above = (0, 0) if name == "empty" else (flash, static)
        size = sections(programs / name)
        found[name] = {"flash": size[0] - above[0], "static": size[1] - above[1], "heap": 0}
    programs = build(given, target, level, "--features", "stack")
    for name in PROGRAMS:
        found[name].update(emulated(programs / name, target))
    return {(target, level, name): figures for name, figures in found.items()}


# ── records ──


def record_of(given):
    """The file for the compiler, and for a library that is built with the options of the programs."""
    release = re.search(r"^release: (.*)$", run(given.rustc, "-vV"), re.MULTILINE)[1]
    return RECORDS / f"rustc-{release}{'-build-std' if '-Zbuild-std' in given.cargo else ''}.txt"


def table(rows):
    lines = [f"{'# bytes':34}" + "".join(f"{name:>9}" for name in FIGURES)]
    for key, figures in rows.items():
        cells = "".join(f"{figures[name]:9,}" for name in FIGURES)
        lines.append("{:20}{:3}{:11}".format(*key) + cells)
    return "\n".join(lines)


def read(file):
    """The text of a record, and its figures."""
    text, _, *lines = file.read_text().splitlines()
    rows = {}
    for line in lines:
        *key, flash, static, stack, heap = line.replace(",", "").split()
        rows[tuple(key)] = dict(zip(FIGURES, map(int, [flash, static, stack, heap])))
    return text, rows


def recorded_change(text):
    """Whether a line of the changelog, which may be broken, holds the text."""
    return text.strip() and text in " ".join((ROOT / "CHANGELOG.md").read_text().split())


def compare(rows, record):
    """What is worse than the record by more than the tolerance, and what is better."""
    worse, better = [], []
    for key, figures in rows.items():
        for name, found in figures.items():
            before = record[key][name] if key in record else None
            line = f"{' '.join(key)}: {name} was {before}, is {found}"
            if before is None or found > before * TOLERANCE:
                worse.append(line)
            elif found * TOLERANCE < before:
                better.append(line)
    return worse, better


# ── budgets ──


def stack_limit():
    """What the stack of a parse may take, from the program that measures the deepest."""
    source = (ROOT / "tests/images/src/bin/qemu.rs").read_text()
    return int(re.search(r"^const STACK: usize = (\d+);", source, re.MULTILINE)[1])


def budgets(rows):
    """Each budget as a line, and whether it is kept."""
    cortex_m3 = "thumbv7m-none-eabi", "s"
    reader = rows[*cortex_m3, "reader"]
    lines = [
        ("reader: flash on Cortex-M3 at s", reader["flash"], READER_FLASH, ""),
        (
            "reader: stack on Cortex-M3 at s",
            reader["stack"],
            stack_limit(),
            f"; the budget is {PARSE_STACK}",
        ),
    ]
    above = max(
        figures["flash"] - rows[*key[:2], "pointers"]["flash"]
        for key, figures in rows.items()
        if key[2] == "compiled"
    )
    lines.append(("compiled: flash above pointers, at most", above, COMPILED_FLASH, ""))
    for what, found, limit, more in lines:
        yield f"{what}: {found:,} of {limit:,} bytes allowed{more}", found <= limit


# ── README.md ──


def newest():
    """The newest record, of those with the library as it is delivered."""
    files = [file for file in RECORDS.iterdir() if re.fullmatch(r"rustc-[\d.]+", file.stem)]
    return max(files, key=lambda file: [int(part) for part in re.findall(r"\d+", file.stem)])


def markdown(file):
    """The table of README.md for a record."""
    _, rows = read(file)
    shown = [
        ("parse, look up, take numbers", "reader"),
        ("the same with the reference implementation", "reference"),
        ("write two tensors into a buffer", "writer"),
        ("a tensor of a model that the compiler checked, with the model", "compiled"),
        ("the same without this crate, with a pointer to the bytes", "pointers"),
    ]
    lines = [
        f"| Rust {file.stem.removeprefix('rustc-')}, opt-level `s` | Cortex-M3: flash | static RAM "
        "| stack | heap | Cortex-M0: flash | static RAM | stack | heap |",
        "|---" + "|---:" * 8 + "|",
    ]
    for what, name in shown:
        cells = [f"{rows[target, 's', name][figure]:,}" for target in BOARDS for figure in FIGURES]
        lines.append(f"| {' | '.join([what, *cells])} |")
    return "\n".join(lines) + "\n"


# ── the whole ──


def main():
    given = arguments()
    if given.markdown:
        print(markdown(newest()), end="")
        return
    file = record_of(given)
    which = [("thumbv7m-none-eabi", "s")] if given.quick else [(t, o) for t in BOARDS for o in LEVELS]
    rows = {}
    for target, level in which:
        rows.update(measure(given, target, level))
    print(f"{file.stem}; flash and static RAM above those of `empty`")
    print(table(rows))

    faults = []
    for line, kept in budgets(rows):
        print(line)
        if not kept:
            faults.append(f"over the budget: {line}")

    if given.record is not None:
        text, record = read(file) if file.exists() else ("", rows)
        if text == given.record and compare(rows, record)[0]:
            sys.exit(f"what grew needs a line in CHANGELOG.md of its own, not again: {text}")
        RECORDS.mkdir(exist_ok=True)
        file.write_text(f"{given.record}\n{table(rows)}\n")
        print(f"recorded in {file.relative_to(ROOT)}")
    if file.exists():
        text, record = read(file)
        if not recorded_change(text):
            faults.append(f"{file.name} was recorded for {text!r}, which is not in CHANGELOG.md")
        if not given.quick and rows.keys() != record.keys():
            faults.append(f"{file.name} is not of these programs")
        worse, better = compare(rows, record)
        faults += worse
        for line in better:
            print(f"smaller than recorded, record it: {line}")
    else:
        print(
            f"there is no {file.name}, so only the budgets were checked; to record:\n"
            "SIZES_RECORD='a line of CHANGELOG.md' tests/run.sh sizes"
        )
    if markdown(newest()) not in (ROOT / "README.md").read_text():
        faults.append(f"README.md does not show {newest().name}; it must hold:\n{markdown(newest())}")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    try:
        main()
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        # What the program for QEMU printed is why it failed.
        sys.exit(f"{error}\n{error.stdout or ''}\n{error.stderr or ''}")
