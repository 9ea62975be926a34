"""The public surface: names, signatures, what an import loads. A change here is a change that users see."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import memoranda
from memoranda import AsyncMemory, Memory
from memoranda.sdk._management import NOT_GIVEN

SHARED_NAMES = set(
    """
    Memory AmbientIdentityRuntime MemoryRequestContext MemoryRuntime MemoryClientError MemoryIdentityError
    MemoryAPIError MemoryAuthError MemoryBadRequestError MemoryConnectionError MemoryNotProvisionedError
    MemoryNotSupportedError MemoryRouteNotFoundError MemoryServerError WriteTurnResult CreateSemanticResult
    BulkCreateSemanticResult CreateEpisodicResult CreateTaxonomicResult CreateProceduralResult
    CreateUserContextResult CreateSnapshotResult PromoteSnapshotResult DeleteResult InternalStateResult
    ISGenerationResult MemorySource SearchSource RetrievalMode FormatStyle SourceSpec MemoryChunk
    SourceOutcome ContextMetadata ContextResponse TagScalar CustomMemorySaveResult RetrievedCustomMemory
    CustomMemoryRetrieveResult
    """.split()
)

OUR_NAMES = set(
    """
    AgentHost AsyncAgentHost AsyncMemory BreakerEntry BulkItemResult ChangeEntry ChangePage ChunkExplanation CustomInput
    DeletionReport
    EpisodicInput FailureEntry FailurePage LegScore MemoryConfigError MemoryConflictError MemoryCrudClient
    MemoryEmbedderMismatchError MemoryEntry MemoryInput MemoryManagement MemoryNotFoundError MemoryPage
    MemoryReplyNotRecordedError MemoryStoreError MemoryUpdate ProceduralInput SemanticInput StatusReport
    TaxonomicInput TurnEntry TurnInput TurnPage __version__
    """.split()
)

# The methods of the shared contract: every parameter with its kind and its default.
SHARED_METHODS = {
    "bind": "ctx",
    "build_context": (
        "query, user_id=None, session_id=None, visibility=None, metadata_filter=None, enabled_sources=None, "
        "*, thread_id=None, max_tokens=None, format_style=None, include_memories=False"
    ),
    "build_context_from_sources": (
        "query, sources, *, user_id=None, session_id=None, visibility=None, rerank=False, thread_id=None, "
        "max_tokens=None, format_style=None, include_memories=False"
    ),
    "close": "",
    "discover_procedures": (
        "query, user_id=None, *, visibility=None, tags=None, top_k=10, similarity_threshold=0.0, metadata_filter=None"
    ),
    "get_procedure": "procedure_name, *, user_id=None, visibility=None, include_deleted=False",
    "get_semantic": "label, user_id=None, visibility=None",
    "get_taxonomic_term": "domain, term, user_id=None, visibility=None",
    "list_domains": "visibility=None",
    "list_episodes": "user_id=None, visibility=None, session_id=None, limit=20",
    "record_turn": (
        "*, role, content=None, session_id=None, tool_calls=None, tool_call_id=None, tool_name=None, "
        "is_error=False, model_name=None, metadata=None, idempotency_key=None"
    ),
    "retrieve": "memory_type, query, *, tags=None, top_k=10",
    "save": "memory_type, content, *, tags=None, contextual_metadata=None",
    "save_episode": (
        "*, title, content, user_id=None, summary=None, session_id=None, participants=None, tags=None, "
        "visibility='private', metadata=None, agent_id=None"
    ),
    "save_procedure": (
        "*, procedure, description, content, user_id=None, steps=None, resources=None, allowed_tools=None, "
        "compatibility=None, license=None, trigger_conditions=None, tags=None, visibility='private', "
        "agent_id=None, extraction_source=None, source_format=None, source_path=None, metadata=None, "
        "update_existing=False"
    ),
    "save_semantic": (
        "*, text, label, user_id=None, source='agent', visibility='private', metadata=None, upsert=True, agent_id=None"
    ),
    "save_taxonomic": "*, domain, term, definition, related_terms=None, visibility='org', user_id=None, metadata=None",
    "search": (
        "query, *, sources=None, top_k=10, user_id=None, visibility=None, session_id=None, domain=None, "
        "tags=None, similarity_threshold=0.0, metadata_filter=None"
    ),
    "search_episodes": "query, user_id=None, visibility=None, session_id=None, top_k=50",
    "search_semantic": "query, user_id=None, visibility=None, top_k=50",
    "search_taxonomic": "query, user_id=None, domain=None, visibility=None, top_k=50",
}

# What we add to them, keyword-only and after everything else.
OUR_PARAMETERS = {
    "build_context": "mode top_k query_embedding include_superseded as_of explain",
    "build_context_from_sources": "query_embedding include_superseded as_of explain",
    "discover_procedures": "mode query_embedding include_superseded as_of explain",
    "get_procedure": "as_of",
    "get_semantic": "as_of",
    "get_taxonomic_term": "as_of",
    "list_episodes": "include_superseded as_of",
    "record_turn": "timestamp ttl_days",
    "retrieve": "visibility mode query_embedding include_superseded as_of explain",
    "save": "namespace key visibility timestamp ttl_days idempotency_key embedding",
    "save_episode": "timestamp ttl_days idempotency_key embedding",
    "save_procedure": "timestamp ttl_days idempotency_key embedding",
    "save_semantic": "timestamp ttl_days idempotency_key embedding",
    "save_taxonomic": "timestamp ttl_days idempotency_key embedding",
    "search": "mode query_embedding include_superseded as_of explain",
    "search_episodes": "mode query_embedding include_superseded as_of explain",
    "search_semantic": "mode query_embedding include_superseded as_of explain",
    "search_taxonomic": "mode query_embedding include_superseded as_of explain",
}

OUR_METHODS = {
    "changes": "*, after=None, limit=100, wait=0.0",
    "delete_memory": "memory_id",
    "delete_session": "session_id, *, user_id=None",
    "delete_turn": "turn_id",
    "delete_user": "user_id",
    "discard_failures": "ids=None, *, failure_class=None, everything=False",
    "get_failure": "failure_id",
    "get_memory": "memory_id, *, as_of=None",
    "get_turn": "turn_id",
    "history": "memory_id",
    "list_failures": "*, failure_class=None, limit=50, cursor=None",
    "list_memories": (
        "*, kind=None, user_id=None, agent_id=None, session_id=None, visibility=None, metadata_filter=None, "
        "include_superseded=False, as_of=None, limit=50, cursor=None"
    ),
    "list_turns": "session_id=None, *, user_id=None, limit=100, cursor=None",
    "open": (
        "path_or_url='memory.db', *, project_id='default', config=None, embedder='default', llm=None, "
        "reranker=None, worker=True, clock=None"
    ),
    "promote": "session_id=None",
    "record_turns": "turns, *, session_id=None",
    "retry_failures": "ids=None, *, failure_class=None",
    "save_many": "items, *, session_id=None",
    "status": "",
    "update_memory": (
        "memory_id, *, content=None, label=None, visibility=None, metadata=NOT_GIVEN, fields=None, "
        "timestamp=None, ttl_days=NOT_GIVEN, embedding=None"
    ),
    "wait_until_idle": "timeout=None, promote=True",
}


def parameters(method: str, facade: type = Memory) -> list[inspect.Parameter]:
    bound = inspect.signature(getattr(facade, method)).parameters.values()
    return [each.replace(annotation=inspect.Parameter.empty) for each in bound if each.name != "self"]


def written(text: str) -> list[inspect.Parameter]:
    return list(inspect.signature(eval(f"lambda {text}: None", {"NOT_GIVEN": NOT_GIVEN})).parameters.values())


def test_public_names() -> None:
    assert set(memoranda.__all__) == SHARED_NAMES | OUR_NAMES
    assert len(memoranda.__all__) == len(set(memoranda.__all__))
    assert set(memoranda.__all__) <= set(dir(memoranda))


@pytest.mark.parametrize("name", sorted(SHARED_NAMES | OUR_NAMES))
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(memoranda, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'MemoryClient'"):
        memoranda.MemoryClient  # noqa: B018 - reading it is the test


@pytest.mark.parametrize("method", SHARED_METHODS)
def test_shared_methods_keep_every_parameter(method: str) -> None:
    expected = written(SHARED_METHODS[method])
    assert parameters(method)[: len(expected)] == expected


@pytest.mark.parametrize("method", SHARED_METHODS)
def test_what_we_add_is_optional_and_keyword_only(method: str) -> None:
    added = parameters(method)[len(written(SHARED_METHODS[method])) :]
    assert [each.name for each in added] == OUR_PARAMETERS.get(method, "").split()
    assert all(each.kind is each.KEYWORD_ONLY and each.default in (None, False) for each in added)


def test_our_methods() -> None:
    public = {name for name in dir(Memory) if not name.startswith("_")}
    assert public - set(SHARED_METHODS) == set(OUR_METHODS)


@pytest.mark.parametrize("method", OUR_METHODS)
def test_our_methods_keep_their_parameters(method: str) -> None:
    assert parameters(method) == written(OUR_METHODS[method])


def test_every_public_method_says_what_it_does() -> None:
    assert [name for name in SHARED_METHODS | OUR_METHODS if not inspect.getdoc(getattr(Memory, name))] == []


def test_the_asynchronous_facade_has_the_same_surface() -> None:
    public, twins = ({name for name in dir(each) if not name.startswith("_")} for each in (Memory, AsyncMemory))
    assert twins == public | {"aclose"}


@pytest.mark.parametrize("method", ["__init__", *SHARED_METHODS, *OUR_METHODS])
def test_the_asynchronous_facade_has_the_same_parameters(method: str) -> None:
    assert parameters(method, AsyncMemory) == parameters(method)


@pytest.mark.parametrize("method", [*SHARED_METHODS, *OUR_METHODS, "aclose"])
def test_what_may_wait_is_a_coroutine_and_says_what_it_does(method: str) -> None:
    twin = getattr(AsyncMemory, method)
    assert inspect.iscoroutinefunction(twin) == (method not in {"bind", "open"})
    assert inspect.getdoc(twin)


def test_the_facade_does_not_load_an_event_loop() -> None:
    code = "import sys; from memoranda import Memory; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_a_bare_import_loads_no_dependency() -> None:
    code = "import sys, memoranda; print(*(name for name in ('pydantic', 'httpx') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_facade_does_not_load_the_http_client() -> None:
    code = "import sys; from memoranda import Memory; print('httpx' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
