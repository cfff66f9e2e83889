"""Pages on an imported release: no model, lists of ten, withheld texts."""

from __future__ import annotations

import pytest
import synthetic_release
from conftest import QUICK
from test_pages import charts, opened, words

from biasret import audit, build, published
from biasret.__main__ import main
from biasret.precomputed import Folder
from biasret.published import EXHIBITS


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A made-up release without the lists of Reddit, imported and built."""
    made = synthetic_release.make(tmp_path_factory.mktemp("release"), scale=0.01)
    for path in (made / "reddit_nat/results/retrieval_candidates").iterdir():
        path.unlink()
    path = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIASRET_STORE", str(path))
        patch.setattr(audit, "PAPER", QUICK)
        assert main(["import", "release", str(made), "--name", "r"]) == 0
        folder = Folder(path)
        for name in folder.datasets():
            build.build_dataset(folder, build.read_dataset(folder, name), [])
        yield folder


def measured(page: str, key: str, dataset: str, **more: str):
    app = opened(page, **{f"{key}_dataset": dataset, **more})
    assert not app.error
    return app


def test_political_lean_shows_the_papers_retrievers_without_their_models(store):
    app = measured("political_lean", "lean", "r_allsides")
    forest, sweep, *_ = charts(app)
    assert len(forest["data"][0]["y"]) == len(synthetic_release.RETRIEVERS)
    assert len({len(trace["x"]) for trace in sweep["data"]}) == 1
    text = words(app)
    assert "imported data" in text
    assert "Llama" in text


def test_values_below_a_list_of_ten_are_those_that_came_with_it(store):
    app = measured("political_lean", "lean", "r_allsides", lean_k="100")
    assert "lean@100" in words(app)
    assert len(charts(app)) >= 2


def test_only_depths_that_were_measured_are_offered(store):
    app = measured("political_lean", "lean", "r_reddit", lean_k="10")
    (depth,) = [one for one in app.get("button_group") if one.label == "Depth k"]
    assert [option.content for option in depth.proto.options] == ["20"]
    text = words(app)
    assert "asked for lean\\_k=10, which is not to be had here; using 20" in text
    assert "lean@20" in text


def test_two_groups_of_askers_are_told_apart_by_name(store):
    text = words(measured("political_lean", "lean", "r_reddit"))
    assert "conservative minus liberal" in text
    assert "withheld" in text


@pytest.mark.parametrize("dataset", ["r_hcmagic_synth", "r_hcmagic_nat"])
def test_dialect_shows_ranks_that_came_without_lists(store, dataset):
    app = measured("dialect", "dialect", dataset)
    assert charts(app)
    assert "without the lists" in words(app)


def test_the_probe_offers_no_withheld_question(store):
    text = words(measured("probe", "probe", "r_reddit"))
    assert "This dataset stores no wording of its questions." in text


def test_the_probe_finds_a_stored_question_that_has_a_text(store):
    app = measured("probe", "probe", "r_allsides")
    (stored,) = [one for one in app.selectbox if one.label.startswith("Stored questions")]
    assert all(option.strip() for option in stored.options)


def test_lengths_of_withheld_titles_are_those_that_were_released(store):
    app = measured("data_and_judging", "data", "r_reddit")
    text = words(app)
    assert "characters" in text
    assert "equally long" not in text
    length = store.read("query_values", "r_reddit")
    length = length[length["quantity"] == "length"].set_index("query_id")["value"]
    queries = store.read("queries", "r_reddit")
    of = queries[queries["group"] == "conservative"]["query_id"].map(length)
    assert f"{of.mean():.1f}".replace(".", "\\.") in text


def test_a_question_whose_lists_were_not_released_shows_ranks_alone(store):
    app = measured("query_by_query", "moved", "r_hcmagic_synth")
    text = words(app)
    assert "the lists were not released" in text
    assert "Gold answer at rank" in text
    assert "No document matched" not in text


def test_a_list_without_scores_shows_none(store):
    app = measured("query_by_query", "moved", "r_allsides", moved_k="20")
    text = words(app)
    assert "hold 10 documents at most; those are shown" in text
    assert "score nan" not in text
    assert "lean@10" in text


# -- the paper's numbers, computed from the import ----------------------------------------------

#: Page, choices that lead to the exhibit, the exhibit, and the imported dataset it is of.
PLACES = [
    ("political_lean", {"lean_world": "published by the paper"}, "table07", "r_allsides"),
    (
        "beyond_vocabulary",
        {"vocabulary_world": "published by the paper", "vocabulary_view": "political lean"},
        "table15",
        "r_reddit",
    ),
    ("dialect", {"dialect_world": "published by the paper"}, "table11", "r_hcmagic_synth"),
    ("dialect", {"dialect_world": "published by the paper"}, "table12", "r_hcmagic_nat"),
    ("mitigation", {"mitigation_world": "published by the paper"}, "table13", "r_hcmagic_nat"),
    (
        "beyond_vocabulary",
        {
            "vocabulary_world": "published by the paper",
            "vocabulary_part": "what the layers know",
        },
        "fig04",
        "r_hcmagic_synth",
    ),
]


@pytest.mark.parametrize(("page", "choices", "exhibit", "dataset"), PLACES)
def test_a_published_exhibit_says_how_the_import_compares(store, page, choices, exhibit, dataset):
    app = opened(page, **choices)
    assert not app.error
    said = [one.value.replace("\\", "") for one in app.caption]
    (sentence,) = [
        one for one in said if f"imported as {dataset}" in one and _title(exhibit) in one
    ]
    rows = store.read("reproduced", dataset)
    rows = rows[rows["exhibit"] == exhibit]
    # Of random ranks, every number differs.
    assert f"{len(rows):,} of {len(rows):,} numbers differ, most of all" in sentence
    tables = [one.value for one in app.dataframe if "recomputed" in one.value]
    shown = [t for t in tables if set(t["recomputed"].head(9)) <= set(rows["recomputed"])]
    assert shown
    numbers = published.load("published")
    if exhibit in set(numbers["exhibit"]):
        of = numbers[(numbers["exhibit"] == exhibit) & (numbers["source"] == "release")]
        assert set(shown[0]["published"]) <= set(of["value"])
    for row in shown[0].head(5).itertuples():
        assert row.difference == pytest.approx(row.recomputed - row.published)


def _title(exhibit: str) -> str:
    return f"{EXHIBITS[exhibit].title} from"


@pytest.mark.parametrize("dataset", ["r_allsides", "r_hcmagic_synth"])
def test_imported_probe_scores_have_curves_and_no_counts(store, dataset):
    app = measured(
        "beyond_vocabulary", "vocabulary", dataset, vocabulary_part="what the layers know"
    )
    text = words(app)
    assert "came without counts of questions" in text
    assert "The scores were imported" in text
    assert len(charts(app)) >= 2
