"""The search service: modes and how they degrade, scopes and filters, and what is told about it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from memoranda.engine.filters import Comparison, Operator, ValueType
from memoranda.engine.records import PROFILE, IndexState
from memoranda.engine.retrieval.hits import RERANK, SEMANTIC_ONLY, TEXT_ONLY, WEIGHTED_MINMAX
from memoranda.engine.retrieval.plan import Mode, SourcePlan
from memoranda.engine.retrieval.search import ALL_SOURCES_FAILED
from memoranda.engine.rows import Narrowing
from memoranda.engine.scope import Scope
from memoranda.sdk.errors import MemoryBadRequestError, MemoryClientError, MemoryServerError
from tests.engine.memory.world import day
from tests.engine.retrieval.world import SearchWorld, word_vectors


class ByLength:
    """A reranker that prefers short texts, or answers what it is told."""

    model_id = "by-length"

    def __init__(self, answer: Sequence[float] | Exception | None = None) -> None:
        self.answer = answer

    def rerank(self, query: str, documents: Sequence[str]) -> Sequence[float]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return [-len(text) for text in documents] if self.answer is None else self.answer


def _fail(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    raise ConnectionError("the embedding service is down")


class TestModes:
    def test_hybrid_finds_by_word_and_by_meaning(self, world: SearchWorld) -> None:
        world.memory.fact("drives an auto to work")
        world.memory.fact("parks the car outside")
        result = world.search("car", explain=True)
        assert [hit.text for hit in result.hits] == ["parks the car outside", "drives an auto to work"]
        assert result.strategy == WEIGHTED_MINMAX
        assert result.outcomes[0].effective_mode is Mode.HYBRID
        both, meaning = (hit.explanation for hit in result.hits)
        assert both is not None
        assert both.text is not None
        assert both.text.rank == 1
        assert meaning is not None
        assert meaning.text is None
        assert meaning.semantic is not None

    def test_each_mode_runs_its_own_leg_and_passes_its_scores_through(self, world: SearchWorld) -> None:
        world.memory.fact("drives an auto to work")
        world.memory.fact("parks the car outside")
        text = world.search("car", mode=Mode.TEXT, explain=True)
        assert [hit.text for hit in text.hits] == ["parks the car outside"]
        assert text.strategy == TEXT_ONLY
        semantic = world.search("car", mode=Mode.SEMANTIC, explain=True)
        assert len(semantic.hits) == 2
        assert semantic.strategy == SEMANTIC_ONLY
        for hit in semantic.hits:
            assert hit.explanation is not None
            assert hit.explanation.semantic is not None
            assert hit.score == hit.explanation.semantic.score <= 1.0

    @pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
    def test_without_an_embedder_text_is_run_and_said(self, text_world: SearchWorld, mode: Mode) -> None:
        text_world.memory.fact("likes tea")
        result = text_world.search("tea", mode=mode)
        assert [hit.text for hit in result.hits] == ["likes tea"]
        (outcome,) = result.outcomes
        assert (outcome.requested_mode, outcome.effective_mode, outcome.count) == (mode, Mode.TEXT, 1)
        assert "no embedder" in (outcome.error or "")

    def test_text_that_was_asked_for_is_no_degradation(self, text_world: SearchWorld) -> None:
        (outcome,) = text_world.search("tea", mode=Mode.TEXT).outcomes
        assert outcome.error is None

    @pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
    def test_a_failing_embedder_degrades_to_text_with_its_reason(self, world: SearchWorld, mode: Mode) -> None:
        world.memory.fact("likes tea")
        assert world.background.embedder is not None
        world.background.embedder.answer = _fail
        result = world.search("tea", mode=mode)
        assert [hit.text for hit in result.hits] == ["likes tea"]
        assert result.outcomes[0].effective_mode is Mode.TEXT
        assert "embedding service is down" in (result.outcomes[0].error or "")

    def test_the_query_is_embedded_once_for_all_sources_and_never_for_text(self, world: SearchWorld) -> None:
        assert world.background.embedder is not None
        world.search("tea", "semantic", "episodic", "stm")
        assert world.background.embedder.texts.count("tea") == 1
        world.search("milk", "semantic", "stm", mode=Mode.TEXT)
        assert "milk" not in world.background.embedder.texts

    def test_a_callers_vector_spares_the_embedder(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea")
        world.memory.fact("plays chess")
        assert world.background.embedder is not None
        world.background.embedder.answer = _fail
        (vector,) = word_vectors(["plays chess"])
        result = world.search("zzz", mode=Mode.SEMANTIC, query_vector=vector)
        assert result.hits[0].text == "plays chess"

    def test_a_callers_vector_of_another_size_is_refused(self, world: SearchWorld) -> None:
        with pytest.raises(MemoryBadRequestError):
            world.search("tea", query_vector=[1.0, 2.0])

    def test_a_record_without_a_vector_is_found_by_text_and_hybrid_alone(self, world: SearchWorld) -> None:
        world.background.say("the tide table hangs in the hall")
        assert len(world.search("tide", "stm").hits) == 1
        assert len(world.search("tide", "stm", mode=Mode.TEXT).hits) == 1
        assert world.search("tide", "stm", mode=Mode.SEMANTIC).hits == []


class TestFailures:
    def test_one_leg_that_fails_leaves_the_other_and_says_so(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea")
        world.store.broken = {("semantic", "semantic")}
        result = world.search("tea")
        assert [hit.text for hit in result.hits] == ["likes tea"]
        assert result.outcomes[0].effective_mode is Mode.TEXT
        assert "broken" in (result.outcomes[0].error or "")
        world.store.broken = {("semantic", "text")}
        assert world.search("tea").outcomes[0].effective_mode is Mode.SEMANTIC

    def test_one_source_that_fails_leaves_the_others(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea")
        world.say("tea please")
        world.store.broken = {("stm", "text"), ("stm", "semantic")}
        result = world.search("tea", "stm", "semantic")
        assert [hit.source for hit in result.hits] == ["semantic"]
        stm, semantic = result.outcomes
        assert (stm.failed, stm.count) == (True, 0)
        assert stm.error
        assert (semantic.failed, semantic.error) == (False, None)

    def test_when_every_source_fails_it_is_an_error_and_not_an_empty_result(self, world: SearchWorld) -> None:
        world.store.broken = {("semantic", "text")}
        with pytest.raises(MemoryServerError, match=r"semantic: .*broken") as caught:
            world.search("tea", mode=Mode.TEXT)
        assert caught.value.code == ALL_SOURCES_FAILED

    @pytest.mark.parametrize("query", ["", "   ", "\n\t"])
    def test_a_blank_query_is_refused(self, world: SearchWorld, query: str) -> None:
        with pytest.raises(MemoryClientError, match="empty query"):
            world.search(query)

    def test_unknown_doubled_and_missing_sources_are_refused(self, world: SearchWorld) -> None:
        with pytest.raises(MemoryClientError, match="'dreams'"):
            world.search("tea", "dreams")
        with pytest.raises(MemoryClientError, match="twice"):
            world.search("tea", "stm", "stm")
        with pytest.raises(MemoryClientError, match="top_k"):
            world.search("tea", SourcePlan("stm", top_k=0))


class TestQueries:
    MEMORY = "Don't use multi-agent for install.sh | bash (C++ NOT v2.0*)"

    @pytest.mark.parametrize("query", ["don't", "multi-agent", "sh | bash", "install.sh", "C++", "v2.0*"])
    def test_signs_in_a_query_find_their_text(self, text_world: SearchWorld, query: str) -> None:
        text_world.memory.fact(self.MEMORY)
        assert text_world.texts(query) == [self.MEMORY]

    @pytest.mark.parametrize(
        "query",
        ['"unbalanced', "a AND", "NOT", "NEAR(", "col:val", "`", "(", "*", '""', "????", "%", "_", "'; --", "x" * 5000,
         "word " * 1000, "\x00", "\ud800", "{{ x }}", "%s"],
    )  # fmt: skip
    def test_no_query_is_an_error_of_syntax(self, world: SearchWorld, query: str) -> None:
        world.memory.fact(self.MEMORY)
        for mode in Mode:
            world.search(query, mode=mode)

    def test_stop_words_alone_find_nothing_by_text_and_something_by_vector(self, world: SearchWorld) -> None:
        world.memory.fact("the cat of the house")
        assert world.texts("the of", mode=Mode.TEXT) == []
        assert world.texts("the of", mode=Mode.HYBRID) == ["the cat of the house"]


class TestScopesAndFilters:
    def test_a_search_stays_with_its_user(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea", user="ann")
        world.memory.fact("sells tea", user="Ann")
        world.say("tea", user="ann ")
        assert world.texts("tea", "semantic", "stm") == ["likes tea"]

    def test_a_source_may_have_its_own_scope(self, world: SearchWorld) -> None:
        world.say("tea at nine", session="s1")
        world.say("tea at ten", session="s2")
        plan = SourcePlan("stm", scope=Scope(user_id="ann", session_id="s2"))
        assert world.texts("tea", plan) == ["tea at ten"]

    def test_superseded_records_are_found_on_request_alone(self, world: SearchWorld) -> None:
        old = world.memory.fact("lives in Oslo")
        with world.background.write() as tx:
            world.background.writer.retire(tx, old.record, day(20))
        assert world.search("Oslo").hits == []
        (hit,) = world.search("Oslo", include_superseded=True).hits
        assert hit.state is IndexState.SUPERSEDED

    def test_a_threshold_hides_vector_hits_and_never_a_keyword_hit(self, world: SearchWorld) -> None:
        world.memory.fact("parks the car outside in any weather by the old harbour wall")
        world.memory.fact("drives an auto")
        assert world.texts("car", similarity_threshold=0.99) == [
            "parks the car outside in any weather by the old harbour wall"
        ]
        assert world.texts("car", mode=Mode.SEMANTIC, similarity_threshold=1.01) == []

    def test_top_k_cuts_each_source(self, world: SearchWorld) -> None:
        for number in range(5):
            world.memory.fact(f"tea number {number}")
        world.say("tea one", "tea two", "tea three")
        result = world.search("tea", SourcePlan("semantic", top_k=2), SourcePlan("stm", top_k=1))
        assert sorted(hit.source for hit in result.hits) == ["semantic", "semantic", "stm"]
        assert [outcome.count for outcome in result.outcomes] == [2, 1]

    def test_everything_is_read_in_one_view(self, world: SearchWorld) -> None:
        world.memory.fact("likes tea")
        world.say("tea please")
        world.search("tea", "stm", "semantic", "episodic", companions=True)
        assert world.store.reads == 1

    def test_profiles_are_a_source_where_they_are_among_the_kinds(self, world: SearchWorld) -> None:
        world.memory.profiles.put("user", "ann", "a sailor from Bergen")
        (hit,) = world.search("sailor", PROFILE).hits
        assert hit.text == "a sailor from Bergen"


class TestNeighbours:
    def test_a_turn_without_a_shared_word_comes_in_beside_its_question(self, text_world: SearchWorld) -> None:
        text_world.say("Where did you spend the holidays?", "In Lisbon.", "Nice.", "It rained.")
        assert text_world.texts("holidays", "stm") == ["Where did you spend the holidays?", "In Lisbon.", "Nice."]

    def test_the_explanation_tells_what_neighbours_lent(self, text_world: SearchWorld) -> None:
        text_world.say("Where did you spend the holidays?", "In Lisbon.")
        question, answer = (hit.explanation for hit in text_world.search("holidays", "stm", explain=True).hits)
        assert question is not None
        assert question.neighbour is None
        assert answer is not None
        assert answer.text is None
        assert answer.neighbour == pytest.approx(question.fused / 2)

    def test_a_filter_keeps_neighbours_out(self, text_world: SearchWorld) -> None:
        text_world.say("the holidays", metadata={"tier": "gold"})
        text_world.say("in Lisbon", metadata={"tier": "silver"})
        gold = Narrowing(where=Comparison("tier", ValueType.STRING, Operator.EQUALS, "gold"))
        assert text_world.texts("holidays", SourcePlan("stm", narrowing=gold)) == ["the holidays"]

    def test_what_is_expired_deleted_or_another_agents_does_not_come_in(self, text_world: SearchWorld) -> None:
        text_world.say("about the holidays")
        text_world.say("gone tomorrow", ttl_days=1)
        text_world.background.clock.advance(timedelta(days=2))
        assert text_world.texts("holidays", "stm") == ["about the holidays"]
        scope = Scope(user_id="ann", agent_id="somebody else")
        assert text_world.texts("holidays", SourcePlan("stm", scope=scope)) == []

    def test_another_users_session_of_the_same_name_lends_nothing(self, text_world: SearchWorld) -> None:
        text_world.say("about the holidays", user="ann", session="s")
        text_world.say("a secret", "another secret", user="bert", session="s")
        assert text_world.texts("holidays", "stm") == ["about the holidays"]


class TestSeveralSources:
    def test_hits_are_merged_by_how_well_they_answer(self, world: SearchWorld) -> None:
        world.memory.fact("the boat is called Albatross")
        world.memory.fact("likes tea")
        world.say("the weather was fine", "my boat needs paint")
        hits = world.search("what is the boat called", "stm", "semantic").hits
        assert hits[0].text == "the boat is called Albatross"
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)

    def test_equal_hits_follow_the_order_of_the_sources(self, world: SearchWorld) -> None:
        world.memory.fact("tea")
        world.say("tea")
        for order in (("stm", "semantic"), ("semantic", "stm")):
            result = world.search("tea", *order, mode=Mode.TEXT)
            assert [hit.source for hit in result.hits] == list(order)

    def test_the_same_search_gives_the_same_hits(self, world: SearchWorld) -> None:
        for number in range(30):
            world.memory.fact(f"tea {number % 3}")
            world.say(f"tea {number % 4}")
        first = world.search("tea 1", "stm", "semantic", explain=True)
        for _ in range(3):
            again = world.search("tea 1", "stm", "semantic", explain=True)
            assert (again.hits, again.outcomes) == (first.hits, first.outcomes)


class TestRerank:
    def test_a_reranker_has_the_last_word(self, world: SearchWorld) -> None:
        world.memory.fact("tea and much else besides")
        world.memory.fact("tea")
        world.reranker = ByLength()
        result = world.search("tea and much else", rerank=True, explain=True)
        assert [hit.text for hit in result.hits] == ["tea", "tea and much else besides"]
        assert result.strategy == RERANK
        assert result.hits[0].score == -3.0
        assert result.hits[0].explanation is not None
        assert result.hits[0].explanation.rerank is not None

    @pytest.mark.parametrize("answer", [ConnectionError("no answer"), [1.0], [float("nan"), 1.0]])
    def test_a_failing_reranker_leaves_the_order_and_is_told(
        self, world: SearchWorld, answer: Sequence[float] | Exception
    ) -> None:
        world.memory.fact("tea and much else besides")
        world.memory.fact("tea")
        before = world.texts("tea and much else")
        world.reranker = ByLength(answer)
        result = world.search("tea and much else", rerank=True)
        assert [hit.text for hit in result.hits] == before
        assert result.strategy == WEIGHTED_MINMAX
        assert "by-length" in (result.rerank_error or "")

    def test_rerank_without_a_reranker_is_told(self, world: SearchWorld) -> None:
        world.memory.fact("tea")
        assert "no reranker" in (world.search("tea", rerank=True).rerank_error or "")
