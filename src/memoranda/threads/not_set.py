"""The default of optional arguments: omitted, which is not the same as ``None``."""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeVar

T = TypeVar("T")


class NotSet(Enum):
    """The type of ``NOT_SET``; an enum, so that ``is`` narrows and copies and pickles stay the one object."""

    NOT_SET = "NOT_SET"

    def __repr__(self) -> str:
        return "NOT_SET"


NOT_SET: Final = NotSet.NOT_SET
"""Omitted: use the default, or keep what is stored. ``None`` says unscoped, cleared or without limit instead."""


def first_set(*values: T | NotSet, default: T) -> T:
    """Return the first value that is not ``NOT_SET``, else the default; ``None`` is a value."""
    for value in values:
        if value is not NOT_SET:
            return value
    return default
