#!/usr/bin/env python3
"""Trains a small classifier of handwritten digits and writes digits.safetensors beside this file.

    pip install numpy==2.2.6 scikit-learn==1.7.2 safetensors==0.8.0
    python3 make_model.py

The same bytes come out on every run with these versions. The Python package reads the file back.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from write_file import write_file

SCALE = 0.0625  # pixels are 0 to 16

digits = load_digits()
x_train, x_test, y_train, y_test = train_test_split(
    digits.data * SCALE, digits.target, test_size=0.25, random_state=0, stratify=digits.target
)
model = MLPClassifier(hidden_layer_sizes=(32,), alpha=1e-3, max_iter=500, random_state=0)
model.fit(x_train, y_train)
accuracy = model.score(x_test, y_test)

# Row-major [out, in], as PyTorch keeps the weights of a linear layer.
tensors = {}
for layer, (weight, bias) in enumerate(zip(model.coefs_, model.intercepts_), 1):
    tensors[f"fc{layer}.bias"] = bias.astype("<f4")
    tensors[f"fc{layer}.weight"] = np.ascontiguousarray(weight.T.astype("<f4"))

metadata = {
    "accuracy": f"{accuracy:.4f}",
    "classes": json.dumps([str(label) for label in model.classes_]),
    "data": "Optical Recognition of Handwritten Digits, UCI, CC BY 4.0, via scikit-learn",
    "description": "8x8 digits, 64-32-10, ReLU, softmax",
    "format": "pt",
    "normalization": json.dumps({"scale": SCALE, "offset": 0.0}),
}

path = Path(__file__).with_name("digits.safetensors")
write_file(path, {n: ("F32", list(t.shape), t.tobytes()) for n, t in tensors.items()}, metadata)

again = load_file(path)
assert again.keys() == tensors.keys()
assert all(np.array_equal(again[name], tensors[name]) for name in tensors)
print(f"accuracy {accuracy:.4f}, {path.stat().st_size} bytes, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}")
