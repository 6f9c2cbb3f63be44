#!/usr/bin/env python3
"""Follows src/docs/firmware.md word for word: writes its files, runs its commands, compares what it shows.

    tests/firmware_docs.py [--train] [--cargo CARGO]

Without --train the model is not trained with PyTorch, which is large: the one in examples/digits gets the
names that PyTorch would give. Needs the Python package safetensors with numpy, or what the page says, and
QEMU. CARGO, with options, builds for the microcontroller where rustup can't have the target.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = (ROOT / "src/docs/firmware.md").read_text()
# A fenced block, and the name of the file if there is one before it.
BLOCK = re.compile(r"(?:^`([\w./]+)`[^\n]*:\n\n)?^```(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def rename(folder):
    """The model of the repository with the names of `torch.nn.Sequential`."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    with safe_open(ROOT / "examples/digits/digits.safetensors", "numpy") as model:
        names = {"fc1": "0", "fc2": "2"}
        tensors = {}
        for name in model.keys():
            layer, kind = name.split(".")
            tensors[f"{names[layer]}.{kind}"] = model.get_tensor(name)
        metadata = {key: model.metadata()[key] for key in ("classes", "normalization")}
    save_file(tensors, folder / "digits.safetensors", metadata=metadata)


def commands(text):
    """Each command with the lines that it should print, if any are shown."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--cargo", default="cargo")
    given = parser.parse_args()
    train, cross = given.train, shlex.split(given.cargo)
    ran = 0
    with tempfile.TemporaryDirectory() as scratch:
        here = pathlib.Path(scratch)
        environment = {**os.environ, "CARGO_INSTALL_ROOT": str(here / "installed")}
        environment["PATH"] = f"{here}/installed/bin:{environment['PATH']}"
        environment.pop("CARGO_TARGET_DIR", None)
        (here / "safetensors-core").symlink_to(ROOT)
        if not train:
            rename(here)
        for name, language, text in BLOCK.findall(PAGE):
            if name:
                path = here / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            elif language == "console":
                for command, expected in commands(text):
                    program, *arguments = shlex.split(command)
                    if program == "cd":
                        here = here / arguments[0]
                        continue
                    # Whoever runs this has installed the packages.
                    if program == "pip" or program == "python" and not train:
                        continue
                    if cross != ["cargo"] and program == "rustup":
                        continue
                    command_line = {
                        "python": [sys.executable, *arguments],
                        "cargo": [*(cross if arguments[0] == "run" else ["cargo"]), *arguments],
                    }.get(program, [program, *arguments])
                    done = subprocess.run(
                        command_line, cwd=here, env=environment, text=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    )
                    if done.returncode != 0:
                        sys.exit(f"`{command}` failed")
                    if expected and done.stdout.splitlines() != expected:
                        sys.exit(f"`{command}` printed:\n{done.stdout}")
                    ran += 1
    print(f"{ran} commands of the page on firmware, as they stand there")


main()
