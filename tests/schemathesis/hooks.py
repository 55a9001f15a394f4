"""Gives each request a unique Idempotency-Key.

The service rejects a key that was used with another body with 422. A schema cannot express this, and generated keys may repeat.
"""

import itertools
import re

import schemathesis

# Format of keys in the OpenAPI document.
ALLOWED = re.compile(r"[!-~]([ -~]*[!-~])?")
MAX_PREFIX_LENGTH = 200

numbers = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    key = headers.get("Idempotency-Key")
    if isinstance(key, str) and len(key) <= 255 and ALLOWED.fullmatch(key):
        headers["Idempotency-Key"] = f"{key[:MAX_PREFIX_LENGTH].rstrip()}.{next(numbers)}"
