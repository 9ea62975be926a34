"""Project configuration: every key works, every mistake is named with its line, and write-once stays written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.config import (
    CapacityConfig,
    ChangeFeedConfig,
    ConfigChangeError,
    ConfigError,
    CustomType,
    ExtractionModelConfig,
    ExtractionPrompt,
    MetadataKey,
    ProjectConfig,
    SnapshotConfig,
    SourceLegs,
    VoyageConfig,
    check_change,
    load_config,
)
from memoranda.engine.config_model import BLOCK_KEYS
from memoranda.sdk.errors import MemoryConfigError

FULL = """\
name: shop-assistant
agents:
  - planner
memory:
  log_level: debug
  voyage:
    model: voyage-4-large
    dimension: 1024
  short_term:
    embed_on_write: false
  extraction_llm:
    provider: openai
    model: some-model
    base_url: http://localhost:8080/v1
    api_key_secret: LLM_API_KEY
    auth_header: X-Key
  background_extraction:
    snapshot:
      max_messages: 10
      stale_minutes: 5
      embed_stm_before_promotion: true
      topic_shift_enabled: true
      topic_shift_threshold: 0.5
      delete_promoted: true
      ttl_days: 7
  extraction:
    enabled: [semantic, preferences, procedural]
    visibility: org
    episodic: {prompt: "Tell what happened."}
  capacity: {min_replicas: 1, max_replicas: 3}
  custom_memory_types:
    - name: ticket
      collection: tickets
      tags: [{name: state}, {name: customer.country}]
  metadata_partition_key:
    - {name: tier, type: string}
    - {name: order.total, type: number}
  metadata_partition_index:
    semantic: [both]
    short_term: [text]
  tasks:
    nightly: [1, two]
  identity:
    enforce: true
  change_feed:
    memories: false
    turns: true
    keep_days: 7
  analyser:
    language: german
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "project-config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(source: dict[str, object] | Path) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        load_config(source)
    return refused.value


def test_the_defaults_are_those_of_the_documentation() -> None:
    config = load_config(None)

    assert config.snapshot == SnapshotConfig(
        max_messages=20,
        stale_minutes=3,
        embed_stm_before_promotion=None,
        topic_shift_enabled=False,
        topic_shift_threshold=0.35,
        delete_promoted=False,
        ttl_days=30,
    )
    assert config.short_term.embed_on_write is None
    assert config.extraction.enabled == ("semantic", "episodic", "taxonomic", "procedural")
    assert config.extraction.visibility == "private"
    assert config.analyser.language == "english"
    assert config.identity.enforce is False
    assert config.change_feed == ChangeFeedConfig(memories=True, turns=False, keep_days=30)
    assert (config.log_level, config.voyage, config.extraction_llm, config.capacity, config.tasks) == (None,) * 5
    assert (config.custom_memory_types, config.metadata_partition_key, config.metadata_partition_index) == ((), (), ())
    assert config.warnings == ()


def test_every_key_of_a_whole_file_is_read(tmp_path: Path) -> None:
    config = load_config(str(write(tmp_path, FULL)))

    assert config.log_level == "debug"
    assert config.voyage == VoyageConfig("voyage-4-large", 1024)
    assert config.short_term.embed_on_write is False
    assert config.extraction_llm == ExtractionModelConfig(
        "openai", "some-model", "http://localhost:8080/v1", "LLM_API_KEY", "X-Key"
    )
    assert config.snapshot == SnapshotConfig(10, 5, True, True, 0.5, True, 7)
    assert config.extraction.enabled == ("semantic", "preferences", "procedural")
    assert config.extraction.visibility == "org"
    assert config.extraction.prompts == (ExtractionPrompt("episodic", "Tell what happened."),)
    assert config.capacity == CapacityConfig(1, 3)
    assert config.custom_memory_types == (CustomType("ticket", "tickets", ("state", "customer.country")),)
    assert config.metadata_partition_key == (MetadataKey("tier", "string"), MetadataKey("order.total", "number"))
    assert config.metadata_partition_index == (
        SourceLegs("semantic", ("text", "vector")),
        SourceLegs("short_term", ("text",)),
    )
    assert config.tasks == '{"nightly":[1,"two"]}'
    assert config.analyser.language == "german"
    assert config.identity.enforce is True
    assert config.change_feed == ChangeFeedConfig(memories=False, turns=True, keep_days=7)


@pytest.mark.parametrize("wrap", [True, False])
def test_the_block_alone_and_the_whole_document_are_the_same(tmp_path: Path, wrap: bool) -> None:
    block: dict[str, object] = {"log_level": "info", "analyser": {"language": "french"}}
    text = (
        "memory:\n  log_level: info\n  analyser: {language: french}\n"
        if wrap
        else "log_level: info\nanalyser: {language: french}\n"
    )

    assert load_config({"memory": block} if wrap else block) == load_config(write(tmp_path, text))


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "memory:\n", "name: shop\nagents: []\n", "memory: {}\n", "memory:\n  voyage:\n"]
)
def test_a_file_without_settings_gives_the_defaults(tmp_path: Path, text: str) -> None:
    assert load_config(write(tmp_path, text)) == ProjectConfig()


def test_lookups_answer_by_name() -> None:
    config = load_config(
        {
            "custom_memory_types": [{"name": "ticket", "collection": "tickets"}],
            "metadata_partition_key": [{"name": "tier", "type": "string"}, {"name": "due", "type": "date"}],
            "metadata_partition_index": {"episodic": ["vector", "text"]},
        }
    )

    assert config.filter_keys == {"tier": "string", "due": "date"}
    assert config.custom_type("ticket") == CustomType("ticket", "tickets")
    assert config.custom_type("other") is None
    assert config.filter_legs("episodic") == ("text", "vector")
    assert config.filter_legs("semantic") is None


def test_preferences_are_semantic() -> None:
    config = load_config({"extraction": {"enabled": ["preferences", "episodic"]}})

    assert config.extraction.kinds == ("semantic", "episodic")
    assert config.extraction.preferences_only
    assert not load_config({"extraction": {"enabled": ["semantic", "preferences"]}}).extraction.preferences_only


def test_nothing_may_be_enabled() -> None:
    assert load_config({"extraction": {"enabled": []}}).extraction.kinds == ()


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"capacity": {"min_replicas": 1}}, "memory.capacity"),
        ({"tasks": []}, "memory.tasks"),
    ],
)
def test_a_setting_without_effect_warns_by_name(block: dict[str, object], path: str) -> None:
    (warning,) = load_config(block).warnings

    assert path in warning
    assert "has no effect" in warning


@pytest.mark.parametrize(
    "block",
    [
        {"log_level": "info"},
        {"voyage": {"model": "m"}},
        {"extraction_llm": {"provider": "gemini"}},
        {"short_term": {"embed_on_write": True}},
        {"background_extraction": {"snapshot": {"topic_shift_enabled": False, "delete_promoted": True, "ttl_days": 1}}},
        {"metadata_partition_key": [{"name": "tier", "type": "boolean"}]},
        {"background_extraction": {"snapshot": {"topic_shift_enabled": True}}},
        {"background_extraction": {"snapshot": {"topic_shift_threshold": 0.4}}},
        {"extraction": {"taxonomic": {"prompt": "p"}}},
    ],
)
def test_a_setting_with_effect_does_not_warn(block: dict[str, object]) -> None:
    assert load_config(block).warnings == ()


@pytest.mark.parametrize(
    ("line", "replacement", "said"),
    [
        ("  log_level: debug", "  log_level: verbose", ("memory.log_level", "'verbose'", "debug, info")),
        ("  log_level: debug", "  loglevel: debug", ("unknown key 'loglevel'", "did you mean 'log_level'?")),
        ("    dimension: 1024", "    dimension: 0", ("memory.voyage.dimension is 0", "whole number from 1")),
        ("    dimension: 1024", "    dimension: many", ("memory.voyage.dimension is 'many'",)),
        ("    model: voyage-4-large", "    model: ''", ("memory.voyage.model is ''", "not blank")),
        ("    embed_on_write: false", "    embed_on_write: 0", ("embed_on_write is 0", "true or false")),
        ("    provider: openai", "    provider: opanai", ("'opanai'", "did you mean 'openai'?")),
        ("    auth_header: X-Key", "    auth_header: [a]", ("auth_header is ['a']", "must be a text")),
        ("      max_messages: 10", "      max_mesages: 10", ("'max_mesages'", "did you mean 'max_messages'?")),
        ("      max_messages: 10", "      max_messages: true", ("max_messages is True",)),
        ("      stale_minutes: 5", "      stale_minutes: 0.5", ("stale_minutes is 0.5",)),
        ("      topic_shift_threshold: 0.5", "      topic_shift_threshold: 1.5", ("from 0 to 1",)),
        ("      ttl_days: 7", "      ttl_days: -1", ("ttl_days is -1",)),
        ("    visibility: org", "    visibility: public", ("memory.extraction.visibility", "private, org, shared")),
        (
            "    enabled: [semantic, preferences, procedural]",
            "    enabled: [semantic, entity]",
            ("memory.extraction.enabled[1] is 'entity'", "removed"),
        ),
        (
            "    enabled: [semantic, preferences, procedural]",
            "    enabled: [semantic, semantic]",
            ("enabled[1] is 'semantic', which is there already",),
        ),
        ("    enabled: [semantic, preferences, procedural]", "    enabled: semantic", ("must be a list",)),
        ('    episodic: {prompt: "Tell what happened."}', "    entity: {prompt: x}", ("unknown key 'entity'",)),
        ('    episodic: {prompt: "Tell what happened."}', f"    episodic: {{prompt: {'x' * 4097}}}", ("4097", "4096")),
        ("  capacity: {min_replicas: 1, max_replicas: 3}", "  capacity: {max_replicas: 11}", ("from 1 to 10",)),
        ("  capacity: {min_replicas: 1, max_replicas: 3}", "  capacity: {min_replicas: 3, max_replicas: 1}", ("more",)),
        ("    - name: ticket", "    - name: Ticket", ("custom_memory_types[0].name is 'Ticket'", "lower-case")),
        ("    - name: ticket", "    - name: turn", ("is reserved",)),
        ("    - name: ticket", "    - name: profile", ("is reserved",)),
        ("    - {name: tier, type: string}", "    - {name: content, type: string}", ("is reserved", "created_at")),
        ("    - {name: tier, type: string}", "    - {name: a.b.c, type: string}", ("one dot",)),
        ("    - {name: tier, type: string}", "    - {name: tier, type: text}", ("string, number, boolean, date",)),
        ("    - {name: tier, type: string}", "    - {name: tier}", ("metadata_partition_key[0] lacks 'type'",)),
        ("    - {name: tier, type: string}", "    - tier", ("metadata_partition_key[0] is 'tier'", "mapping")),
        ("    semantic: [both]", "    stm: [both]", ("unknown key 'stm'", "short_term")),
        ("    semantic: [both]", "    semantic: both", ("must be a list",)),
        ("    semantic: [both]", "    semantic: []", ("at least one of: vector, text, both",)),
        ("    semantic: [both]", "    semantic: [keyword]", ("vector, text, both",)),
        ("    short_term: [text]", "    short_term: [vector]", ("embed_on_write is false; set it to true",)),
        (
            "    keep_days: 7",
            "    keep_days: 0",
            ("memory.change_feed.keep_days is 0", "a whole number from 1 to 3650"),
        ),
        ("    enforce: true", "    enforce: 'yes'", ("memory.identity.enforce is 'yes'", "must be true or false")),
        ("    language: german", "    language: germn", ("memory.analyser.language", "did you mean 'german'?")),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, line: str, replacement: str, said: tuple[str, ...]) -> None:
    assert f"{line}\n" in FULL
    path = write(tmp_path, FULL.replace(f"{line}\n", f"{replacement}\n"))
    number = FULL.splitlines().index(line) + 1

    error = refusal(path)

    assert error.line == number
    assert str(error).startswith(f"{path}, line {number}: ")
    assert all(part in str(error) for part in said)
    assert len(error.problems) == 1


def test_all_problems_are_listed_at_once_in_order(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, "memory:\n  voyage: {size: 1}\n  log_level: 5\n  extraction: [x]\n"))

    assert [problem.line for problem in error.problems] == [2, 3, 4]
    assert len(str(error).splitlines()) == 3
    assert isinstance(error, MemoryConfigError)
    assert isinstance(error, ValueError)


def test_a_mapping_has_no_lines_but_the_same_messages() -> None:
    error = refusal({"log_level": "loud", "extraction": {"enabld": []}})

    assert error.line is None
    assert "memory.log_level is 'loud'" in str(error)
    assert "did you mean 'enabled'?" in str(error)


def test_a_misspelt_block_does_not_pass_for_a_file_without_one(tmp_path: Path) -> None:
    error = refusal(write(tmp_path, "name: shop\nmemroy:\n  log_level: info\n"))

    assert (error.line, "did you mean 'memory'?" in str(error)) == (2, True)
    assert "'memroy'" in str(refusal({"memroy": {}}))


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"custom_memory_types": [{"name": f"t{n}", "collection": f"c{n}"} for n in range(6)]}, "6 entries; at most 5"),
        (
            {"custom_memory_types": [{"name": "t", "collection": "c", "tags": [{"name": f"g{n}"} for n in range(11)]}]},
            "11 entries; at most 10",
        ),
        ({"metadata_partition_key": [{"name": f"k{n}", "type": "date"} for n in range(11)]}, "11 entries; at most 10"),
        ({"metadata_partition_key": [{"name": "k", "type": "date"}, {"name": "k", "type": "number"}]}, "there already"),
        (
            {"custom_memory_types": [{"name": "t", "collection": "a"}, {"name": "t", "collection": "b"}]},
            "there already",
        ),
        (
            {"custom_memory_types": [{"name": "t", "collection": "a"}, {"name": "u", "collection": "a"}]},
            "there already",
        ),
        ({"custom_memory_types": [{"name": "t"}]}, "lacks 'collection'"),
        ({"custom_memory_types": [{"name": "t", "collection": "c", "tags": ["x"]}]}, "tags[0] is 'x'"),
        ({"custom_memory_types": [None]}, "custom_memory_types[0] is None"),
        ({"metadata_partition_key": [{"name": "k\n", "type": "date"}]}, "lower-case"),
        ({"metadata_partition_key": {}}, "must be a list"),
        ({"extraction": "all"}, "memory.extraction is 'all'; it must be a mapping"),
        ({1: "x"}, "the key 1 is not a string"),
    ],
)
def test_limits_and_shapes_are_checked(block: dict[str, object], said: str) -> None:
    assert said in str(refusal(block))


@pytest.mark.parametrize("embed", [True, None])
def test_the_vector_leg_of_short_term_needs_embedding_on_write(embed: bool | None) -> None:
    config = load_config(
        {"short_term": {"embed_on_write": embed}, "metadata_partition_index": {"short_term": ["both"]}}
    )

    assert config.filter_legs("short_term") == ("text", "vector")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("memory:\n  log_level: [\n", 3, "not valid YAML"),
        ("memory:\n\tlog_level: info\n", 2, "not valid YAML"),
        ("memory:\n  log_level: info\n  log_level: debug\n", 3, "'log_level' twice, first on line 2"),
        ("memory:\n  log_level: !!python/object:os.system x\n", 2, "not valid YAML"),
        ("memory:\n  ? [a]\n  : b\n", 2, "not plain text"),
        ("memory:\n  tasks: &a [*a]\n", 2, "nested too deeply"),
        ("memory:\n  tasks: 2026-13-45\n", None, "does not exist"),
        ("a: 1\n--- \nb: 2\n", 2, "not valid YAML"),
        ("memory:\n  tasks: \x07\n", None, "not valid YAML"),
        ("[" * 5000, None, "nested too deeply"),
    ],
)
def test_a_file_that_is_not_yaml_is_refused_with_the_line(
    tmp_path: Path, text: str, line: int | None, said: str
) -> None:
    error = refusal(write(tmp_path, text))

    assert (said in str(error), error.line) == (True, line), str(error)


def test_repeated_aliases_do_not_grow_without_bound(tmp_path: Path) -> None:
    levels = "\n".join(f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 9))

    assert "too large" in str(refusal(write(tmp_path, f"memory:\n  l0: &l0 [x]\n{levels}\n")))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00memory")

    assert str(refusal(missing)).startswith(f"{missing}: cannot be read: No such file")
    assert "not UTF-8" in str(refusal(binary))


def test_json_keeps_everything_and_is_canonical(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, FULL))
    index = "    semantic: [both]\n    short_term: [text]\n"
    reordered = "    short_term: [text]\n    semantic: [text, vector]\n"
    same = load_config(write(tmp_path, FULL.replace(index, reordered)))

    assert ProjectConfig.from_json(config.to_json()) == config
    assert same.to_json() == config.to_json()
    assert ProjectConfig.from_json(ProjectConfig().to_json()) == ProjectConfig()
    assert ProjectConfig.from_json("{}") == ProjectConfig()


@pytest.mark.parametrize("text", ["", "[]", '{"log_level": 5}'])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        ProjectConfig.from_json(text)


TAGS = [{"name": "state"}, {"name": "team"}]
PROMISED: dict[str, object] = {
    "custom_memory_types": [{"name": "ticket", "collection": "tickets", "tags": TAGS}],
    "metadata_partition_key": [{"name": "tier", "type": "string"}],
}


def changed(**block: object) -> ProjectConfig:
    return load_config({**PROMISED, **block})


def test_adding_keys_and_types_is_allowed() -> None:
    check_change(load_config(None), changed())
    check_change(
        changed(),
        changed(
            log_level="info",
            extraction={"enabled": ["episodic"]},
            metadata_partition_key=[{"name": "due", "type": "date"}, {"name": "tier", "type": "string"}],
            custom_memory_types=[
                {"name": "note", "collection": "notes"},
                {"name": "ticket", "collection": "tickets", "tags": [{"name": "team"}, {"name": "state"}]},
            ],
        ),
    )


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"metadata_partition_key": []}, ("'tier' cannot be removed", "'string'")),
        ({"metadata_partition_key": [{"name": "tier", "type": "number"}]}, ("from 'string' to 'number'", "new name")),
        ({"custom_memory_types": []}, ("'ticket' cannot be removed", "'tickets'")),
        (
            {"custom_memory_types": [{"name": "ticket", "collection": "other", "tags": TAGS}]},
            ("'ticket' cannot change its collection from 'tickets' to 'other'",),
        ),
        (
            {"custom_memory_types": [{"name": "ticket", "collection": "tickets", "tags": [{"name": "state"}]}]},
            ("'ticket' cannot change its tags from [state, team] to [state]",),
        ),
    ],
)
def test_what_is_written_once_cannot_change(block: dict[str, object], said: tuple[str, ...]) -> None:
    with pytest.raises(ConfigChangeError) as refused:
        check_change(changed(), changed(**block))

    assert all(part in str(refused.value) for part in said)
    assert isinstance(refused.value, MemoryConfigError)


def test_every_forbidden_change_is_listed() -> None:
    with pytest.raises(ConfigChangeError) as refused:
        check_change(changed(), load_config(None))

    assert len(refused.value.problems) == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["semantic", "org", "string"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "type", "tags", "prompt"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*BLOCK_KEYS, "other"]), JSON))
def test_any_mapping_is_a_configuration_or_a_config_error(block: dict[str, object]) -> None:
    try:
        config = load_config(block)
    except ConfigError:
        return
    assert ProjectConfig.from_json(config.to_json()) == config
