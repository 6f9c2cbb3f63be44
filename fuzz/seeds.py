#!/usr/bin/env python3
"""Makes the seeds of the targets from the corpus in tests/data: one file a group and error."""

import base64
import json
import re
from pathlib import Path

here = Path(__file__).parent
data = here.parent / "tests" / "data"
seeds, seen = {}, set()
for name in ("expected", "matrix", "mutations"):
    for text in (data / f"{name}.jsonl").read_text().strip().split("\n"):
        line = json.loads(text)
        title = line.get("name") or line["file"].split("/")[-1]
        kind = (title.split("--")[0], line["verdict"], re.sub(r"[\d`'].*", "", line.get("detail", "")))
        if "parts" in line or kind in seen:
            continue
        payload = (data / "cases" / line["file"]).read_bytes() if "file" in line else base64.b64decode(line["b64"])
        if len(payload) < 700:
            seen.add(kind)
            seeds[title.replace(".safetensors", "").replace("/", "_")] = payload
for target in ("parse", "reference"):
    folder = here / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for title, payload in seeds.items():
        end = 8 + int.from_bytes(payload[:8], "little")
        header = b"h" + payload[8:end]
        (folder / title).write_bytes(header if len(payload) >= end else b"f" + payload)
folder = here / "seeds" / "text"
folder.mkdir(parents=True, exist_ok=True)
for i, text in enumerate(["", "plain", "é🎨", r"\"\\\/\b\f\n\r\t", r"\u00e9\ud83d\ude00", r"\ud83d", r"\u12", "\x1f", r"\x"]):
    (folder / str(i)).write_text(text)
