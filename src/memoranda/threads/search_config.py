"""What is done with the results of a search before they are handed out: reordered, pruned, cut to a budget."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from memoranda.threads.apis import ILlm, IReranker, ISearchConfig
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import is_integer

DEFAULT_MAX_RESULTS: Final = 10
DEFAULT_PROBE_POINTS: Final = 3
DEFAULT_PROTECTED_FRACTION: Final = 0.1


class PruningEvaluationMode(StrEnum):
    """Which results the pruner judges: all, or pairs at a few probe points.

    ``FAST`` and ``EXTENDED`` search for the place from which on everything is to be discarded; both are approximate.
    """

    FAST = "fast"
    EXTENDED = "extended"
    EXHAUSTIVE = "exhaustive"


class MemorySearchConfig(ISearchConfig):
    """Budgets for the formatted results, in tokens; omitted, ``None``, zero and below are no budget.

    ``token_budget`` is never exceeded; ``soft_token_budget`` is, by the result that reaches it.
    """

    __slots__ = ("soft_token_budget", "token_budget")

    def __init__(
        self, token_budget: int | NotSet | None = NOT_SET, soft_token_budget: int | NotSet | None = NOT_SET
    ) -> None:
        check_budget("token_budget", token_budget)
        check_budget("soft_token_budget", soft_token_budget)
        self.token_budget = token_budget
        self.soft_token_budget = soft_token_budget

    def __repr__(self) -> str:
        given = (f"{name}={value!r}" for name, value in _settings(self).items())
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _settings(self) == _settings(other)

    __hash__ = None  # type: ignore[assignment]  # equal by value, and it holds objects that need not be hashable

    def payload(self) -> dict[str, object]:
        """Return what is saved with a thread: the fields that are set; objects and models are not saved."""
        plain = {name: value for name, value in _settings(self).items() if name not in ("reranker", "pruner")}
        return {"type": "top_k", **{name: _plain(value) for name, value in plain.items()}}


class TopKMemorySearchConfig(MemorySearchConfig):
    """Take the best results, reordered by a reranker where there is one.

    ``max_results`` is 10 where neither it nor the call says. ``reranker_max_candidates`` reranks only that many, the
    rest stay behind them. Raises ``ValueError`` for numbers below 1 and ``TypeError`` for another reranker.
    """

    __slots__ = ("max_results", "reranker", "reranker_max_candidates")

    def __init__(
        self,
        token_budget: int | NotSet | None = NOT_SET,
        soft_token_budget: int | NotSet | None = NOT_SET,
        reranker: IReranker | NotSet | None = NOT_SET,
        reranker_max_candidates: int | NotSet = NOT_SET,
        max_results: int | NotSet | None = NOT_SET,
    ) -> None:
        super().__init__(token_budget, soft_token_budget)
        _check_reranker(reranker)
        check_positive("reranker_max_candidates", reranker_max_candidates)
        check_positive("max_results", max_results, optional=True)
        self.reranker = reranker
        self.reranker_max_candidates = reranker_max_candidates
        self.max_results = max_results


class PruningMemorySearchConfig(MemorySearchConfig):
    """Let a language model judge results and drop those that it would discard.

    The first ``protected_fraction`` (0.1) of them is never dropped. ``num_probe_points`` (3) bounds how many pairs are
    judged to begin with, and has no meaning with ``EXHAUSTIVE``. Raises ``ValueError`` for numbers out of range and
    ``TypeError`` for objects of another type.
    """

    __slots__ = (
        "evaluation_mode",
        "num_probe_points",
        "protected_fraction",
        "pruner",
        "reranker",
        "reranker_max_candidates",
    )

    def __init__(
        self,
        token_budget: int | NotSet | None = NOT_SET,
        soft_token_budget: int | NotSet | None = NOT_SET,
        reranker: IReranker | NotSet | None = NOT_SET,
        reranker_max_candidates: int | NotSet = NOT_SET,
        evaluation_mode: PruningEvaluationMode | NotSet = NOT_SET,
        num_probe_points: int | NotSet = NOT_SET,
        protected_fraction: float | NotSet = NOT_SET,
        *,
        pruner: ILlm,
    ) -> None:
        super().__init__(token_budget, soft_token_budget)
        _check_reranker(reranker)
        check_positive("reranker_max_candidates", reranker_max_candidates)
        check_positive("num_probe_points", num_probe_points)
        _check_pruning(evaluation_mode, num_probe_points, protected_fraction)
        if not callable(getattr(pruner, "generate", None)):
            raise TypeError(f"pruner is of type {type(pruner).__name__}; give an ILlm")
        self.reranker = reranker
        self.reranker_max_candidates = reranker_max_candidates
        self.evaluation_mode = evaluation_mode
        self.num_probe_points = num_probe_points
        self.protected_fraction = protected_fraction
        self.pruner = pruner

    def payload(self) -> dict[str, object]:
        """Return what is saved with a thread; the pruner is not, and opening it again needs one."""
        return {**super().payload(), "type": "pruning"}


def saved_search_config(payload: Mapping[str, object], pruner_llm: ILlm | None = None) -> MemorySearchConfig:
    """Read what ``payload`` saved, with the pruner to use.

    Raises ``ValueError`` for a pruning configuration when there is no pruner, and for values that cannot be.
    """
    known = {name: value for name, value in payload.items() if name in _SAVED}
    if payload.get("type") != "pruning":
        return TopKMemorySearchConfig(**known)  # type: ignore[arg-type]  # checked by the constructor
    if pruner_llm is None:
        raise ValueError(
            "the thread was saved with pruning, whose model is not saved; give pruner_llm or search_config"
        )
    if "evaluation_mode" in known:
        known["evaluation_mode"] = PruningEvaluationMode(str(known["evaluation_mode"]))
    return PruningMemorySearchConfig(**known, pruner=pruner_llm)  # type: ignore[arg-type]  # as above


def search_config_of(config: object, pruner_llm: ILlm | NotSet | None = NOT_SET) -> MemorySearchConfig:
    """Return the configuration that a client is made with.

    Raises ``ValueError`` when both it and ``pruner_llm`` are given and ``TypeError`` for another object.
    """
    if pruner_llm is not NOT_SET and pruner_llm is not None:
        if config is not NOT_SET and config is not None:
            raise ValueError("pruner_llm and search_config are both given; put the pruner in the search_config")
        return PruningMemorySearchConfig(pruner=pruner_llm)
    if config is NOT_SET or config is None:
        return TopKMemorySearchConfig()
    if not isinstance(config, MemorySearchConfig):
        raise TypeError(f"search_config is of type {type(config).__name__}; give a MemorySearchConfig")
    return config


def check_budget(name: str, value: object) -> None:
    """Raise ``ValueError`` for a budget that is neither an integer nor left out."""
    if value is not NOT_SET and value is not None and not is_integer(value):
        raise ValueError(f"{name} is {value!r}; give a number of tokens, or None for no budget")


def check_positive(name: str, value: object, *, optional: bool = False) -> None:
    """Raise ``ValueError`` for a value that is given and is no integer from 1 on; ``optional`` takes ``None`` too."""
    if value is NOT_SET or (optional and value is None):
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is {value!r}; give an integer of at least 1")


_SAVED: Final = frozenset(
    {
        "token_budget",
        "soft_token_budget",
        "reranker_max_candidates",
        "max_results",
        "evaluation_mode",
        "num_probe_points",
        "protected_fraction",
    }
)


def _check_reranker(reranker: object) -> None:
    if reranker is not NOT_SET and reranker is not None and not callable(getattr(reranker, "rerank", None)):
        raise TypeError(f"reranker is of type {type(reranker).__name__}; give an IReranker")


def _check_pruning(mode: object, probe_points: object, fraction: object) -> None:
    if mode is not NOT_SET and not isinstance(mode, PruningEvaluationMode):
        raise TypeError(f"evaluation_mode is {mode!r}; give a member of PruningEvaluationMode")
    if probe_points is not NOT_SET and mode is PruningEvaluationMode.EXHAUSTIVE:
        raise ValueError("num_probe_points has no meaning with EXHAUSTIVE, which judges every result; leave it out")
    if fraction is NOT_SET:
        return
    if not isinstance(fraction, int | float) or isinstance(fraction, bool) or not 0 <= fraction <= 1:
        raise ValueError(f"protected_fraction is {fraction!r}; give a number from 0 to 1")


def _settings(config: MemorySearchConfig) -> dict[str, object]:
    """Return the fields that are set, those of the base first."""
    names = [name for cls in reversed(type(config).__mro__) for name in getattr(cls, "__slots__", ())]
    return {name: value for name in names if (value := getattr(config, name)) is not NOT_SET}


def _plain(value: object) -> object:
    return value.value if isinstance(value, PruningEvaluationMode) else value
