#!/usr/bin/env python3
"""Writes the model with other weights, and the images on which they are tried, beside this file.

    pip install numpy==2.2.6 scikit-learn==1.7.2 safetensors==0.8.0
    python3 make_variants.py

- digits-f16, digits-bf16: weights and biases rounded to the nearest, ties to even.
- digits-int8: weights as integers from -127 to 127 with one scale for each output, biases as F32.
- held-out: the images that were not trained on, their labels, and for each of the four models what a
  forward pass gives for each image before the softmax.

All sums are made in float32, one product after the other, and the bias last; of integers the sum is
multiplied by the scale before that. So every machine with IEEE 754 arithmetic gets the same bits.
"""

import json
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from write_file import write_file

HERE = Path(__file__).parent
LAYERS = ["fc1", "fc2"]

model = load_file(HERE / "digits.safetensors")
with safe_open(HERE / "digits.safetensors", "numpy") as file:
    metadata = dict(sorted(file.metadata().items()))
normalization = json.loads(metadata["normalization"])

digits = load_digits()
_, images, _, labels = train_test_split(
    digits.data, digits.target, test_size=0.25, random_state=0, stratify=digits.target
)
images, labels = images.astype(np.uint8), labels.astype(np.uint8)
scale, offset = np.float32(normalization["scale"]), np.float32(normalization["offset"])
inputs = images.astype(np.float32) * scale + offset


def dense(x, weight, bias, scale):
    """One product after the other, for all images and outputs at once."""
    total = np.zeros((len(x), len(weight)), np.float32)
    for i in range(weight.shape[1]):
        total += x[:, i : i + 1] * weight[None, :, i]
    return total * scale + bias


def forward(layers):
    hidden = np.maximum(dense(inputs, *layers[0]), np.float32(0))
    logits = dense(hidden, *layers[1])
    assert logits.dtype == np.float32
    return logits


def bfloat16(values):
    """The upper halves, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def quantize(weight):
    """Integers, and what a step of them is worth in each row."""
    step = np.abs(weight).max(axis=1) / np.float32(127)
    return np.rint(weight / step[:, None]).astype(np.int8), step.astype(np.float32)


logits, variants = {}, {"f16": {}, "bf16": {}, "int8": {}}
one = np.float32(1)
logits["f32"] = forward([(model[f"{n}.weight"], model[f"{n}.bias"], one) for n in LAYERS])

layers = {name: [] for name in variants}
for name in LAYERS:
    weight, bias = model[f"{name}.weight"], model[f"{name}.bias"]
    for key, values in [("weight", weight), ("bias", bias)]:
        shape, tensor = list(values.shape), f"{name}.{key}"
        half, brain = values.astype(np.float16), bfloat16(values)
        variants["f16"][tensor] = ("F16", shape, half.tobytes())
        variants["bf16"][tensor] = ("BF16", shape, brain.tobytes())
    halves = [values.astype(np.float16).astype(np.float32) for values in (weight, bias)]
    layers["f16"].append((*halves, one))
    brains = [(bfloat16(v).astype(np.uint32) << 16).view(np.float32) for v in (weight, bias)]
    layers["bf16"].append((*brains, one))
    integers, step = quantize(weight)
    variants["int8"][f"{name}.weight"] = ("I8", list(weight.shape), integers.tobytes())
    variants["int8"][f"{name}.weight_scale"] = ("F32", [len(step)], step.tobytes())
    variants["int8"][f"{name}.bias"] = ("F32", list(bias.shape), bias.tobytes())
    layers["int8"].append((integers.astype(np.float32), bias, step))

for name, tensors in variants.items():
    logits[name] = forward(layers[name])
    accuracy = np.mean(logits[name].argmax(axis=1) == labels)
    pairs = {**metadata, "accuracy": f"{accuracy:.4f}"}
    write_file(HERE / f"digits-{name}.safetensors", tensors, pairs, sealed=True)

held_out = {
    "images": ("U8", list(images.shape), images.tobytes()),
    "labels": ("U8", list(labels.shape), labels.tobytes()),
}
for name, values in logits.items():
    held_out[f"logits.{name}"] = ("F32", list(values.shape), values.tobytes())
    print(f"{name}: accuracy {np.mean(values.argmax(axis=1) == labels):.4f}")
write_file(HERE / "held-out.safetensors", held_out, {"data": metadata["data"]}, sealed=True)
