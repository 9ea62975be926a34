"""The reference of the thread API is what its docstrings give, and has every public name."""

from __future__ import annotations

import re

import pytest

import memoranda.threads
from tools import generate_reference


def test_the_page_is_what_the_docstrings_give() -> None:
    assert generate_reference.main(["--check"]) == 0


@pytest.fixture(scope="module")
def page() -> str:
    return generate_reference.page()


def test_every_public_name_has_its_entry(page: str) -> None:
    entries = set(re.findall(r"^### (?:class )?`(\w+)", page, re.MULTILINE))
    assert set(memoranda.threads.__all__) <= entries
    assert {"Event", "EventListener", "register_event_listeners"} <= entries


def test_the_page_says_nothing_of_where_objects_live(page: str) -> None:
    assert " at 0x" not in page
    assert "NotSet.NOT_SET" not in page


def test_another_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_reference.main(["--other"]) == 2
    assert "usage" in capsys.readouterr().err
