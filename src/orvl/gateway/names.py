"""Whether two names are of one model, as hosts write them in many ways."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

DATE = re.compile(r"(?:20\d\d-?\d\d-?\d\d|(?<=-)\d\d-\d\d$|(?<![\w.])\d{3,4}(?![\w.]))")
SIZE = re.compile(r"a?\d+(?:x\d+)?[bm]")
FORMS = {
    *("instruct", "chat", "it", "latest", "preview", "exp", "hf", "gguf", "free", "nitro", "floor", "exacto"),
    *("online", "beta", "extended", "fp4", "fp8", "fp16", "bf16", "int4", "int8", "awq", "gptq", "nvfp4", "tee"),
}


@lru_cache(maxsize=1024)
def is_same_model(asked: str, served: str) -> bool:
    """A maker's name, the order of words, and what only one of the two tells (date, size, form) do not matter."""
    one, other = _parts(asked), _parts(served)
    return one[0] == other[0] and all(not a or not b or a == b for a, b in zip(one[1:], other[1:], strict=True))


def _parts(name: str) -> tuple[Counter[str], str, Counter[str]]:
    """The words that name the model, its date, and its size."""
    plain = name.lower().rsplit("/", 1)[-1].replace("_", "-").replace("@", "-").replace(":", "-")
    date = "".join(found.replace("-", "") for found in DATE.findall(plain))
    words = [word for word in re.split(r"[-. ]+", DATE.sub("", plain)) if word and word not in FORMS]
    sizes = [word for word in words if SIZE.fullmatch(word)]
    return Counter(word for word in words if word not in sizes), date, Counter(sizes)
