"""A program written for `oracleagentmemory` finds every name after a change of its import line."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import new_class

import pytest

import memoranda.threads
from memoranda.compat.oracleagentmemory.absent import INSTEAD, Absent, absent

PACKAGE = "memoranda.compat.oracleagentmemory"

_EXTRACTION = """BackgroundExtractionQueueFullBehavior MemoryExtractionConfig MemoryExtractionImageContext
MemoryExtractionMode MemoryLinkExtractionMode"""
_RELATIONS = "MemoryLink MemoryLinkOppositeType MemoryLinkType RecordRelation RelationType"

NAMES = {
    "core": f"""OracleAgentMemory OracleThread OracleMemoryStore OracleDBMemoryStore OracleContextCard OracleSummary
OracleSearchResult OracleSearchResultFormatConfig SearchResultFormatConfig {_EXTRACTION} ImageInputLimitConfig
MemoryRetentionConfig SchemaPolicy SearchStrategy SearchIndexSyncMode MemorySearchConfig TopKMemorySearchConfig
PruningMemorySearchConfig PruningEvaluationMode Reranker {_RELATIONS}""",
    "core.oracleagentmemory": "OracleAgentMemory",
    "core.embedders": "Embedder OracleDBEmbedder",
    "core.embedders.embedder": "Embedder OracleDBEmbedder",
    "core.llms": "Llm LlmApiType",
    "core.llms.llm": "Llm LlmApiType",
    "core.extractors": f"{_EXTRACTION} ThreadMemoryExtractor OneShotThreadMemoryExtractor PendingRecordBatch",
    "core.deepsec": """OracleMemoryEndUserSecurityContext UserOwnRowsDeepDataSecurityPolicy
GlobalMemoriesDeepDataSecurityPolicy OciGroupPrincipal LocalEndUserPrincipal add_deep_data_security_policies
remove_deep_data_security_policies list_deep_data_security_policies grant_agent_memory_policies
revoke_agent_memory_policies list_agent_memory_granted_policies get_end_user_username""",
    "apis": f"""IAgentMemory IThread IEmbedder ILlm LlmResponse IReranker RerankResponse RerankResponseResult
IMemoryStore ISearchConfig ContextCard Summary Message MessageContent TextContent ImageContent
ImageMimeType Record ScopedRecord MemoryRecord FactRecord GuidelineRecord PreferenceRecord
MessageRecord ImageRecord ThreadRecord ThreadSummaryRecord UserProfileRecord AgentProfileRecord
RecordStatus {_RELATIONS} ThreadRecordType MemoryRecordType TimeToLiveAnchor PendingRecordBatch
build_record SearchResultFormatConfig""",
    "apis.searchscope": "SearchScope",
    "apis.scope": "Scope",
    "apis.searchresult": "SearchResult",
    "observability": """Event EventListener GenericEventListener register_event_listeners emit_event OperationKind
ApiOperationStartedEvent ApiOperationCompletedEvent AgentMemoryOperationStartedEvent AgentMemoryOperationCompletedEvent
ThreadOperationStartedEvent ThreadOperationCompletedEvent MemoryStoreOperationStartedEvent
MemoryStoreOperationCompletedEvent EmbedderStartedEvent EmbedderCompletedEvent LlmGenerationStartedEvent
LlmGenerationCompletedEvent""",
}


@pytest.mark.parametrize("module", sorted(NAMES))
def test_every_name_of_a_module_is_there(module: str) -> None:
    found = import_module(f"{PACKAGE}.{module}")
    wanted = set(NAMES[module].split())
    assert set(found.__all__) == wanted
    missing = {name for name in wanted if isinstance(getattr(found, name), Absent)}
    assert missing == wanted & INSTEAD.keys()


def test_the_package_itself_has_its_version_alone() -> None:
    package = import_module(PACKAGE)
    assert package.__all__ == ["__version__"]
    assert not hasattr(package, "OracleAgentMemory")


def test_the_names_are_ours() -> None:
    core = import_module(f"{PACKAGE}.core")
    for other, ours in {
        "OracleThread": "Thread",
        "OracleContextCard": "ContextCard",
        "OracleSummary": "Summary",
        "OracleSearchResult": "SearchResult",
        "OracleSearchResultFormatConfig": "SearchResultFormatConfig",
        "MemoryExtractionConfig": "MemoryExtractionConfig",
    }.items():
        assert getattr(core, other) is getattr(memoranda.threads, ours)
    assert issubclass(core.OracleAgentMemory, memoranda.threads.AgentMemory)


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_what_has_no_counterpart_says_so_when_it_is_used(name: str) -> None:
    stand_in = absent(name)
    with pytest.raises(NotImplementedError, match=name):
        stand_in(connection=None)
    with pytest.raises(NotImplementedError, match=name):
        new_class("Own", (stand_in,))
    assert name in repr(stand_in)


def test_only_known_names_are_absent() -> None:
    with pytest.raises(LookupError, match="OracleThread"):
        absent("OracleThread")


PROGRAM = """
from oracleagentmemory.apis import Message
from oracleagentmemory.core import OracleAgentMemory, SchemaPolicy
from oracleagentmemory.core.oracleagentmemory import OracleAgentMemory as TheSame

assert OracleAgentMemory is TheSame
memory = OracleAgentMemory(
    connection=PATH, schema_policy=SchemaPolicy.CREATE_IF_NECESSARY, extract_memories=False
)
memory.add_user("alice", "Plans a trip to Lyon.")
memory.add_memory("Alice prefers green tea.", user_id="alice", memory_type="preference")
thread = memory.create_thread(user_id="alice")
thread.add_messages([Message("user", "Which tea do I like?"), {"role": "assistant", "content": "Green tea."}])
assert "green tea" in memory.search("tea", user_id="alice")[0].content.lower()
assert len(thread.search("tea", user_id="alice", exact_agent_match=False)) == 4  # the profile too
assert thread.search("tea", user_id="bob") == []
print(len(thread.get_messages()), str(thread.get_context_card()).startswith("<context_card>"))
memory.close()
"""


def test_a_program_runs_with_its_import_lines_changed(tmp_path: Path) -> None:
    program = PROGRAM.replace("from oracleagentmemory", f"from {PACKAGE}").replace("PATH", repr(str(tmp_path / "m.db")))
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program], capture_output=True, text=True, check=False
    )
    assert (ran.stdout.strip(), ran.returncode) == ("2 True", 0), ran.stderr
