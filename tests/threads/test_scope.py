"""Whose records a search sees."""

from __future__ import annotations

import pytest

from memoranda.engine.scope import Scope as EngineScope
from memoranda.threads.not_set import NOT_SET
from memoranda.threads.scope import (
    ResolvedScope,
    Scope,
    SearchScope,
    ThreadOwners,
    client_search_scope,
    merged_scope,
    thread_search_scope,
)

OWN = ThreadOwners("t", "u", "a")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (SearchScope("u"), ResolvedScope("u")),
        (SearchScope(None), ResolvedScope(None)),
        (SearchScope("u", "a"), ResolvedScope("u", "a")),
        (SearchScope("u", None), ResolvedScope("u", None)),
        (SearchScope("u", "a", exact_agent_match=False), ResolvedScope("u")),
        (SearchScope("u", thread_id="t"), ResolvedScope("u")),
        (SearchScope("u", thread_id="t", exact_thread_match=True), ResolvedScope("u", thread_id="t")),
        (SearchScope("u", thread_id=None, exact_thread_match=True), ResolvedScope("u", thread_id=None)),
    ],
    ids=str,
)
def test_a_client_reads_what_it_names(asked: SearchScope, found: ResolvedScope) -> None:
    assert client_search_scope(asked) == found


@pytest.mark.parametrize(
    "asked",
    [
        SearchScope(),
        SearchScope(agent_id="a"),
        SearchScope("u", exact_user_match=False),
        SearchScope(""),
        SearchScope("u", exact_thread_match=True),
        SearchScope("u", exact_agent_match=True),
    ],
    ids=str,
)
def test_a_client_that_names_no_user_or_no_id_for_an_exact_match_is_refused(asked: SearchScope) -> None:
    with pytest.raises(ValueError, match=r"_id|exact_user_match"):
        client_search_scope(asked)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (SearchScope(), ResolvedScope("u", "a")),
        (SearchScope(agent_id=None), ResolvedScope("u", None)),
        (SearchScope(exact_agent_match=False), ResolvedScope("u")),
        (SearchScope(exact_thread_match=True), ResolvedScope("u", "a", "t")),
        (SearchScope(thread_id="other", exact_thread_match=True), ResolvedScope("u", "a", "other")),
        (SearchScope(None), ResolvedScope(None, "a")),
    ],
    ids=str,
)
def test_a_thread_fills_in_its_own_ids(asked: SearchScope, found: ResolvedScope) -> None:
    assert thread_search_scope(asked, OWN) == found


def test_this_thread_means_it() -> None:
    assert thread_search_scope(SearchScope(), OWN, this_thread=True) == ResolvedScope("u", "a", "t")
    for asked in (SearchScope(thread_id="other"), SearchScope(exact_thread_match=False)):
        with pytest.raises(ValueError, match="this_thread"):
            thread_search_scope(asked, OWN, this_thread=True)


@pytest.mark.parametrize("asked", [SearchScope("other"), SearchScope(exact_user_match=False)], ids=str)
def test_a_thread_reads_another_user_only_when_the_client_allows_it(asked: SearchScope) -> None:
    with pytest.raises(ValueError, match="allow_cross_user"):
        thread_search_scope(asked, OWN)
    allowed = thread_search_scope(asked, OWN, allow_cross_user=True)
    assert allowed.user_id is (NOT_SET if asked.user_id is NOT_SET else asked.user_id)


def test_a_thread_without_a_user_reads_no_user() -> None:
    owners = ThreadOwners("t", None, None)
    assert thread_search_scope(SearchScope(), owners) == ResolvedScope(None, None)
    with pytest.raises(ValueError, match="allow_cross_user"):
        thread_search_scope(SearchScope("u"), owners)


def test_a_scope_is_said_once() -> None:
    scope = SearchScope("u")
    assert merged_scope(scope, SearchScope()) is scope
    assert merged_scope(Scope("u"), SearchScope()) == scope
    assert merged_scope(NOT_SET, scope) is scope
    with pytest.raises(ValueError, match="user_id"):
        merged_scope(scope, SearchScope("u"))
    with pytest.raises(ValueError, match="SearchScope"):
        merged_scope("u", SearchScope())  # type: ignore[arg-type]


def test_the_engine_is_told_any_none_and_a_value_apart() -> None:
    assert ResolvedScope("u", None, NOT_SET).to_engine() == EngineScope("u", "", None)
