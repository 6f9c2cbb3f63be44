#!/usr/bin/env python3
"""Writes slices.json beside itself: arrays sliced by numpy, and the strides of their shapes.

    pip install numpy==2.4.6

A case is one line: the shape; the indices, an integer or [start, stop, step] each; and either the
shape of the result with its elements, which are numbered in row-major order, or numpy's exception
with the axis it blames (null if there are too many indices).
"""

import json
import random
import re
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CASES = 1500
EXTREMES = [-(2**63), -(2**63) + 1, -(2**31) - 1, 2**31, 2**32, 2**63 - 2, 2**63 - 1]


def some_shape(rng):
    rank = rng.choice([0] + [1] * 2 + [2] * 4 + [3] * 5 + [4] * 4 + [5] * 3)
    # Of all together 256 elements at most.
    largest = [0, 12, 9, 6, 4, 3][rank]
    dims = [rng.choice([1, rng.randint(2, largest), largest, largest]) for _ in range(rank)]
    if rank and rng.random() < 0.08:
        dims[rng.randrange(rank)] = 0
    return [min(dim, largest) for dim in dims]


def some_bound(rng, dim):
    kind = rng.random()
    if kind < 0.3:
        return None
    if kind < 0.34:
        return rng.choice(EXTREMES)
    return rng.randint(-dim - 2, dim + 2)


def some_step(rng):
    kind = rng.random()
    if kind < 0.35:
        return None
    if kind < 0.6:
        return 1
    if kind < 0.63:
        return rng.choice(EXTREMES)
    if kind < 0.64:
        return 0
    return rng.choice([-3, -2, -1, -1, 2, 3, 4])


def some_slice(rng, dim):
    """Mostly one that takes something, its bounds spelled in one of the ways that mean the same."""
    step = some_step(rng)
    if dim == 0 or rng.random() < 0.15:
        return slice(some_bound(rng, dim), some_bound(rng, dim), step)
    low, high = sorted(rng.choices(range(dim + 1), k=2))
    if low == high:
        low, high = 0, dim
    if step is None or step > 0:
        start = rng.choice([low, low - dim] + [None, -dim - 3] * (low == 0))
        stop = rng.choice([high, high - dim if high < dim else None, high + 3 * (high == dim)])
    else:
        start = rng.choice([high - 1, high - 1 - dim] + [None, dim + 2] * (high == dim))
        stop = rng.choice([low - 1, low - 1 - dim]) if low else rng.choice([None, -dim - 1])
    return slice(start, stop, step)


def some_index(rng, dim):
    kind = rng.random()
    if kind < 0.2:
        return slice(None)
    if kind < 0.32 and dim:
        return rng.randint(-dim, dim - 1)
    if kind < 0.34:
        return rng.choice([dim, -dim - 1, dim + rng.randint(1, 5), rng.choice(EXTREMES)])
    return some_slice(rng, dim)


def some_case(rng):
    shape = some_shape(rng)
    count = len(shape) if rng.random() < 0.6 else rng.randint(0, len(shape))
    indices = [some_index(rng, dim) for dim in shape[:count]]
    if count == len(shape) and rng.random() < 0.03:
        indices += [some_index(rng, 1) for _ in range(rng.randint(1, 2))]
    return shape, indices


def plain(index):
    return [index.start, index.stop, index.step] if isinstance(index, slice) else index


def line(shape, indices):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    try:
        result = array[tuple(indices)]
    except IndexError as error:
        axis = re.search(r"for axis (\d+)", str(error))
        assert axis or "too many indices" in str(error)
        outcome = ["IndexError", int(axis[1]) if axis else None]
    except ValueError as error:
        assert str(error) == "slice step cannot be zero"
        outcome = ["ValueError", next(i for i, index in enumerate(indices) if zero_step(index))]
    else:
        outcome = [list(np.shape(result)), np.ravel(result).tolist()]
    return [shape, [plain(index) for index in indices], *outcome]


def zero_step(index):
    return isinstance(index, slice) and index.step == 0


def strides(shape):
    """numpy's, in elements; of shapes without elements it says nothing but zeros."""
    return [shape, [stride // 8 for stride in np.empty(shape, np.uint64).strides]]


def make():
    rng = random.Random("slices")
    cases = []
    seen = set()
    while len(cases) < CASES:
        shape, indices = some_case(rng)
        found = line(shape, indices)
        text = json.dumps(found, separators=(",", ":"))
        # Of two faults it is not said which one is told.
        faults = sum(map(zero_step, indices)) + sum(
            isinstance(i, int) and not -dim <= i < dim for i, dim in zip(indices, shape)
        )
        if faults + (len(indices) > len(shape)) < 2 and text not in seen:
            seen.add(text)
            cases.append(text)
    shapes = [[], [1], [7], [2, 3], [3, 1], [1, 3], [4, 5, 6], [2, 1, 3, 1, 2], [256, 3, 7, 7]]
    shapes = [json.dumps(strides(shape), separators=(",", ":")) for shape in shapes]
    with open(HERE / "slices.json", "w", encoding="utf-8") as file:
        file.write('{"cases":[\n' + ",\n".join(cases))
        file.write('\n],"strides":[\n' + ",\n".join(shapes) + "\n]}\n")
    print("slices.json:", len(cases), "cases")


make()
