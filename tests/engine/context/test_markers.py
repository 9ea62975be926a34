"""The marks around recalled context."""

from __future__ import annotations

import pytest

from memoranda.engine.context.escape import for_chat, for_markdown, for_xml
from memoranda.engine.context.markers import (
    CLOSING,
    OPENING,
    contains_recalled_context,
    defuse_markers,
    strip_recalled_context,
)

_BLOCK = f"{OPENING}\nremembered\n{CLOSING}"


def test_recalled_context_is_recognised_and_taken_out() -> None:
    assert contains_recalled_context(f"before {_BLOCK} after")
    assert strip_recalled_context(f"before {_BLOCK} after") == "before  after"
    assert strip_recalled_context(f"a {_BLOCK} b {_BLOCK}") == "a  b"


def test_a_block_that_was_cut_off_counts_to_the_end() -> None:
    assert strip_recalled_context(f"hello {OPENING}\nremembered and then") == "hello"


def test_marks_without_an_end_and_long_gaps_are_read_once() -> None:
    # Looked at from each beginning to the end of the text, either would take hours.
    text = "<memory_context " * 200_000
    assert strip_recalled_context(text) == text
    assert defuse_markers("<" + " " * 2_000_000 + "memory") == "<" + " " * 2_000_000 + "memory"
    assert defuse_markers("< / memory_context>") == "&lt; / memory_context>"


def test_other_text_is_left_as_it_is() -> None:
    text = " the memory_context of <memory> "
    assert not contains_recalled_context(text)
    assert strip_recalled_context(text) == text


@pytest.mark.parametrize(
    "text", [OPENING, CLOSING, "</ memory_context >", "< /MEMORY_CONTEXT", "＜/memory_context＞", "<\n/memory_context>"]
)
@pytest.mark.parametrize("escape", [for_chat, for_xml, for_markdown])
def test_no_escaped_text_reads_as_a_mark(text: str, escape: object) -> None:
    assert callable(escape)
    assert not contains_recalled_context(escape(text) + CLOSING)
    assert "<" not in escape(text)
