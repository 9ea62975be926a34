"""The built-in local extractor: rules over sentences, no network and no model."""

from memoranda.engine.extraction.local.extractor import LocalExtractor

__all__ = ["LocalExtractor"]
