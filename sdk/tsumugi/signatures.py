"""What a function takes, asked without evaluating its annotations.

Python 3.14 evaluates annotations when they are asked for, and ``inspect.signature`` asks. Names
that are imported for type checkers alone are not there then.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def signature_of(function: Callable[..., object]) -> inspect.Signature:
    """Its parameters; an annotation that cannot be evaluated is a ``ForwardRef``.

    Raises:
        TypeError, ValueError: it is no function, or one that does not say what it takes.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)
