"""The page in a real Chromium without any network but the loopback: type, hear, stop, watch."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Iterator, List

import numpy as np
import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
playwright = pytest.importorskip("playwright.sync_api")

from http_side import HOLD, HttpSide, n_syntheses, wait_until  # noqa: E402
from running import expected  # noqa: E402

pytestmark = pytest.mark.system

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
KEEP_WHAT_IS_PLAYED = """
window.heard = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (when) {
  window.heard.push(...this.buffer.getChannelData(0));
  return start.call(this, when);
};
"""
DECODE = """async (format) => {
  const response = await fetch("tts", {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text: "Turn left. Turn right.", format }),
  });
  const context = new OfflineAudioContext(1, 1, 24000);
  return (await context.decodeAudioData(await response.arrayBuffer())).length;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium: apt-get install chromium-headless-shell (Debian), or chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found)
        yield started
        started.close()


class Visit:
    """A page that has been opened, with everything it asked for and complained about."""

    def __init__(self, browser: Any, url: str) -> None:
        self._context = browser.new_context(viewport={"width": 760, "height": 620})
        self._context.set_default_timeout(20_000)
        self.page = self._context.new_page()
        self.asked: List[str] = []
        self.complaints: List[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._on_console)
        self.page.add_init_script(KEEP_WHAT_IS_PLAYED)
        self.page.goto(url)

    def _on_console(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def shows(self, place: str, words: str) -> None:
        """Wait for these words in the element of this id."""
        playwright.expect(self.page.locator(f"#{place}")).to_contain_text(words, timeout=20_000)

    def close(self) -> None:
        self._context.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    visits: List[Visit] = []

    def opened(url: str) -> Visit:
        visits.append(Visit(browser, url))
        return visits[-1]

    yield opened
    for visit in visits:
        visit.close()


def test_a_typed_text_is_heard_and_the_service_is_watched(
    open_page: Any, http_side: HttpSide, tmp_path: Path
) -> None:
    visit = open_page(http_side.url)
    page = visit.page
    visit.shows("state", "ready")
    visit.shows("queue", "0 waiting, 0 for clients")
    visit.shows("memory", " of 1000 MiB")
    visit.shows("voice", "sine")
    page.select_option("#voice", label="sine")
    page.fill("#text", "Turn left. Turn right.")
    page.click("#speak")
    visit.shows("speech", "1.1 s spoken")
    assert page.is_disabled("#stop")
    assert page.inner_text("#fault") == ""
    samples = np.array(page.evaluate("window.heard"), dtype=np.float32) * 32768
    np.testing.assert_array_equal(samples, expected("Turn left.", " Turn right."))
    assert visit.complaints == []
    assert [url for url in visit.asked if not url.startswith((http_side.url, "data:"))] == []
    screenshot = tmp_path / "page.png"
    page.screenshot(path=screenshot)
    assert screenshot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_stop_ends_the_sound_and_the_work(open_page: Any, slow_service: Any) -> None:
    with HttpSide(slow_service.path) as side:
        visit = open_page(side.url)
        visit.page.fill("#text", HOLD)
        visit.page.click("#speak")
        visit.shows("speech", "speaking")
        visit.shows("queue", "1 for clients")
        visit.page.click("#stop")
        visit.shows("speech", "stopped")
        wait_until(lambda: n_syntheses(slow_service) == 0)
        visit.page.fill("#text", "Go go.")
        visit.page.click("#speak")
        visit.shows("speech", "0.3 s spoken")


def test_a_refusal_is_explained(open_page: Any, http_side: HttpSide) -> None:
    visit = open_page(http_side.url)
    visit.page.fill("#text", "x" * 20_001)
    visit.page.click("#speak")
    visit.shows("fault", "input.text_too_long: the text has 20001 characters")
    visit.shows("speech", "refused")


def test_with_a_token_the_page_serves_who_knows_it(open_page: Any, service: Any) -> None:
    with HttpSide(service.path, token=b"0123456789abcdef") as side:
        visit = open_page(side.url)
        visit.shows("state", "ready")
        visit.page.fill("#text", "Go go.")
        visit.page.click("#speak")
        visit.shows("fault", "service.unauthorized")
        visit.page.fill("#token", "0123456789abcdef")
        visit.shows("memory", "MiB")
        visit.page.click("#speak")
        visit.shows("speech", "0.3 s spoken")


@pytest.mark.parametrize("format", ["wav", "flac", "opus"])
def test_a_browser_decodes_what_is_streamed(open_page: Any, http_side: Any, format: str) -> None:
    pytest.importorskip("soundfile")
    n_samples = open_page(http_side.url).page.evaluate(DECODE, format)
    assert abs(n_samples - len(expected("Turn left.", " Turn right."))) <= 1


def test_the_api_is_described_without_a_network(open_page: Any, http_side: HttpSide) -> None:
    visit = open_page(f"{http_side.url}/docs")
    playwright.expect(visit.page.locator("main")).to_contain_text("POST /v1/audio/speech")
    playwright.expect(visit.page.locator("main")).to_contain_text("response_format")
    assert visit.complaints == []
