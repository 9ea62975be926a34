"""Neighbouring turns lend each other part of their score."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoranda.engine.records import Turn
from memoranda.engine.retrieval.neighbours import Run, missing_runs, smooth
from memoranda.engine.retrieval.settings import NeighbourSettings
from memoranda.engine.rows import ScoredKey

_TIME = datetime(2026, 5, 10, tzinfo=UTC)
_SETTINGS = NeighbourSettings(shares=(0.5, 0.25))


def _turn(seq: int, *, user: str = "anna", session: str = "s", key: int | None = None) -> Turn:
    return Turn(
        id=f"{user}-{session}-{seq}",
        key=seq if key is None else key,
        user_id=user,
        session_id=session,
        turn_seq=seq,
        role="user",
        content="text",
        created_at=_TIME,
        event_time=_TIME,
    )


def _turns(*turns: Turn) -> dict[int, Turn]:
    return {turn.key: turn for turn in turns}


def test_each_distance_lends_its_share_of_the_better_neighbour() -> None:
    turns = _turns(*(_turn(seq) for seq in range(1, 6)))
    own = [ScoredKey(1, 0.2), ScoredKey(2, 0.4), ScoredKey(3, 1.0), ScoredKey(4, 0.6), ScoredKey(5, 0.1)]
    scores = {item.key: item.score for item in smooth(own, turns, _SETTINGS)}
    assert scores[3] == pytest.approx(1.0 + 0.5 * 0.6 + 0.25 * 0.2)


def test_a_turn_that_no_leg_found_comes_in_beside_one_that_was() -> None:
    ranked = smooth([ScoredKey(1, 1.0)], _turns(_turn(1), _turn(2), _turn(4)), _SETTINGS)
    assert ranked == [ScoredKey(1, 1.0), ScoredKey(2, 0.5)]


def test_a_found_turn_stays_even_when_its_score_is_zero() -> None:
    assert smooth([ScoredKey(1, 0.0)], _turns(_turn(1), _turn(2)), _SETTINGS) == [ScoredKey(1, 0.0)]


def test_nothing_is_lent_between_users_or_sessions() -> None:
    turns = _turns(_turn(1, key=1), _turn(2, user="bert", key=2), _turn(2, session="t", key=3))
    assert smooth([ScoredKey(1, 1.0)], turns, _SETTINGS) == [ScoredKey(1, 1.0)]


def test_a_negative_score_is_not_lent() -> None:
    own = [ScoredKey(2, 0.3), ScoredKey(1, -0.4)]
    assert smooth(own, _turns(_turn(1), _turn(2)), _SETTINGS)[0] == ScoredKey(2, 0.3)


def test_no_shares_change_nothing() -> None:
    own = [ScoredKey(2, 0.3), ScoredKey(1, 0.2)]
    assert smooth(own, _turns(_turn(1), _turn(2)), NeighbourSettings(shares=())) == own


def test_missing_runs_join_and_stay_within_their_session() -> None:
    found = [_turn(1), _turn(4), _turn(9, session="t")]
    runs = missing_runs(found, found, _SETTINGS)
    assert runs == [Run("anna", "s", 2, 6), Run("anna", "t", 7, 11)]


def test_no_run_is_read_where_everything_is_known() -> None:
    known = [_turn(seq) for seq in range(1, 6)]
    assert missing_runs([known[2]], known, _SETTINGS) == []
