"""The local checks under their other address."""

from memoranda.sdk.validation import (
    require_positive_max_tokens,
    require_session_for_stm,
    require_valid_format_style,
    require_valid_sources,
)

__all__ = [
    "require_positive_max_tokens",
    "require_session_for_stm",
    "require_valid_format_style",
    "require_valid_sources",
]
