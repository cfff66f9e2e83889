"""The dashboard: ``streamlit run app.py``."""

import streamlit as st

import biasret  # noqa: F401 - sets thread variables before numeric libraries load
from biasret import ui

st.set_page_config(page_title="biasret", page_icon=":material/compare_arrows:", layout="wide")
ui.remember_link()

st.navigation(
    [
        st.Page(
            "pages/overview.py",
            title="Overview",
            icon=":material/home:",
            default=True,
        ),
        st.Page("pages/probe.py", title="Probe", icon=":material/compare_arrows:"),
        st.Page(
            "pages/political_lean.py",
            title="Political lean",
            icon=":material/balance:",
        ),
        st.Page(
            "pages/dialect.py",
            title="Dialect",
            icon=":material/record_voice_over:",
        ),
        st.Page("pages/query_by_query.py", title="Query by query", icon=":material/list:"),
        st.Page(
            "pages/beyond_vocabulary.py",
            title="Beyond vocabulary",
            icon=":material/match_word:",
        ),
        st.Page("pages/mitigation.py", title="Mitigation", icon=":material/translate:"),
        st.Page(
            "pages/data_and_judging.py",
            title="Data and judging",
            icon=":material/gavel:",
        ),
        st.Page("pages/audit.py", title="Audit", icon=":material/fact_check:"),
        st.Page("pages/method.py", title="Method", icon=":material/menu_book:"),
    ]
).run()
