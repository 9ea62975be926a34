"""Which turns belong to a tool exchange: the call and its results, which are worthless apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memoranda.engine.records import Turn
from memoranda.engine.rows import TurnRows

# Results follow their call at once, one turn a call; further away than this they are not of one exchange.
_REACH = 16


def is_tool_turn(turn: Turn) -> bool:
    """Return whether a turn calls tools or holds a result."""
    return bool(turn.tool_calls) or turn.tool_call_id is not None


def called_ids(turn: Turn) -> tuple[str, ...]:
    """Return the ids of a turn's tool calls, in order; calls without an id are left out."""
    ids = (call.get("id") for call in turn.tool_calls or ())
    return tuple(call_id for call_id in ids if isinstance(call_id, str))


def exchange_of(turn: Turn, session: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the exchange that ``turn`` is part of, from its session's turns in order: the call, then its results.

    A turn whose other half is not there stands alone.
    """
    call = turn if turn.tool_calls else _call_for(turn, session)
    if call is None:
        return (turn,)
    ids = set(called_ids(call))
    results: list[Turn] = []
    for later in session:
        if later.turn_seq <= call.turn_seq:
            continue
        if ids.intersection(called_ids(later)):
            break  # The same ids are used again: what follows belongs to that call.
        if later.tool_call_id in ids:
            results.append(later)
    return (call, *results)


def read_exchanges(
    found: Iterable[Turn], rows: TurnRows, admits: Callable[[Turn], bool]
) -> dict[str, tuple[Turn, ...]]:
    """Return the exchange of each tool turn among ``found``, by turn id; only of turns that the search ``admits``."""
    exchanges: dict[str, tuple[Turn, ...]] = {}
    for turn in found:
        if is_tool_turn(turn) and turn.id not in exchanges:
            first = max(1, turn.turn_seq - _REACH)
            session = rows.run(turn.user_id, turn.session_id, first, turn.turn_seq + _REACH)
            exchange = exchange_of(turn, [other for other in session if admits(other)])
            exchanges.update({member.id: exchange for member in (turn, *exchange)})
    return exchanges


def _call_for(result: Turn, session: Sequence[Turn]) -> Turn | None:
    calls = (turn for turn in session if turn.turn_seq < result.turn_seq and result.tool_call_id in called_ids(turn))
    return max(calls, key=lambda turn: turn.turn_seq, default=None)
