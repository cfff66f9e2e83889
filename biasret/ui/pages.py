"""Page frames, pickers bound to the link, and `show`: a chart, its numbers, its file."""

from __future__ import annotations

import logging
import runpy
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from biasret import exports, markup, sentences
from biasret.datasets.base import DatasetRecord
from biasret.errors import BiasretError, StoreError
from biasret.filters import FILTERS, filter_named
from biasret.metrics import METRICS
from biasret.retrievers import available, record_for
from biasret.retrievers import names as retriever_names
from biasret.ui import reads

__all__ = [
    "about_dataset",
    "markdown_safe",
    "page",
    "pick",
    "pick_dataset",
    "pick_filter",
    "pick_k",
    "pick_measured_k",
    "pick_retrievers",
    "plot",
    "remember_link",
    "save",
    "show",
    "told_number",
    "told_text",
]

log = logging.getLogger("biasret")

#: Streamlit shows captions at 60% and, in the dark theme, white text on the accent colour;
#: neither can be read easily (WCAG 2.2, 1.4.3 asks for a contrast of 4.5).
_CONTRAST = """<style>
[data-testid="stCaptionContainer"]{opacity:.85!important}
[data-testid="stMultiSelect"] [data-tag] *,
button[kind^="primary"] *{color:light-dark(#ffffff,#06211d)!important}
</style>"""


@contextmanager
def page(title: str, about: str) -> Iterator[None]:
    """A page's heading, and one guard for whatever goes wrong under it."""
    if "_link" not in st.session_state:
        # The first visitor of a fresh server may come by a page's own address. Streamlit then
        # still takes pages/ for its older kind of app and runs the page without app.py.
        runpy.run_path(str(Path(__file__).resolve().parents[2] / "app.py"))
        st.stop()
    st.html(_CONTRAST)
    st.title(title)
    st.markdown(about)
    try:
        yield
    except StoreError as error:
        st.error(markdown_safe(str(error)), icon=":material/database_off:")
    except BiasretError as error:
        st.error(markdown_safe(str(error)), icon=":material/error:")
    except Exception:
        # The visitor gets an id to quote; the log has the rest.
        reference = secrets.token_hex(4)
        log.exception("page %s failed, reference %s", title, reference)
        st.error(
            f"Something went wrong on this page. Reload it; if it happens again, report "
            f"reference {reference}, which names the entry in the server's log.",
            icon=":material/error:",
        )


def remember_link() -> None:
    """Keep what the link asked for, before any widget takes it away."""
    if "_link" not in st.session_state:
        st.session_state["_link"] = {key: st.query_params.get_all(key) for key in st.query_params}


def _told(key: str, shown: Sequence[str]) -> None:
    """Say so, once, when the link asked for something else than what is shown."""
    asked = st.session_state.get("_link", {}).pop(key, None)
    refused = [value for value in asked or () if value and value not in shown]
    if refused:
        _say_refused(key, refused[0], using=", ".join(shown) or "none")


def _say_refused(key: str, value: str, *, using: str) -> None:
    st.warning(
        markdown_safe(
            f"The link asked for {key}={value}, which is not to be had here; using {using}."
        ),
        icon=":material/link_off:",
    )


def told_number(key: str, shown: float) -> None:
    """Say so, once, when the link asked for another number than the one shown."""
    for value in st.session_state.get("_link", {}).pop(key, []):
        try:
            is_shown = float(value) == float(shown)
        except ValueError:
            is_shown = False
        if not is_shown:
            _say_refused(key, value, using=f"{shown:g}")


def told_text(key: str, shown: str, *, limit: int) -> None:
    """Say so, once, when the text of the link was longer than what is taken."""
    for value in st.session_state.get("_link", {}).pop(key, []):
        if len(value) > limit:
            st.warning(
                f"The text of the link had {len(value):,} characters; the first "
                f"{len(shown):,} are used.",
                icon=":material/content_cut:",
            )


def markdown_safe(text: str) -> str:
    """Text that Markdown shows as it is."""
    shown = markup.visible(text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!|<>$~:^&" else c for c in shown)


def pick_dataset(key: str, *, signal: str | None = None) -> DatasetRecord:
    """Choose a dataset; says so and stops where there is none."""
    known = reads.datasets(signal)
    if not known:
        st.info(
            "The store holds no dataset for this page yet. Run `python -m biasret build` for the "
            "shipped ones, or `python -m biasret import` for your own.",
            icon=":material/database:",
        )
        st.stop()
    names = list(known)
    name = st.selectbox("Dataset", names, key=key, bind="query-params")
    _told(key, [name])
    return known[name]


def pick_k(key: str, ks: Sequence[int], *, default: int) -> int:
    """Choose the depth k; the first where the usual one is not to be had."""
    options = [str(k) for k in ks]
    default = default if default in ks else ks[0]
    chosen = st.segmented_control(
        "Depth k",
        options,
        default=str(default),
        required=True,
        key=key,
        bind="query-params",
        wrap=True,
        help="How many documents of each ranking are read.",
    )
    _told(key, [str(chosen)])
    return int(chosen or default)


def pick_measured_k(key: str, record: DatasetRecord, *, metric: str) -> int:
    """Choose among the depths at which a metric of a dataset was measured."""
    usual = METRICS[metric]
    assert usual.headline is not None
    measured = reads.depths(record.name, metric)
    # Where nothing is measured yet, the page says so at any depth.
    return pick_k(key, measured or [k for k in usual.ks if k], default=usual.headline)


def pick(label: str, key: str, names: Mapping[str, str], *, help: str | None = None) -> str:
    """Choose one of a few named things, shown by label."""
    options = list(names)
    chosen = st.segmented_control(
        label,
        options,
        default=options[0],
        required=True,
        format_func=lambda name: markdown_safe(names[name]),
        key=key,
        bind="query-params",
        wrap=True,
        help=help,
    )
    _told(key, [markdown_safe(names[chosen or options[0]])])
    return str(chosen or options[0])


def pick_filter(key: str, record: DatasetRecord, *, metric: str) -> str:
    """Choose among the filters under which a metric of a dataset was measured."""
    stored = reads.filters(record.name, metric)
    names = [name for name in FILTERS if name in stored]
    names += [name for name in stored if name not in FILTERS]
    if len(names) < 2:
        return "raw"
    return pick("Queries", key, {name: filter_named(name).label for name in names})


def pick_retrievers(key: str, dataset: str) -> list[str]:
    """Choose among the retrievers whose results of a dataset are stored."""
    stored = reads.store().retrievers(dataset)
    names = [name for name in retriever_names() if name in stored]
    ready = [name for name in names if available(record_for(name)).is_available]
    if not names:
        st.info(
            "No retriever has been run on this dataset yet. Run `python -m biasret build`.",
            icon=":material/database:",
        )
        st.stop()
    chosen = st.multiselect(
        "Retrievers",
        names,
        default=ready,
        format_func=sentences.retriever_label,
        key=key,
        bind="query-params",
        help="Results of all of these are stored; those that are not installed here cannot be "
        "asked a new question.",
    )
    _told(key, [sentences.retriever_label(name) for name in chosen])
    return list(chosen)


def about_dataset(record: DatasetRecord) -> None:
    """Which world is shown, on what data, with how many queries."""
    n = reads.counts(record.name)
    kind = "illustrative data" if record.is_illustrative else "imported data"
    st.caption(
        markdown_safe(
            f"Measured here on {record.label} ({kind}): {n['documents']:,} documents, "
            f"{n['queries']:,} queries in {n['cells']:,} cells and {n['clusters']:,} clusters. "
            f"{record.about.rstrip(chr(46))}."
        )
    )


def show(
    figure: go.Figure,
    table: pd.DataFrame,
    *,
    name: str,
    sentence: str,
    alt: str,
    about: Mapping[str, str],
) -> None:
    """A chart with its finding, its numbers as a table, and both as one file.

    Parameters
    ----------
    name
        Names widgets and file; distinct on a page.
    about
        What is shown; stands above the numbers in the file.
    """
    st.markdown(f"**{markdown_safe(sentence)}**")
    plot(figure, key=f"chart-{name}", alt=alt)
    with st.expander("Numbers behind the chart"):
        st.dataframe(table, hide_index=True, placeholder="—", key=f"table-{name}", alt=alt)
        save(table, name=name, about=about)


def plot(figure: go.Figure, *, key: str, alt: str) -> None:
    """A chart in the ink of the page's theme."""
    # The page's theme greys axis text below what is easy to read. Until the browser has told
    # which theme it uses, a middle grey reads on both.
    ink = {"light": "#2b3036", "dark": "#d5d9de"}.get(st.context.theme.type or "", "#7a8087")
    figure.update_layout(font={"color": ink, "size": 14}, legend={"font": {"color": ink}})
    figure.update_xaxes(tickfont={"color": ink, "size": 13}, title={"font": {"color": ink}})
    figure.update_yaxes(tickfont={"color": ink, "size": 14}, title={"font": {"color": ink}})
    figure.update_annotations(font={"color": ink, "size": 13})
    st.plotly_chart(figure, key=key, alt=alt, config={"displaylogo": False})


def save(table: pd.DataFrame, *, name: str, about: Mapping[str, str]) -> None:
    """A button that hands out a table as CSV; the file is made when it is asked for."""
    data: Callable[[], bytes] = lambda: exports.table_csv(table, about)  # noqa: E731
    st.download_button(
        "Download CSV",
        data,
        file_name=exports.file_name(name, about.get("dataset", "data"), suffix="csv"),
        mime="text/csv",
        on_click="ignore",
        key=f"save-{name}",
        icon=":material/download:",
    )
