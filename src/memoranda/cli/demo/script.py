from __future__ import annotations


def run_demo(store: str | None, *, as_json: bool) -> None:
    raise NotImplementedError
