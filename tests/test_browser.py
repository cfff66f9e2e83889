"""What a person does, in a real browser against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect, sync_playwright

from biasret.build import build_dataset, save_dataset
from biasret.datasets import SHIPPED
from biasret.precomputed import Folder

PROJECT = Path(__file__).resolve().parent.parent
# A busy machine is slow, not wrong.
expect.set_options(timeout=60_000)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def _browser_path() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    pytest.fail("No Chromium was found; `make test` installs one.")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """The dashboard on a free port of this machine, stopped by its own process id."""

    def __init__(self, store: Path, log: Path) -> None:
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        environment = {**os.environ, "BIASRET_STORE": str(store)}
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        command += ["--server.address", "127.0.0.1", "--server.port", str(self.port)]
        with log.open("w") as output:
            self.process = subprocess.Popen(
                command, cwd=PROJECT, env=environment, stdout=output, stderr=subprocess.STDOUT
            )

    def wait(self) -> None:
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                time.sleep(0.25)
        pytest.fail(f"The server did not start: {self.log.read_text()[-2000:]}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """The shipped datasets with BM25 and MiniLM, as `build` makes them."""
    # What ships is taken over; only what is out of date is made again.
    path = tmp_path_factory.mktemp("browser") / "store"
    names = ("minilm-l6", "bm25")
    for file in (PROJECT / "precomputed").glob("*/demo_*.parquet"):
        # Loading eight models for each fresh server would only make the tests slow.
        _, separator, retriever = file.stem.partition("--")
        if separator and retriever not in names:
            continue
        target = path / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    folder = Folder(path)
    for shipped in SHIPPED.values():
        dataset = shipped.load()
        save_dataset(folder, dataset, inputs={})
        build_dataset(folder, dataset, names)
    return folder.path


@pytest.fixture
def server(store, tmp_path):
    """A fresh server for each test: the first visitor meets what no one has warmed."""
    server = Server(store, tmp_path / "server.log")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser_path(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, server):
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(server.url)
    yield page
    context.close()
    assert errors == []
    log = server.log.read_text()
    if "String field had bad UTF-8" not in log:
        assert "Traceback" not in log, log[-3000:]


def settled(page: Page) -> None:
    """Wait until the script has run to its end."""
    app = page.locator("[data-testid=stApp]")
    expect(app).to_have_attribute("data-test-script-state", "notRunning", timeout=120_000)


def go(page: Page, name: str, title: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible(timeout=60_000)
    settled(page)


def ask(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Your question").fill(text)
    page.get_by_role("button", name="Flip and compare").click()
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def switch_on(page: Page, label: str) -> None:
    """Press a toggle and wait until the page knows."""
    page.get_by_text(label).click()
    expect(page.get_by_role("switch", name=label)).to_be_checked()
    settled(page)


def rankings(page: Page) -> list[list[str]]:
    lists = page.locator("ol.br-list")
    return [lists.nth(i).locator(".br-title").all_inner_texts() for i in range(lists.count())]


def test_the_whole_story(page, store):
    expect(page.get_by_role("heading", name="Search that changes with the asker")).to_be_visible()
    settled(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(1)

    go(page, "Probe", "Probe")
    choose(page, "Dataset", "demo_news")
    ask(page, "How does the estate tax affect family farms?")
    expect(page.get_by_text("B: right wording, generated")).to_be_visible()
    at_10 = rankings(page)
    # The first retriever is open, the others are shut and cost nothing.
    assert [len(titles) for titles in at_10] == [10, 10]
    assert at_10[0] != at_10[1]
    assert page.locator("table.br-matrix tbody tr").count() == len(
        Folder(store).retrievers("runs", "demo_news")
    )

    page.get_by_role("radio", name="20", exact=True).click()
    expect(page.locator("ol.br-list").first.locator("li")).to_have_count(20)
    settled(page)
    at_20 = rankings(page)
    assert [titles[:10] for titles in at_20] == at_10
    expect(page).to_have_url(re.compile("probe_k=20"))
    expect(page).to_have_url(re.compile("probe_text="))
    address = page.url

    go(page, "Political lean", "Political lean")
    expect(page.get_by_text("180 pairs").first).to_be_visible()
    go(page, "Dialect", "Dialect")
    expect(page.get_by_text("rule-governed variety")).to_be_visible()
    go(page, "Overview", "Search that changes with the asker")

    page.goto(address)
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)
    assert rankings(page) == at_20
    expect(page.get_by_role("textbox", name="Your question")).to_have_value(
        "How does the estate tax affect family farms?"
    )


def test_a_link_to_a_page_works_for_the_first_visitor_of_a_fresh_server(page, server, browser):
    context = browser.new_context()
    visitor = context.new_page()
    visitor.goto(f"{server.url}/political_lean?lean_k=50")
    expect(visitor.get_by_role("heading", name="Political lean", level=1)).to_be_visible(
        timeout=60_000
    )
    expect(visitor.get_by_role("radio", name="50", exact=True)).to_be_checked()
    assert visitor.get_by_text("Page not found").count() == 0
    assert visitor.get_by_role("link", name="Overview", exact=True).count() >= 1
    context.close()


#: The address changes a moment after the run that changed it; `expect` waits for it.
HURTING = re.compile("hurting")


def test_the_text_stays_out_of_the_link_on_request(page):
    go(page, "Probe", "Probe")
    switch_on(page, "Leave my text out of the link")
    ask(page, "My head has been hurting for two weeks and she doesn't know why.")
    expect(page).not_to_have_url(HURTING)
    page.get_by_role("button", name="Edit by hand").first.click()
    expect(page.get_by_role("textbox", name="Wording A, by hand")).to_be_visible()
    settled(page)
    expect(page).not_to_have_url(HURTING)


def test_text_that_is_in_the_link_is_taken_out_on_request(page):
    go(page, "Probe", "Probe")
    ask(page, "My head has been hurting for two weeks and she doesn't know why.")
    expect(page).to_have_url(HURTING)
    switch_on(page, "Leave my text out of the link")
    expect(page.get_by_role("textbox", name="Your question")).to_have_value(
        "My head has been hurting for two weeks and she doesn't know why."
    )
    expect(page).not_to_have_url(HURTING)


class TestReaders:
    """The story of each kind of reader, from first to last step."""

    def test_the_researcher(self, page, tmp_path):
        go(page, "Probe", "Probe")
        choose(page, "Dataset", "demo_health")
        ask(page, "My sister doesn't sleep and her hands are always cold.")
        page.get_by_role("button", name="Why these 2 changes").click()
        expect(page.get_by_text("habitual be", exact=False).first).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_text("Text (", exact=False).first.click()
        expect(page.locator("details[open] .br-typed").first).to_be_visible()
        page.get_by_role("tab", name="Is this typical?").click()
        expect(page.get_by_text("stored pairs changed less", exact=False).first).to_be_visible()
        files = {}
        for label in ("Download CSV", "Download JSON", "Download report"):
            with page.expect_download() as waiting:
                page.get_by_role("button", name=label).click()
            target = tmp_path / waiting.value.suggested_filename
            waiting.value.save_as(target)
            files[label] = target.read_text(encoding="utf-8")
        document = json.loads(files["Download JSON"])
        assert [len(one["rankings"][0]) for one in document["retrievers"]] == [10, 10]
        shown = page.locator("table.br-matrix tbody td[data-label='overlap@10']").all_inner_texts()
        assert shown == [f"{one['overlap']:.2f}" for one in document["retrievers"]]
        assert "hands always be cold" in files["Download report"]
        before = rankings(page)
        page.reload()
        expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
        settled(page)
        assert rankings(page) == before

    def test_the_engineer(self, page):
        go(page, "Probe", "Probe")
        choose(page, "Dataset", "demo_health")
        page.get_by_role("button", name="Remove BM25").click()
        settled(page)
        ask(page, "My sister doesn't sleep and her hands are always cold. " * 40)
        row = page.locator("table.br-matrix tbody tr")
        expect(row).to_have_count(1)
        assert int(row.locator("td[data-label=ms]").inner_text()) > 0
        expect(page.get_by_text("read the first 256 tokens only")).to_be_visible()
        expect(page.get_by_text("Wording A was cut", exact=False)).to_be_visible()

    def test_the_stakeholder(self, page):
        page.goto(page.url.rstrip("/") + "/probe?probe_presented=true&probe_dataset=demo_news")
        example = page.locator("[class*=st-key-probe_example_] button").first
        example.click()
        lead = page.locator("p.br-lead")
        expect(lead).to_be_visible(timeout=120_000)
        settled(page)
        assert re.match(r"Of the 10 documents .+ returns for left, \d+ are", lead.inner_text())
        assert [len(titles) for titles in rankings(page)] == [5, 5]
        expect(page.locator(".js-plotly-plot")).to_have_count(1)
        assert page.locator("table.br-matrix").count() == 0


@pytest.mark.parametrize(
    "script",
    [
        """'<img src=x onerror="document.body.dataset.hit=1"><script>document.title=1</script>'""",
        """'does $x$ cost $5 or $y$ in \\u{1FA7A} or \\u202e reversed'""",
    ],
    ids=["markup", "maths and direction"],
)
def test_hostile_text_stays_text(page, script):
    go(page, "Probe", "Probe")
    box = page.get_by_role("textbox", name="Your question")
    type_by_script(box, script)
    page.get_by_role("button", name="Flip and compare").click()
    expect(page.locator(".br-diff").first).to_be_visible(timeout=120_000)
    settled(page)
    assert page.evaluate("document.body.dataset.hit") is None
    assert page.title() != "1"
    assert page.get_by_text("Something went wrong").count() == 0
    assert box.evaluate(f"(box) => box.value === {script}")


def type_by_script(box: Locator, script: str) -> None:
    """Type what a JavaScript expression gives: some text cannot pass through the driver."""
    box.evaluate(
        """(box) => {
            const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set;
            set.call(box, TEXT);
            box.dispatchEvent(new Event('input', {bubbles: true}));
        }""".replace("TEXT", script)
    )


def test_half_a_surrogate_pair_leaves_the_page_up(page):
    """Streamlit's server refuses the message that holds it, so nothing happens: nothing is lost."""
    go(page, "Probe", "Probe")
    box = page.get_by_role("textbox", name="Your question")
    script = "'half a pair \\ud83d of a surrogate'"
    type_by_script(box, script)
    page.get_by_role("button", name="Flip and compare").click()
    page.wait_for_timeout(1_000)
    assert box.evaluate(f"(box) => box.value === {script}")
    ask(page, "a pain in my head")
    assert rankings(page)


def test_narrow_screens_do_not_scroll_sideways(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{server.url}/probe?probe_text=My+sister+doesn't+sleep+and+her+hands+are+cold")
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390
    context.close()


@pytest.fixture(scope="module")
def warm_server(store, tmp_path_factory):
    """One server for all looks at pages that no one changes."""
    server = Server(store, tmp_path_factory.mktemp("warm") / "server.log")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


#: Pages as a link opens them; the first of each kind of chart and control among them.
PLACES = {
    "overview": "",
    "probe": "probe?probe_text=My+sister+doesn't+sleep+and+her+hands+are+cold",
    "presentation": "probe?probe_presented=true&probe_text=My+sister+doesn't+sleep",
    "results": "political_lean",
    "published": "dialect?dialect_world=published+by+the+paper",
    "query by query": "query_by_query",
    "beyond vocabulary": "beyond_vocabulary",
    "mitigation": "mitigation",
    "data": "data_and_judging",
    "audit": "audit",
    "method": "method",
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_no_serious_violation_of_accessibility(browser, warm_server, scheme, place):
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{warm_server.url}/{PLACES[place]}")
    expect(page.locator("h1").first).to_be_visible(timeout=120_000)
    page.wait_for_timeout(1_000)
    settled(page)
    # What a rerun is about to replace is drawn faint until it is, and fades in and out.
    expect(page.locator("[data-stale=true]")).to_have_count(0, timeout=60_000)
    page.wait_for_timeout(1_000)
    settled(page)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        (one["id"], node["target"], node["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    context.close()
    assert serious == []
    assert wide <= 1440
