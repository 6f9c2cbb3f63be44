#!/usr/bin/env python3
"""Writes numbers.safetensors and numbers.json beside itself: what the small float formats mean, and
how f32 is rounded to them, as numpy and ml_dtypes have it. See README.md.

    pip install numpy==2.4.6 ml_dtypes==0.6.0 safetensors==0.8.0
"""

import hashlib
import json
import random
import struct
from bisect import bisect_right
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

HERE = Path(__file__).parent
NAN = 0x7FC0_0000
F32_MAX = Fraction(2**128 - 2**104)


class Format:
    """A format by the formula of its specification; written without a look at ml_dtypes."""

    def __init__(self, numpy_type, exponent, mantissa, bias, nan=(), infinity=None, signed=True):
        self.numpy_type = np.dtype(numpy_type)
        self.mantissa, self.bias, self.signed = mantissa, bias, signed
        self.bits = signed + exponent + mantissa
        self.nan, self.infinity = set(nan), infinity
        # The finite values that are not negative, by code, which is also their order.
        self.values = [
            self.magnitude(code)
            for code in range(1 << (self.bits - signed))
            if code not in self.nan and code != infinity
        ]
        self.largest = self.values[-1]
        # Where the next value would be if the format went on.
        self.behind = self.magnitude(len(self.values))

    def magnitude(self, code):
        exponent, mantissa = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        if exponent == 0 and self.signed:
            return Fraction(mantissa, 1 << self.mantissa) * Fraction(2) ** (1 - self.bias)
        return (1 + Fraction(mantissa, 1 << self.mantissa)) * Fraction(2) ** (exponent - self.bias)

    def decode(self, code):
        """The value as the bits of an f32; NaN in one spelling."""
        if code in self.nan:
            return NAN
        sign = self.signed and code >> (self.bits - 1)
        code &= (1 << (self.bits - self.signed)) - 1
        bits = 0x7F80_0000 if code == self.infinity else f32_bits(self.magnitude(code))
        return bits | sign << 31

    def encode(self, bits, saturate):
        """The code for an f32, to nearest and to the even code, or None where there is none."""
        sign, magnitude = bits >> 31, bits & 0x7FFF_FFFF
        if magnitude > 0x7F80_0000:
            codes = sorted(self.nan)
            return codes[sign if len(codes) == 2 else 0] if codes else None
        value = F32_MAX * 2 if magnitude == 0x7F80_0000 else fraction(magnitude)
        if saturate:
            value = min(value, self.largest)
        code = self.nearest(value)
        if code == len(self.values):
            if self.infinity is not None:
                code = self.infinity
            elif self.nan:
                return self.encode(NAN | sign << 31, saturate)
            else:
                code -= 1
        if not self.signed:
            return None if sign or not magnitude else code
        # Without a negative zero, zero is what stands for it.
        if sign and not (code == 0 and len(self.nan) == 1):
            code |= 1 << (self.bits - 1)
        return code

    def nearest(self, value):
        """The code of a value that is not negative; the first one unused if that is behind all."""
        ladder = [*self.values, self.behind]
        above = bisect_right(ladder, value)
        if above in (0, len(ladder)):
            return max(above - 1, 0)
        below, middle = above - 1, (ladder[above - 1] + ladder[above]) / 2
        # Without a mantissa there is no even one: a tie goes up.
        up = value > middle or value == middle and (below % 2 == 1 or not self.signed)
        return above if up else below


FORMATS = {
    "F8_E4M3": Format(ml_dtypes.float8_e4m3fn, 4, 3, 7, {0x7F, 0xFF}),
    "F8_E5M2": Format(
        ml_dtypes.float8_e5m2, 5, 2, 15, {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}, infinity=0x7C
    ),
    "F8_E4M3FNUZ": Format(ml_dtypes.float8_e4m3fnuz, 4, 3, 8, {0x80}),
    "F8_E5M2FNUZ": Format(ml_dtypes.float8_e5m2fnuz, 5, 2, 16, {0x80}),
    "F8_E8M0": Format(ml_dtypes.float8_e8m0fnu, 8, 0, 127, {0xFF}, signed=False),
    "F6_E2M3": Format(ml_dtypes.float6_e2m3fn, 2, 3, 1),
    "F6_E3M2": Format(ml_dtypes.float6_e3m2fn, 3, 2, 3),
    "F4": Format(ml_dtypes.float4_e2m1fn, 2, 1, 1),
}
HALVES = {"F16": (np.float16, 10, 15), "BF16": (ml_dtypes.bfloat16, 7, 127)}


def fraction(bits):
    """The value of a positive finite f32."""
    return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def f32_bits(value):
    """The f32 that is exactly `value`, which is not negative."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    assert fraction(bits) == value
    return bits


def f32(bits):
    return np.array(bits, np.uint32).view(np.float32)


def canonical(floats):
    """The bits of f32, every NaN in one spelling."""
    return np.where(np.isnan(floats), np.uint32(NAN), floats.view(np.uint32))


def cast(floats, numpy_type, saturate):
    """numpy's own conversion, to codes."""
    numpy_type = np.dtype(numpy_type)
    if saturate:
        largest = np.float32(ml_dtypes.finfo(numpy_type).max)
        floats = np.clip(floats, -largest, largest)
    with np.errstate(all="ignore"):
        return floats.astype(numpy_type).view(f"<u{numpy_type.itemsize}")


def inputs(form):
    """The bits of f32 that tell a right conversion from a wrong one."""
    ladder = [*form.values, form.behind]
    middles = [f32_bits((a + b) / 2) for a, b in zip(ladder, ladder[1:])]
    middles.append(f32_bits(form.values[form.signed] / 2))
    bits = {f32_bits(value) for value in ladder if value <= F32_MAX}
    for middle in middles:
        bits |= {middle - 1, middle, middle + 1}
    # Zero, the smallest and the largest, infinity.
    bits |= {0, 1, 0x7F7F_FFFF, 0x7F80_0000}
    rng = random.Random(form.numpy_type.name)
    for exponent in range(255):
        bits.add(exponent << 23 | rng.getrandbits(23))
    low, high = f32_bits(form.values[form.signed]) >> 23, f32_bits(form.largest) >> 23
    for _ in range(200):
        bits.add(rng.randint(max(low - 2, 0), min(high + 1, 254)) << 23 | rng.getrandbits(23))
    # A NaN, and one that signals.
    if form.nan:
        bits |= {NAN, 0x7F80_0001}
    if not form.signed:
        # What ml_dtypes does not round to nearest is left out.
        return sorted(b for b in bits if b and not 0x40_0000 < b < 0x60_0000)
    return [sign | b for b in sorted(bits) for sign in (0, 1 << 31)]


def halves(numpy_type, mantissa):
    """Bits of f32 by a rule that is short enough to be followed anew by a test: for each finite
    code in order its value, the middle between it and what the next code would be if the format went on,
    less and plus one in the last place, and the middle itself; each of the four positive, then
    negative. At last infinity, its negative, NaN, the largest f32 and the smallest."""
    numpy_type = np.dtype(numpy_type)
    finite = np.arange(int(cast(f32([0x7F80_0000]), numpy_type, False)[0]), dtype=np.uint16)
    value = finite.view(numpy_type).astype(np.float64)
    step = np.append(np.diff(value), value[-1] - value[-2])
    middle = (value + step / 2).astype(np.float32)
    assert (middle.astype(np.float64) == value + step / 2).all()
    middle = middle.view(np.uint32)
    four = np.stack([value.astype(np.float32).view(np.uint32), middle - 1, middle, middle + 1])
    both = np.stack([four.T, four.T | 0x8000_0000], axis=-1).reshape(-1)
    assert len(both) == ((1 << (15 - mantissa)) - 1 << mantissa) * 8
    return np.append(both, np.array([0x7F80_0000, 0xFF80_0000, NAN, 0x7F7F_FFFF, 1], np.uint32))


def sha256(array):
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def half_by_struct(bits):
    """What Python's own conversion to f16 gives; it refuses what overflows."""
    try:
        value = struct.unpack("<f", struct.pack("<I", bits))[0]
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 | bits >> 31 << 15


def bfloat_by_bits(bits):
    """The upper half, to nearest even by the carry of an addition; not for NaN."""
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def check_oddities():
    """What of ml_dtypes is left out of the files, so that a change of it is noticed."""
    scale = FORMATS["F8_E8M0"].numpy_type
    # No zero and no sign: NaN.
    outside = f32([0, 0x8000_0000, 0x8000_0001, 0xBF80_0000, 0xFF7F_FFFF, 0xFF80_0000])
    assert (cast(outside, scale, False) == 0xFF).all()
    # Between 2^-127 and 2^-126 all goes up, though what is less than 1.5 * 2^-127 is nearer below.
    between = np.arange(0x40_0001, 0x80_0000, dtype=np.uint32)
    assert (cast(f32(between), scale, False) == 1).all()
    assert (cast(f32([1, 0x40_0000]), scale, False) == 0).all()
    # NaN becomes minus zero, and NaN with a sign zero.
    for name in ("F6_E2M3", "F6_E3M2", "F4"):
        form = FORMATS[name]
        codes = cast(f32([NAN, NAN | 0x8000_0000]), form.numpy_type, False)
        assert codes.tolist() == [1 << (form.bits - 1), 0]


def make_small():
    tensors = {}
    for name, form in FORMATS.items():
        codes = np.arange(1 << form.bits, dtype=np.uint8)
        decoded = canonical(codes.view(form.numpy_type).astype(np.float32))
        assert decoded.tolist() == [form.decode(code) for code in range(1 << form.bits)], name
        tensors[f"{name}.decoded"] = decoded.view(np.float32)

        bits = inputs(form)
        tensors[f"{name}.input"] = f32(bits)
        for saturate, kind in [(False, "nonfinite"), (True, "saturated")]:
            found = cast(f32(bits), form.numpy_type, saturate)
            for b, code in zip(bits, found.tolist()):
                expected = form.encode(b, saturate)
                if b & 0x7FFF_FFFF > 0x7F80_0000 and len(form.nan) > 2:
                    # Of several codes for NaN any will do.
                    assert code in form.nan
                else:
                    assert code == expected, (name, kind, hex(b), code, expected)
            tensors[f"{name}.{kind}"] = found
    save_file(tensors, HERE / "numbers.safetensors")
    (HERE / "numbers.safetensors").chmod(0o644)
    return len(tensors)


def make_halves():
    hashes = {}
    for name, (numpy_type, mantissa, bias) in HALVES.items():
        codes = np.arange(1 << 16, dtype=np.uint16)
        decoded = canonical(codes.view(numpy_type).astype(np.float32))
        bits = halves(numpy_type, mantissa)
        found = cast(f32(bits), numpy_type, False)
        if name == "F16":
            floats = np.array(struct.unpack("<65536e", codes.astype("<u2").tobytes()), np.float32)
            assert (decoded == canonical(floats)).all()
            second = half_by_struct
        else:
            assert (decoded == canonical(f32(codes.astype(np.uint32) << 16))).all()
            second = bfloat_by_bits
        for b, code in zip(bits.tolist(), found.tolist()):
            assert b == NAN or code == second(b), (name, hex(b), code)
        assert cast(f32([NAN]), numpy_type, False)[0] in (0x7E00, 0x7FC0)
        hashes[name] = {
            "decoded": sha256(decoded),
            "inputs": sha256(bits),
            "nonfinite": sha256(found),
            "saturated": sha256(cast(f32(bits), numpy_type, True)),
        }
    text = json.dumps(hashes, indent=1)
    (HERE / "numbers.json").write_text(text + "\n")


check_oddities()
print("numbers.safetensors:", make_small(), "tensors")
make_halves()
print("numbers.json")
