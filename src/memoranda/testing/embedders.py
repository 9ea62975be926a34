"""An embedder without a model: texts that share words are near each other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class HashedEmbedder:
    """Counts words into ``dimension`` buckets. ``refuses`` may raise for a text; ``calls`` keeps what was embedded."""

    dimension: int = 64
    model_id: str = "hashed-words"
    fingerprint: str = "1"
    max_input_tokens: int = 512
    refuses: Callable[[str], None] | None = None
    calls: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> list[float]:
        self.calls.append(text)
        if self.refuses is not None:
            self.refuses(text)
        counts = [0.0] * self.dimension
        for word in _WORD.findall(text.casefold()) or [text]:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            counts[int.from_bytes(digest, "big") % self.dimension] += 1.0
        length = sum(count * count for count in counts) ** 0.5
        return [count / length for count in counts]
