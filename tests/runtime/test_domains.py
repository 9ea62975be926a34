"""Domains: a user sees their own and everyone's, never those that another keeps private."""

from __future__ import annotations

from pathlib import Path

from memoranda import Memory, MemoryRequestContext


def test_domains_of_others_private_terms_are_not_shown(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        ann, bob = (memory.bind(MemoryRequestContext(user_id=user)) for user in ("ann", "bob"))
        for user, name in ((ann, "ann"), (bob, "bob")):
            for visibility in ("private", "org", "shared"):
                user.save_taxonomic(domain=f"{name}-{visibility}", term="t", definition="d", visibility=visibility)
        everyones = {"ann-org", "ann-shared", "bob-org", "bob-shared"}
        assert set(ann.list_domains()) == everyones | {"ann-private"}
        assert set(bob.list_domains()) == everyones | {"bob-private"}
        assert ann.list_domains("private") == ["ann-private"]
        assert ann.list_domains("org") == ["ann-org", "bob-org"]
        assert set(memory.list_domains()) == everyones | {"ann-private", "bob-private"}
