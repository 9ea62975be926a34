"""How a server behaves, whatever store and projects it serves."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1024 * 1024


class ServerSettings(BaseSettings):
    """The settings of a server; each has a variable ``MEMORANDA_SERVER_…`` of its name, which an argument overrides.

    ``default_project`` is that of the flat routes where no token names one. ``max_body_bytes`` is the largest request
    body that is read. ``flat_routes`` serves ``/api/v1/memory/…`` beside ``/api/v1/projects/{project_id}/memory/…``,
    ``native_routes`` the memory server's own paths under ``/api/v1``, ``docs`` the pages ``/docs`` and
    ``/openapi.json``. ``config_model_urls`` are the addresses of models, ``config_secrets`` the environment variables
    of keys, that a configuration may name which comes over HTTP (``*``: any).
    """

    model_config = SettingsConfigDict(frozen=True, env_prefix="MEMORANDA_SERVER_", extra="forbid")

    default_project: str = "default"
    max_body_bytes: int = Field(default=4 * MEBIBYTE, ge=1024)
    flat_routes: bool = True
    native_routes: bool = True
    docs: bool = True
    config_model_urls: tuple[str, ...] = ()
    config_secrets: tuple[str, ...] = ("LLM_API_KEY",)
