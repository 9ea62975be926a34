"""``save_taxonomic``, ``search_taxonomic``, ``get_taxonomic_term``, ``list_domains``."""

from __future__ import annotations

from tests.conformance.world import World, check, equal, has, holds


@check("save_taxonomic", "min")
def save_min(world: World) -> None:
    domain = world.id("billing")
    with world.bound() as memory:
        saved = memory.save_taxonomic(domain=domain, term="ARR", definition="Annual recurring revenue.")
        entry = memory.get_taxonomic_term(domain, "ARR")
        (chunk,) = memory.search_taxonomic("recurring revenue", domain=domain)
    equal((saved.domain, saved.term, saved.acknowledged), (domain, "ARR", True))
    has(entry, id=saved.id, domain=domain, term="ARR", definition="Annual recurring revenue.", visibility="org")
    equal(entry["user_id"], world.id("ada"))
    equal(chunk.content, f"{domain}/ARR: Annual recurring revenue.")
    equal(chunk.source, "taxonomic")


@check("save_taxonomic", "max")
def save_max(world: World) -> None:
    domain = world.id("law")
    with world.connect() as memory:
        memory.save_taxonomic(
            domain=domain,
            term="tort",
            definition="A wrong.",
            related_terms=["delict"],
            visibility="private",
            user_id=world.id("bob"),
            metadata={"a": 1},
        )
        entry = memory.get_taxonomic_term(domain, "tort", user_id=world.id("bob"), visibility="private")
        (chunk,) = memory.search_taxonomic("wrong", user_id=world.id("bob"))
    has(entry, definition="A wrong.", related_terms=["delict"], visibility="private", metadata={"a": 1})
    has(chunk.metadata, domain=domain, term="tort", related_terms=["delict"], metadata={"a": 1})


@check("save_taxonomic", "metadata-empty")
def metadata_empty(world: World) -> None:
    with world.bound() as memory:
        memory.save_taxonomic(domain=world.id("d"), term="t", definition="plain meaning", metadata={})
        (chunk,) = memory.search_taxonomic("plain meaning")
    holds("metadata" not in chunk.metadata, "an empty dict gives no slot")


@check("search_taxonomic", "min")
def search_min(world: World) -> None:
    with world.bound() as memory:
        for domain in ("one", "two"):
            memory.save_taxonomic(domain=world.id(domain), term="lynx", definition="A wild cat.")
        found = memory.search_taxonomic("cat")
    equal({chunk.metadata["domain"] for chunk in found}, {world.id("one"), world.id("two")})


@check("search_taxonomic", "max")
def search_max(world: World) -> None:
    with world.connect() as memory:
        for number in range(6):
            memory.save_taxonomic(
                domain=world.id("zoo"), term=f"cat {number}", definition="A wild cat.", user_id=world.id("bob")
            )
        memory.save_taxonomic(domain=world.id("home"), term="cat", definition="A cat.", user_id=world.id("bob"))
        found = memory.search_taxonomic("cat", world.id("bob"), world.id("zoo"), "org", 4)
    equal(len(found), 4)
    equal({chunk.metadata["domain"] for chunk in found}, {world.id("zoo")})


@check("get_taxonomic_term", "min")
def get_min(world: World) -> None:
    """The client asks for the domain and picks the term by itself: the whole domain must come."""
    domain = world.id("D")
    with world.bound() as memory:
        for number in range(60):
            memory.save_taxonomic(domain=domain, term=f"term {number}", definition=f"meaning {number}")
        for number in (0, 30, 59):
            equal(memory.get_taxonomic_term(domain, f"term {number}")["definition"], f"meaning {number}")


@check("get_taxonomic_term", "no-match")
def get_no_match(world: World) -> None:
    domain = world.id("D é/&")
    with world.connect() as memory:
        memory.save_taxonomic(domain=domain, term="T", definition="X", user_id=world.id("bob"))
        equal(memory.get_taxonomic_term(domain, "t", user_id=world.id("bob"), visibility="org"), None)
        equal(memory.get_taxonomic_term(domain, "T", user_id=world.id("bob"), visibility="private"), None)
        equal(memory.get_taxonomic_term(domain, "T", user_id=world.id("bob"))["definition"], "X")
        equal(memory.get_taxonomic_term(world.id("nowhere"), "T"), None)


@check("list_domains", "min")
def domains_min(world: World) -> None:
    with world.bound() as memory:
        for term in ("one", "two"):
            memory.save_taxonomic(domain=world.id("dom"), term=term, definition="x")
        equal(memory.list_domains().count(world.id("dom")), 1, "a domain is listed once")


@check("list_domains", "max")
def domains_max(world: World) -> None:
    with world.bound() as memory:
        memory.save_taxonomic(domain=world.id("shared"), term="t", definition="x")
        memory.save_taxonomic(domain=world.id("mine"), term="t", definition="x", visibility="private")
        domains = memory.list_domains(visibility="org")
    holds(world.id("shared") in domains, "an org term's domain is listed")
    holds(world.id("mine") not in domains, "a private term's domain is not among those of org")
