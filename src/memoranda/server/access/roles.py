"""The roles of a project, under the names that are asked for and the names that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from memoranda.sdk.errors import MemoryBadRequestError


class Role(StrEnum):
    """What a service account may do; the values are stored, and told by every listing."""

    OWNER = "PROJECT_OWNER"
    DEVELOPER = "AGENT_DEVELOPER"
    READER = "PROJECT_MEMBER"


ASKED = {**{role.value: role for role in Role}, "PROJECT_READ_ONLY": Role.READER}
"""Each name that a caller may give."""

_OF_AN_ORGANISATION = frozenset({"ORG_OWNER", "ORG_GROUP_CREATOR", "ORG_ADMIN", "ORG_READ_ONLY"})


def read_roles(names: Sequence[str]) -> tuple[str, ...]:
    """Return the roles under their stored names, each once; ``MemoryBadRequestError`` for none or an unknown one."""
    if not names:
        raise MemoryBadRequestError(f"no role was given: name one of {_choice()}", code="INVALID_ROLE")
    for name in names:
        if name in _OF_AN_ORGANISATION:
            raise MemoryBadRequestError(
                f"role {name!r} is one of an organisation; a service account belongs to one project: name one of "
                f"{_choice()}",
                code="INVALID_ROLE",
            )
        if name not in ASKED:
            raise MemoryBadRequestError(f"there is no role {name[:40]!r}: name one of {_choice()}", code="INVALID_ROLE")
    return tuple(dict.fromkeys(ASKED[name].value for name in names))


def _choice() -> str:
    return "PROJECT_OWNER, AGENT_DEVELOPER, PROJECT_READ_ONLY"
