"""The memory server: HTTP routes over the runtime, with tenancy and access.

Its public names are loaded when they are first asked for: the command line names them without the ``server`` extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from memoranda.sdk.errors import MemoryNotSupportedError

if TYPE_CHECKING:
    from memoranda.server.access.accounts import AccountDraft, NewSecret
    from memoranda.server.access.administration import Administration, open_administration
    from memoranda.server.observability.logs import LogSettings
    from memoranda.server.schemas.service_accounts import ServiceAccountView
    from memoranda.server.starting import StartOptions, run_dev_server, run_server, run_worker

__all__ = [
    "AccountDraft",
    "Administration",
    "LogSettings",
    "NewSecret",
    "ServiceAccountView",
    "StartOptions",
    "open_administration",
    "run_dev_server",
    "run_server",
    "run_worker",
]

_HOMES = {
    "LogSettings": "memoranda.server.observability.logs",
    "StartOptions": "memoranda.server.starting",
    "run_dev_server": "memoranda.server.starting",
    "run_server": "memoranda.server.starting",
    "run_worker": "memoranda.server.starting",
    "AccountDraft": "memoranda.server.access.accounts",
    "Administration": "memoranda.server.access.administration",
    "NewSecret": "memoranda.server.access.accounts",
    "ServiceAccountView": "memoranda.server.schemas.service_accounts",
    "open_administration": "memoranda.server.access.administration",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "memoranda":
            raise
        raise MemoryNotSupportedError(
            f"this needs the server extra (there is no {error.name!r}): pip install 'memoranda[server]'"
        ) from error
