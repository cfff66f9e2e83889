"""A report in a real browser: its charts draw, and nothing else runs or is fetched."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from test_browser import FLAGS, _browser_path

from biasret.report import Section, save

HOSTILE = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"


def report(path: Path) -> Path:
    figure = go.Figure(go.Scatter(x=[1, 2], y=[2, 1], name=HOSTILE, text=[HOSTILE] * 2))
    figure.update_layout(title=HOSTILE)
    table = pd.DataFrame({"name": [HOSTILE] * 20, "value": range(20)})
    sections = [
        Section(HOSTILE, [HOSTILE], figure, HOSTILE, table, {"k": HOSTILE}),
        Section("Another", ["Words."], go.Figure(go.Bar(x=["a"], y=[1])), "One bar.", table[:2]),
    ]
    save(path, HOSTILE, sections, about={HOSTILE: HOSTILE})
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_a_report_draws_its_charts_and_nothing_else_happens(tmp_path, scheme, width):
    path = report(tmp_path / "report.html")
    asked: list[str] = []
    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=_browser_path(), args=FLAGS)
        page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_function("document.querySelectorAll('.chart .main-svg').length >= 2")
        assert page.evaluate("window.ran === undefined")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.title() == HOSTILE
        # The table of twenty rows is folded, the one of two is open.
        assert page.locator("details[open]").count() == 1
        # What somebody slips in later does not run either.
        page.evaluate(
            "document.body.appendChild(Object.assign(document.createElement('script'),"
            " {textContent: 'window.ran = 1'}))"
        )
        assert page.evaluate("window.ran === undefined")
        refused = [text for text in said if "Content Security Policy" in text]
        assert len(refused) == len(said) == 1, said
        found = Axe().run(page).response["violations"]
        assert not found, [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        browser.close()
    assert asked == [path.as_uri()]
