"""What a person does, in a real browser against a real server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from biasret.build import build_dataset, save_dataset
from biasret.datasets import SHIPPED
from biasret.precomputed import Folder

PROJECT = Path(__file__).resolve().parent.parent
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


def ask(page: Page, a: str, b: str) -> None:
    boxes = page.get_by_role("textbox", name="Wording")
    boxes.nth(0).fill(a)
    boxes.nth(1).fill(b)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)


def rankings(page: Page) -> list[list[str]]:
    lists = page.locator("ol.br-list")
    return [lists.nth(i).locator(".br-title").all_inner_texts() for i in range(lists.count())]


def test_the_whole_story(page, store):
    expect(page.get_by_role("heading", name="Search that changes with the asker")).to_be_visible()
    settled(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(4, timeout=60_000)

    go(page, "Probe", "Probe")
    page.get_by_role("combobox", name="Dataset").click()
    page.get_by_role("option", name="demo_news").click()
    settled(page)
    ask(
        page,
        "How does a safe gun storage law protect children?",
        "How does a gun storage mandate burden law-abiding owners?",
    )
    at_10 = rankings(page)
    retrievers = Folder(store).retrievers("runs", "demo_news")
    assert len(at_10) == 2 * len(retrievers)
    assert all(len(titles) == 10 for titles in at_10)
    assert at_10[0] != at_10[1]

    page.get_by_role("radio", name="20", exact=True).click()
    expect(page.locator("ol.br-list").first.locator("li")).to_have_count(20)
    settled(page)
    at_20 = rankings(page)
    assert [titles[:10] for titles in at_20] == at_10
    assert "probe_k=20" in page.url
    assert "probe_a=" in page.url
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
    expect(page.get_by_role("textbox", name="Wording").nth(0)).to_have_value(
        "How does a safe gun storage law protect children?"
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


def test_the_text_stays_out_of_the_link_on_request(page):
    go(page, "Probe", "Probe")
    page.get_by_text("Leave my text out of the link").click()
    settled(page)
    ask(page, "headache for two weeks", "my head been hurting for two weeks")
    assert "headache" not in page.url
    assert "hurting" not in page.url


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
    boxes = page.get_by_role("textbox", name="Wording")
    type_by_script(boxes.nth(0), script)
    boxes.nth(1).fill("headache")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)
    assert page.evaluate("document.body.dataset.hit") is None
    assert page.title() != "1"
    assert page.get_by_text("Something went wrong").count() == 0
    assert boxes.nth(0).evaluate(f"(box) => box.value === {script}")


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
    boxes = page.get_by_role("textbox", name="Wording")
    script = "'half a pair \\ud83d of a surrogate'"
    type_by_script(boxes.nth(0), script)
    boxes.nth(1).fill("headache")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_timeout(1_000)
    assert boxes.nth(0).evaluate(f"(box) => box.value === {script}")
    ask(page, "a pain in my head", "headache")
    assert rankings(page)


def test_narrow_screens_do_not_scroll_sideways(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{server.url}/probe?probe_a=headache&probe_b=my+head+hurt")
    expect(page.locator("ol.br-list").first).to_be_visible(timeout=120_000)
    settled(page)
    wide = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= 390
    context.close()
