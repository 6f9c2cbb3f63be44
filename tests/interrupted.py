#!/usr/bin/env python3
"""Cuts the command off while it writes, and looks at what is left: `interrupted.py SAFETENSORS`.

- Killed before each system call, and each call that writes made to fail instead.
- Killed at any moment of the work with large files, until it was inside of it often enough.
- With a disk that is full, and two at once.

Whatever happens the file is the old one or the whole new one, or, after a change in place, the
recovery file makes it the old one again; and the next change works. Needs strace, and unshare or root.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

COMMAND = os.path.abspath(sys.argv[1])
DIGITS = pathlib.Path(__file__).parent.parent / "examples/digits/digits.safetensors"
# Kills at any moment that have to hit the work itself, of each kind.
INSIDE = 80

# What writes, and how it may fail.
WRITING = ["write", "copy_file_range", "fsync", "rename", "renameat", "renameat2", "linkat", "unlink", "lseek", "fchmod"]
ERRORS = ["EIO", "ENOSPC"]


class Scenario:
    """One way to change `model` in a folder of its own."""

    def __init__(self, name, args, old, in_place=False):
        self.name, self.args, self.old, self.in_place = name, args, old, in_place
        with self.folder() as folder:
            run(folder, args, check=True)
            self.new = (folder / "model").read_bytes()
        assert self.new != old

    def folder(self):
        return Folder(self.old)

    def check(self, folder, context):
        """Whether it was cut off between the first trace of the work and its end; fails if what is
        left is neither the old nor the new file."""
        context = f"{self.name}: {context}"
        names = sorted(path.name for path in folder.iterdir())
        left = [name for name in names if name.startswith(".safetensors-") and name.endswith(".tmp")]
        recovery = "model.recovery" in names
        assert set(names) == {"model", *left, *(["model.recovery"] if recovery else [])}, (context, names)
        found = (folder / "model").read_bytes()
        torn = found not in (self.old, self.new)
        assert not torn or recovery, context
        if recovery:
            assert self.in_place, context
            # It is found and offered, and it works.
            verified = run(folder, ["verify", "model"])
            assert verified.returncode == 1 and "--recover puts back what was there before" in verified.stderr, (context, verified)
            run(folder, ["verify", "model", "--recover"], check=True)
            assert (folder / "model").read_bytes() == self.old, context
            assert not (folder / "model.recovery").exists(), context
        run(folder, ["verify", "model"], check=True)
        run(folder, self.args, check=True)
        assert (folder / "model").read_bytes() == self.new, context
        return bool(left) or recovery, torn


class Folder:
    def __init__(self, old):
        self.old = old

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp())
        (self.path / "model").write_bytes(self.old)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def run(folder, args, check=False, under=()):
    done = subprocess.run([*under, COMMAND, *args], cwd=folder, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise AssertionError((args, done))
    return done


# ── at each system call ──


def calls(scenario):
    """The system calls of an undisturbed run: name, and how many of that name came before."""
    with scenario.folder() as folder:
        log = folder.parent / (folder.name + ".log")
        run(folder, scenario.args, check=True, under=["strace", "-f", "-o", log])
        lines = log.read_text().splitlines()
        log.unlink()
    # Of the main thread; the other one waits for signals.
    pid = lines[0].split()[0]
    names = [match[1] for line in lines if (match := re.match(rf"{pid} +(\w+)\(", line))]
    return [(name, names[:i].count(name)) for i, name in enumerate(names)]


def tamper(folder, scenario, call, how):
    name, before = call
    inject = f"inject={name}:{how}:when={before + 1}"
    return run(folder, scenario.args, under=["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject])


def killed_at_each_call(scenario):
    inside = 0
    found = calls(scenario)
    for call in found:
        # Nothing is there yet to be killed.
        if call == ("execve", 0):
            continue
        with scenario.folder() as folder:
            done = tamper(folder, scenario, call, "signal=KILL")
            assert done.returncode == -signal.SIGKILL, (scenario.name, call, done)
            inside += scenario.check(folder, f"killed at {call}")[0]
    print(f"{scenario.name}: killed at {len(found) - 1} system calls, {inside} of them inside the work")
    return inside


def failing_calls(scenario):
    """Each call that writes fails: the command says so, and leaves nothing behind."""
    count = 0
    for call in calls(scenario):
        for error in ERRORS if call[0] in WRITING else []:
            with scenario.folder() as folder:
                done = tamper(folder, scenario, call, f"error={error}")
                context = f"{call} fails with {error}"
                names = sorted(path.name for path in folder.iterdir())
                found = (folder / "model").read_bytes()
                if done.returncode == 0:
                    # Its own output, or what is tried in another way.
                    assert found == scenario.new and names == ["model"], (scenario.name, context, done, names)
                else:
                    assert done.returncode == 2 and done.stderr, (scenario.name, context, done)
                    scenario.check(folder, context)
                count += 1
    print(f"{scenario.name}: {count} times a system call failed")


# ── at any moment ──


def killed_at_any_moment(scenario, trace, how=signal.SIGKILL):
    """`trace` is a pattern of the file by which the work shows. A signal that can be handled leaves no
    temporary file."""
    rng = random.Random(1)
    inside = torn = tries = 0
    longest = 0.001
    while inside < INSIDE:
        tries += 1
        assert tries < 20 * INSIDE, f"{scenario.name}: only {inside} of {tries} were inside"
        with scenario.folder() as folder:
            child = subprocess.Popen([COMMAND, *scenario.args], cwd=folder, stdout=subprocess.DEVNULL)
            while child.poll() is None and not any(folder.glob(trace)):
                pass
            started = time.monotonic()
            time.sleep(rng.random() * longest)
            child.send_signal(how)
            killed = child.wait() == (-how if how == signal.SIGKILL else 130)
            if how != signal.SIGKILL:
                assert [path.name for path in folder.iterdir()] == ["model"], scenario.name
            # As long as it takes, roughly.
            longest = min(longest * 1.1, 1) if killed else max((time.monotonic() - started) * 0.9, 0.0005)
            was_inside, was_torn = scenario.check(folder, "killed at any moment")
            inside += killed and (was_inside or how != signal.SIGKILL)
            torn += was_torn
    print(f"{scenario.name}: {how.name} {inside} times inside the work, {torn} times with a torn file")
    return inside


# ── two at once ──


def at_once(args, old):
    """Of two changes at the same time none is lost without a word."""
    refused = 0
    for i in range(60):
        with Folder(old) as folder:
            keys = [f"one{i}", f"two{i}"]
            both = [subprocess.Popen([COMMAND, "metadata", "model", f"--set={key}=x", *args], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for key in keys]
            done = [key for key, child in zip(keys, both) if child.wait() == 0]
            assert done, "one of two always wins"
            listed = run(folder, ["metadata", "model"], check=True).stdout
            assert all(key in listed for key in done), (args, done, listed)
            assert [path.name for path in folder.iterdir()] == ["model"]
            run(folder, ["verify", "model"], check=True)
            refused += 2 - len(done)
    print(f"two at once {' '.join(args)}: 60 times, {refused} refused, none lost")


# ── a disk that is full ──

ON_A_SMALL_DISK = """
set -e
mount -t tmpfs -o size=1m tmpfs "$1"
cd "$1"
cp "$3" model
head -c "$(($(df --output=avail -B1 . | tail -1) - $4))" /dev/zero >filler
shift 4
status=0
"$@" || status=$?
ls -A
sha256sum <model
exit "$status"
"""


def on_a_full_disk(args, old, space):
    """Runs the command where so many bytes are free."""
    with Folder(old) as folder, Folder(old) as mount:
        sudo = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]
        command = [*sudo, "unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", mount, "-", folder / "model", str(space)]
        return run(folder, args, under=command)


def full_disk():
    # 300 KB of data.
    header = b'{"__metadata__":{"a":"0"},"w":{"dtype":"U8","shape":[300000],"data_offsets":[0,300000]}}'
    header = header.ljust(10_000)
    old = len(header).to_bytes(8, "little") + header + bytes(300_000)
    digest = subprocess.run(["sha256sum"], input=old, capture_output=True).stdout.decode()
    set_a = ["metadata", "model", "--set", "a=1"]
    for args, space, ok in [
        (set_a, 600_000, True),
        (set_a, 200_000, False),
        (set_a, 0, False),
        ([*set_a, "--in-place"], 40_000, True),
        ([*set_a, "--in-place"], 0, False),
        (["repack", "model", "other"], 200_000, False),
        (["repack", "model", "model"], 0, False),
    ]:
        done = on_a_full_disk(args, old, space)
        context = (args, space, done)
        names, found = split(done.stdout)
        assert names == ["filler", "model"], context
        if ok:
            assert done.returncode == 0 and found != digest, context
        else:
            assert done.returncode == 2 and "No space left on device" in done.stderr, context
            assert found == digest, context
    print("full disk: 2 changes done, 5 refused with the old file as it was")


def split(stdout):
    """The names and the digest, which stand behind what the command said."""
    *lines, digest = stdout.splitlines(keepends=True)
    return [line.strip() for line in lines if ":" not in line and " to " not in line], digest


def large(tensors, data_len):
    """A file with so many tensors, and with so many bytes of data."""
    rows = [f'"layer.{i}.weight":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for i in range(tensors)]
    rows.append(f'"data":{{"dtype":"U8","shape":[{data_len}],"data_offsets":[0,{data_len}]}}')
    header = ('{"__metadata__":{"a":"0"},' + ",".join(rows) + "}").encode()
    header = header.ljust((len(header) + 108) // 8 * 8)
    return len(header).to_bytes(8, "little") + header + random.Random(2).randbytes(data_len)


def main():
    digits = DIGITS.read_bytes()
    with Folder(digits) as folder:
        run(folder, ["metadata", "model", "--reserve", "1000"], check=True)
        roomy = (folder / "model").read_bytes()
    small = [
        Scenario("new file", ["metadata", "model", "--set", "license=MIT"], digits),
        Scenario("in place", ["metadata", "model", "--set", "license=MIT", "--in-place"], roomy, in_place=True),
        Scenario("repack", ["repack", "model", "model", "--align", "4096"], digits),
    ]
    for scenario in small:
        killed_at_each_call(scenario)
        failing_calls(scenario)
    set_a = ["metadata", "model", "--set", "a=1"]
    new = Scenario("new large file", set_a, large(10, 40_000_000))
    inside = killed_at_any_moment(new, ".safetensors-*")
    killed_at_any_moment(new, ".safetensors-*", signal.SIGTERM)
    killed_at_any_moment(new, ".safetensors-*", signal.SIGINT)
    # A longer value moves everything behind it.
    longer = ["metadata", "model", "--set", "a=longer", "--in-place"]
    inside += killed_at_any_moment(Scenario("large header in place", longer, large(200_000, 10), in_place=True), "*.recovery")
    assert inside >= 150
    at_once([], digits)
    at_once(["--in-place"], roomy)
    full_disk()


main()
