"""What the results pages draw of the paper's own numbers."""

from __future__ import annotations

import streamlit as st

from biasret.catalogue import Catalogue
from biasret.metrics import METRICS
from biasret.published import EXHIBITS
from biasret.reproduction import ENDINGS, disagreements, exhibit_numbers
from biasret.sentences_published import reproduced
from biasret.ui import reads
from biasret.ui.exhibits import SHOWN, VIEWS, Shown
from biasret.ui.exhibits_vocabulary import CONTROL_VIEWS, CONTROLS
from biasret.ui.pages import markdown_safe, pick, save, show

__all__ = ["beside_imports", "every_number", "notes", "paper", "published"]


#: Every exhibit that stands on a page, and what they are sorted by there.
EVERY_SHOWN: Catalogue[Shown] = Catalogue(
    "published exhibit on a page", [*SHOWN.values(), *CONTROLS]
)
EVERY_VIEW = VIEWS | CONTROL_VIEWS


def paper(page: str, *, key: str) -> None:
    """The published exhibits of a page, in the view chosen.

    Parameters
    ----------
    page
        A script of ``pages/`` that `EVERY_SHOWN` places exhibits on.
    key
        Prefix of the page's choices in the link.
    """
    here = [one for one in EVERY_SHOWN.values() if one.page == page]
    views = {name: label for name, label in EVERY_VIEW.items() if any(o.view == name for o in here)}
    view = pick("Published results", f"{key}_view", views)
    for one in here:
        if one.view == view:
            published(one.name, key=key)


def published(name: str, *, key: str) -> None:
    """One published exhibit: finding, chart, numbers, file, and where page and release differ.

    Parameters
    ----------
    name
        A key of `EVERY_SHOWN`.
    """
    exhibit = EVERY_SHOWN[name]
    drawn = exhibit.draw()
    titles = "; ".join(EXHIBITS[one].title for one in exhibit.exhibits)
    first = drawn.table.iloc[0]
    st.subheader(exhibit.label)
    st.caption(
        f"Published by Tang et al. (2026), {markdown_safe(titles)}. {markdown_safe(exhibit.about)}."
    )
    show(
        drawn.figure,
        drawn.table.dropna(axis="columns", how="all"),
        name=f"{key}-{name}",
        sentence=drawn.sentence,
        alt=drawn.alt,
        about={
            "dataset": str(first["dataset"]),
            "world": "published (Tang et al. 2026, full precision from the authors' release)",
            "exhibit": titles,
            "shows": exhibit.about,
            "metric": METRICS[first["metric"]].about,
            "gap": f"{first['minuend']} minus {first['subtrahend']}",
            "method": drawn.method,
        },
    )
    st.caption(markdown_safe(drawn.method))
    notes(*exhibit.exhibits)
    every_number(*exhibit.exhibits, key=f"{key}-{name}")


def notes(*exhibits: str) -> None:
    """Where the paper's page and the release do not say the same about these exhibits."""
    for what in disagreements(*exhibits):
        st.caption(f":material/difference: Page and release: {markdown_safe(what)}")


def beside_imports(exhibit: str, *, key: str) -> None:
    """An exhibit computed anew from each imported release, beside what is published.

    Parameters
    ----------
    exhibit
        A key of `biasret.published.EXHIBITS`.
    key
        Names widgets and files; distinct on a page.
    """
    for name, record in reads.datasets().items():
        if not name.endswith(tuple(ENDINGS.values())):
            continue
        rows = reads.rows("reproduced", name, exhibit=exhibit)
        if rows.empty:
            continue
        title = EXHIBITS[exhibit].title
        sentence = f"{title} from {record.label}, imported as {name}: {reproduced(rows)}"
        st.caption(f":material/sync_alt: {markdown_safe(sentence)}")
        with st.expander(
            f"{title}, computed from {markdown_safe(name)}", icon=":material/sync_alt:"
        ):
            table = rows.drop(columns=["dataset", "exhibit"]).dropna(axis="columns", how="all")
            if "published" in table:
                at = table.columns.get_loc("published") + 1
                table.insert(at, "difference", table["recomputed"] - table["published"])
            st.dataframe(
                table.head(250),
                hide_index=True,
                placeholder="—",
                key=f"beside-{key}-{exhibit}-{name}",
            )
            save(
                table,
                name=f"beside-{key}-{exhibit}-{name}",
                about={
                    "dataset": name,
                    "world": "computed here from an imported release, beside the published numbers",
                    "exhibit": title,
                    "difference": "recomputed minus published",
                    "tolerance": "largest difference that counts as none; where is_relative, a "
                    "share of the published number",
                },
            )


def every_number(*exhibits: str, key: str) -> None:
    """All numbers of exhibits, as printed beside as released, whatever their quantities.

    Where a release was imported, the same numbers computed from it follow.

    Parameters
    ----------
    exhibits
        Keys of `biasret.published.EXHIBITS`.
    key
        Names widgets and files; distinct on a page.
    """
    for name in exhibits:
        exhibit = EXHIBITS[name]
        with st.expander(f"Every number of {exhibit.title}", icon=":material/table:"):
            numbers = exhibit_numbers(name)
            sign = f"positive means {exhibit.sign}" if exhibit.sign else "no comparison"
            st.caption(
                markdown_safe(
                    f"{exhibit.about[0].upper()}{exhibit.about[1:]}. Unit: {exhibit.unit}; sign: "
                    f"{sign}. Source: {exhibit.source}. {len(numbers):,} rows."
                )
            )
            # Thousands of rows are for the file; the first are enough to see what they are.
            st.dataframe(
                numbers.head(250), hide_index=True, placeholder="—", key=f"all-{key}-{name}"
            )
            save(
                numbers,
                name=f"all-{key}-{name}",
                about={
                    "dataset": exhibit.dataset or "several",
                    "world": "published (Tang et al. 2026)",
                    "exhibit": exhibit.title,
                    "shows": exhibit.about,
                    "unit": exhibit.unit,
                    "sign": sign,
                    "source": exhibit.source,
                },
            )
        beside_imports(name, key=key)
