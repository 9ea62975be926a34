"""The built-in local extractor: rules over sentences, no network and no model."""

from __future__ import annotations

from collections.abc import Sequence

from memoranda.engine.extraction.items import Extraction, SourceTurn


class LocalExtractor:
    """Extracts by rules over sentences, without network or model; it would rather store less than junk."""

    name = "local"
    version = "1"

    def extract(self, turns: Sequence[SourceTurn], *, kinds: frozenset[str]) -> Extraction:
        """Give the items of the enabled `kinds` in the order of the turns; none means nothing to extract."""
        # The tables of seven languages are loaded by the first extraction: opening a store must not pay for them.
        from memoranda.engine.extraction.local.extractor import extract  # noqa: PLC0415

        return extract(turns, kinds=kinds, label=f"{self.name}/{self.version}")
