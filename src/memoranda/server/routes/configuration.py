"""A project's configuration and its runtime: store, apply, look, and the state of its queue."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from memoranda._version import __version__
from memoranda.engine.config import ProjectConfig, load_config
from memoranda.runtime.configuring import ConfigState, ProjectConfigs
from memoranda.sdk.errors import MemoryConfigError, MemoryNotProvisionedError
from memoranda.server.answers import answer
from memoranda.server.dependencies import Call, MemoryRoute, Right, TheCall, needs
from memoranda.server.documents import Tag, told
from memoranda.server.examples import CONFIG, RUNTIME
from memoranda.server.settings import ServerSettings

logger = logging.getLogger(__name__)

router = APIRouter(route_class=MemoryRoute)

IMAGE = f"memoranda/{__version__}"

Document = Annotated[dict[str, Any], Body(examples=[{"memory": {"log_level": "info"}}])]


_CONFIG: dict[str, Any] = told(Tag.CONFIGURATION, CONFIG)
_RUNTIME: dict[str, Any] = told(Tag.CONFIGURATION, RUNTIME)


@router.get("/config", **_CONFIG)
@needs(Right.READ_ALL, runtime=False)
def get_config(call: TheCall) -> Response:
    """Return the configuration that was stored last; ``pending`` says whether it has yet to be applied."""
    return answer(_told(_configs(call).state(call.principal.project_id)))


@router.put("/config", **_CONFIG)
@needs(Right.WRITE_ALL, runtime=False)
def put_config(call: TheCall, body: Document, request: Request) -> Response:
    """Store a configuration: the ``memory:`` document. It is in force once it is applied (``config/sync``)."""
    config = load_config(body["config"] if set(body) == {"config"} and isinstance(body["config"], dict) else body)
    check_outside_config(config, request.app.state.settings)
    state = _configs(call).store(call.principal.project_id, config)
    logger.info("config.stored", extra={"project_id": call.principal.project_id, "changes": state.changes})
    return answer({**_told(state), "warnings": config.warnings})


@router.post("/config/sync", **_CONFIG)
@needs(Right.WRITE_ALL, runtime=False)
def sync_config(call: TheCall) -> Response:
    """Put the stored configuration into force, on every server of the store."""
    configs, project_id = _configs(call), call.principal.project_id
    applied = configs.apply(project_id)
    logger.info("config.applied" if applied else "config.nothing_pending", extra={"project_id": project_id})
    return answer({**_told(configs.state(project_id)), "synced": applied})


@router.get("/runtime", **_RUNTIME)
@needs(Right.READ_ALL, runtime=False)
def get_runtime(call: TheCall) -> Response:
    """Say whether the project can be used, and what it waits for."""
    return answer(_runtime(call))


@router.post("/runtime", **_RUNTIME)
@needs(Right.WRITE_ALL, runtime=False)
def provision(call: TheCall) -> Response:
    """Make sure that the project is there: 202 when this made it, 200 when it was there."""
    made = call.host.provision(call.principal.project_id)
    return answer(_runtime(call), 202 if made else 200)


@router.post("/runtime/restart", **_RUNTIME)
@needs(Right.WRITE_ALL, runtime=False)
def restart(call: TheCall) -> Response:
    """Open the project anew in this process; calls under way end on what they have."""
    call.host.reload(call.principal.project_id)
    return answer(_runtime(call))


@router.get("/queueStats", **told(Tag.BACKGROUND, {"queued": 2, "running": 1, "failed": 0}))
@router.get("/worker/queueStats", include_in_schema=False)
@needs(Right.READ_ALL)
def queue_stats(call: TheCall) -> Response:
    """Return how much background work waits, runs, and has failed."""
    status = call.runtime.engine.background.status()
    return answer({"queued": status.pending, "running": status.running, "failed": status.failed})


def check_outside_config(config: ProjectConfig, settings: ServerSettings) -> None:
    """Refuse a configuration that would have this server send its secrets where its operator did not say.

    Whoever may configure a project is not who runs the server: a key of the server's environment goes only to the
    provider's own address, or to one of ``config_model_urls``, and only a key named in ``config_secrets``.
    """
    model = config.extraction_llm
    if model is None:
        return
    urls, secrets = settings.config_model_urls, settings.config_secrets
    if model.base_url is not None and "*" not in urls and model.base_url.rstrip("/") not in urls:
        raise MemoryConfigError(
            "memory.extraction_llm.base_url: this server sends requests to no address that its operator has not "
            "allowed (MEMORANDA_SERVER_CONFIG_MODEL_URLS); leave it out for the provider's own"
        )
    if model.api_key_secret is not None and "*" not in secrets and model.api_key_secret not in secrets:
        raise MemoryConfigError(
            f"memory.extraction_llm.api_key_secret: {model.api_key_secret[:60]!r} is not a secret that this server's "
            "operator has allowed (MEMORANDA_SERVER_CONFIG_SECRETS)"
        )


def _configs(call: Call) -> ProjectConfigs:
    call.host.provision(call.principal.project_id)
    return ProjectConfigs(call.host)


def _told(state: ConfigState) -> dict[str, object]:
    return {"config": state.document, "pending": state.pending is not None, "changes": state.changes}


def _runtime(call: Call) -> dict[str, object]:
    project_id = call.principal.project_id
    state, blocked_on, message = "ready", None, "ready"
    pending = False
    try:
        with call.host.runtime(project_id):
            pending = ProjectConfigs(call.host).state(project_id).pending is not None
    except MemoryNotProvisionedError as error:
        state, blocked_on, message = "failed", error.code, error.message
    if pending:
        message = "ready; a stored configuration waits to be applied (config/sync)"
    return {
        "state": state,
        "blocked_on": blocked_on,
        "message": message,
        "pending_config": pending,
        "memory_image": IMAGE,
        "resolved_memory_image": IMAGE,
    }
