"""What a thread's policy says to its extractor: data in the thread's row and in each job, read leniently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from memoranda.threads.extraction_prompts import minimum_tokens

_UNLIMITED: Final = 10**9


class LinkMode(StrEnum):
    """When links are asked for."""

    NEVER = "DISABLED"
    DURING = "DURING_EXTRACTION"
    POST = "POST_EXTRACTION"


@dataclass(frozen=True, slots=True)
class ExtractorSettings:
    """How the messages of a thread are read. Limits are in tokens, below 1 without limit.

    ``inherit`` is what memories take over of their messages' metadata: True all, a list these keys.
    ``summary_frequency`` is how many new messages the running summary waits for.
    """

    extract: bool = True
    token_limit: int = 100_000
    instructions: str | None = None
    inherit: bool | Sequence[str] = True
    max_message_tokens: int = 15_000
    shortening_tokens: int = 30_000
    links: LinkMode = LinkMode.POST
    link_token_limit: int = 100_000
    link_instructions: str | None = None
    images: str = "disabled"
    summary: bool = True
    summary_frequency: int = -1

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> ExtractorSettings:
        """Read what a policy holds; what is absent or is not what it should be has its default."""
        default = cls()
        return cls(
            extract=stored.get("extract") is not False,
            token_limit=_number(stored, "token_limit", default.token_limit),
            instructions=_text(stored.get("instructions")),
            inherit=_inherit(stored.get("inherit", True)),
            max_message_tokens=_number(stored, "max_message_tokens", default.max_message_tokens),
            shortening_tokens=_number(stored, "shortening_tokens", default.shortening_tokens),
            links=next((mode for mode in LinkMode if mode.value == stored.get("links")), default.links),
            link_token_limit=_number(stored, "link_token_limit", default.link_token_limit),
            link_instructions=_text(stored.get("link_instructions")),
            images=_text(stored.get("images")) or default.images,
            summary=stored.get("summary") is not False,
            summary_frequency=_number(stored, "summary_frequency", default.summary_frequency),
        )

    def stored(self) -> dict[str, object]:
        """Return the form in which it is kept."""
        plain = {name: value for name, value in asdict(self).items() if value is not None}
        inherit = self.inherit if isinstance(self.inherit, bool) else list(self.inherit)
        return {**plain, "links": self.links.value, "inherit": inherit}

    def room(self, instructions: int) -> int:
        """Return how many tokens of messages go into one question beside its instructions."""
        if self.token_limit < 1:
            return _UNLIMITED
        return max(self.token_limit - instructions - _FRAME, _LEAST_ROOM)

    def check(self) -> None:
        """Raise ``ValueError`` for a limit in which no message can be asked about."""
        least = minimum_tokens(self.instructions, links=self.links is LinkMode.DURING)
        if 1 <= self.token_limit < least:
            raise ValueError(
                f"memory_extraction_token_limit is {self.token_limit}; the instructions alone need {least}: give at "
                f"least that, or 0 for no limit"
            )


_FRAME: Final = 100
_LEAST_ROOM: Final = 200


def _number(stored: Mapping[str, object], name: str, default: int) -> int:
    value = stored.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _inherit(value: object) -> bool | tuple[str, ...]:
    return tuple(str(key) for key in value) if isinstance(value, list | tuple) else value is not False
