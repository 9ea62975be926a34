"""What the client makes of our errors, and limits of the server."""

from __future__ import annotations

from tests.conformance.world import World, check, equal, fails, holds


@check("errors", "wrong-token")
def wrong_token(world: World) -> None:
    token_of_ours = world.way.token
    if token_of_ours is None:
        with world.connect(service_account_token="anything") as memory:  # an open server asks nobody
            equal(memory.search_semantic("x", world.id("nobody")), [])
        return
    for token in ("nonsense", token_of_ours[:-2] + "xx", "ae_sa_sk_nothing"):
        with world.connect(service_account_token=token) as memory:
            calls = (
                lambda m=memory: m.record_turn(role="user", content="x"),
                lambda m=memory: m.search_semantic("x"),
                lambda m=memory: m.get_semantic("x"),
                lambda m=memory: m.save("tickets", "x"),
                lambda m=memory: m.list_domains(),
            )
            for call in calls:
                error = fails(world.errors.MemoryAuthError, call, status=401)
                holds(token not in str(error), "the token is not echoed")


@check("errors", "no-token")
def no_token(world: World) -> None:
    if not world.way.guarded:
        return
    with world.sdk.Memory(base_url=world.way.base_url, project_id=world.way.project_id or "") as memory:
        fails(world.errors.MemoryAuthError, lambda: memory.build_context("x", user_id="ada"), status=401)


@check("errors", "other-project")
def other_project(world: World) -> None:
    if not world.way.guarded:
        return
    with world.connect(project_id=world.way.other_project_id) as memory:
        for call in (
            lambda: memory.search_semantic("x"),
            lambda: memory.get_semantic("x"),
            lambda: memory.record_turn(role="user", content="x"),
        ):
            fails(world.errors.MemoryAuthError, call, status=403)
    with world.connect(project_id="no such project") as memory:
        fails(world.errors.MemoryAuthError, lambda: memory.search_semantic("x"), status=403)


@check("errors", "wrong-place")
def wrong_place(world: World) -> None:
    """A path that is not ours: a hint on the core routes, an error on lists, none on the getters."""
    with world.connect(base_url=f"{world.way.base_url}/elsewhere") as memory:
        error = fails(world.errors.MemoryRouteNotFoundError, lambda: memory.search_semantic("x"), status=404)
        fails(world.errors.MemoryBadRequestError, lambda: memory.list_episodes("ada"), status=404)
        equal(memory.get_semantic("x"), None)
        holds("project" in str(error).lower(), f"the hint is about the project id: {error}")


@check("errors", "both-route-shapes")
def both_shapes(world: World) -> None:
    """One server serves both shapes; what is written through one is read through the other."""
    project = world.way.project_id or ("default" if not world.way.guarded else None)
    if project is None:
        return
    with world.bound() as memory, world.connect(project_id=project) as scoped:
        memory.save_semantic(text="a tern", label="tern")
        equal(world.bind(scoped, "ada").get_semantic("tern")["text"], "a tern")


@check("errors", "limits")
def limits(world: World) -> None:
    wrong = world.errors.MemoryBadRequestError
    with world.bound() as memory:
        fails(wrong, lambda: memory.search_semantic("x", top_k=501), "top_k")
        fails(wrong, lambda: memory.search_semantic("x", top_k=0), "top_k")
        fails(wrong, lambda: memory.search_semantic("", top_k=5), "query")
        fails(wrong, lambda: memory.list_episodes(limit=-1), "limit")
        fails(wrong, lambda: memory.save_semantic(text="", label="l"), "text")
        equal(memory.search_semantic("x", top_k=500), [])


@check("errors", "wrong-types")
def wrong_types(world: World) -> None:
    """What the client does not check is answered with a text that names the field."""
    wrong = world.errors.MemoryBadRequestError
    with world.bound() as memory:
        fails(wrong, lambda: memory.record_turn(role=5, content="x"), "role", status=422)
        fails(wrong, lambda: memory.record_turn(role="user", content={"a": 1}), "content", status=422)
        fails(wrong, lambda: memory.search_semantic("x", top_k="many"), "top_k", status=422)
        fails(wrong, lambda: memory.build_context("x", enabled_sources={"bogus"}), "bogus")
        fails(wrong, lambda: memory.build_context("x", enabled_sources="stm"), "enabled_sources")


@check("errors", "update_existing")
def update_existing(world: World) -> None:
    with world.bound() as memory:
        fails(
            world.errors.MemoryNotSupportedError,
            lambda: memory.save_procedure(procedure="p", description="d", content="c", update_existing=True),
        )


@check("errors", "nobody-listens")
def nobody_listens(world: World) -> None:
    with world.connect(base_url="http://127.0.0.1:9") as memory:
        error = fails(world.errors.MemoryConnectionError, lambda: memory.save("tickets", "x"))
        equal(error.status, None)
