"""Gives each request its own Idempotency-Key.

A key that came with another body before is refused with 422. No schema can say so, and generated keys are short enough to repeat.
"""

import itertools
import re

import schemathesis

# What the document allows as a key.
ALLOWED = re.compile(r"[!-~]([ -~]*[!-~])?")
KEPT_CHARACTERS = 200

numbers = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    key = headers.get("Idempotency-Key")
    if isinstance(key, str) and len(key) <= 255 and ALLOWED.fullmatch(key):
        headers["Idempotency-Key"] = f"{key[:KEPT_CHARACTERS].rstrip()}.{next(numbers)}"
