"""The page of the routes: made from the OpenAPI document, with nothing on it that comes from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

router = APIRouter()

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:.7rem;overflow:auto}"
    "summary{cursor:pointer;padding:.2rem 0}h2{margin:1.6rem 0 .3rem}b{display:inline-block;width:4.5rem}"
)
_SUCCESSES = ("200", "201", "202")


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Show every route with its description, an example and its errors."""
    return HTMLResponse(_page(request.app.openapi()), headers={"Content-Security-Policy": _POLICY})


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def _page(document: Mapping[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            group = (operation.get("tags") or ["other"])[0]
            groups.setdefault(group, []).append("".join(_operation(method, path, operation, document)))
    listed = "".join(f"<h2>{escape(group)}</h2>{''.join(entries)}" for group, entries in groups.items())
    title = f"{escape(document['info']['title'])} {escape(document['info']['version'])}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1><p>{escape(document['info'].get('description', ''))}</p>"
        f'<p>For machines: <a href="/openapi.json">openapi.json</a></p>{listed}</html>'
    )


def _operation(method: str, path: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b>{method.upper()}</b><code>{escape(path)}</code></summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    names = [f"<code>{escape(each['name'])}</code> ({each['in']})" for each in operation.get("parameters", ())]
    if names:
        yield f"<p>Parameters: {', '.join(names)}</p>"
    body = _example(operation.get("requestBody", {}), document)
    if body is not None:
        yield f"<p>Body:</p>{_shown(body)}"
    for status, response in operation["responses"].items():
        example = _example(response, document) if status in _SUCCESSES else None
        yield f"<p>{status}: {escape(response.get('description', ''))}</p>"
        yield "" if example is None else _shown(example)
    yield "</details>"


def _example(holder: Mapping[str, Any], document: Mapping[str, Any]) -> object:
    for media in holder.get("content", {}).values():
        if "example" in media:
            return media["example"]
        schema = media.get("schema", {})
        name = schema.get("$ref", "").rpartition("/")[2]
        schema = document["components"]["schemas"].get(name, schema)
        if schema.get("examples"):
            return schema["examples"][0]
    return None


def _shown(example: object) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=2, ensure_ascii=False)
    return f"<pre>{escape(text)}</pre>"
