"""report.html in a real browser, opened from the disk: it shows everything and asks nobody for anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import tab
from monitor_samples import write_run

from kolmocli.monitor.compare import write_comparison
from kolmocli.monitor.plots import FIGURES, write_report

pytestmark = pytest.mark.browser

_WIDTHS = (
    "Promise.all([...document.images].map(i => i.decode())).then(() => [...document.images].map(i => i.naturalWidth))"
)


@pytest.mark.slow
def test_the_pages_open_from_the_disk(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path / "run & <b>more", steps=30)
    other = write_run(tmp_path / "other", steps=20, seed=6)
    *_, report = write_report(run_dir)
    *_, comparison = write_comparison([run_dir, other], tmp_path / "both")
    for page, images in ((report, len(FIGURES)), (comparison, 6)):
        with tab(tmp_path / f"profile-{page.parent.name[:4]}") as browser:
            browser.open(page)
            widths = browser.evaluate(_WIDTHS)
            assert len(widths) == images
            assert all(width >= 1000 for width in widths)
            asked = [event["request"]["url"] for event in browser.told("Network.requestWillBeSent")]
            assert asked[0] == page.as_uri()
            assert [url[:60] for url in asked[1:] if not url.startswith("data:image/png;base64,")] == []
            assert browser.told("Log.entryAdded") == []
            assert browser.told("Runtime.consoleAPICalled") == []
            assert browser.told("Runtime.exceptionThrown") == []
            # Nothing sticks out at the side.
            assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            title = browser.evaluate("document.querySelector('h1').textContent")
            assert title == ("run & <b>more" if page == report else "Comparison")


@pytest.mark.slow
def test_a_page_that_asks_the_network_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text('<title>x</title><script>console.log("here")</script><img src="http://127.0.0.1:9/missing.png">')
    with tab(tmp_path / "profile") as browser:
        browser.open(page)
        assert any(e["request"]["url"].startswith("http:") for e in browser.told("Network.requestWillBeSent"))
        assert browser.told("Runtime.consoleAPICalled") and browser.told("Log.entryAdded")
        assert browser.evaluate("document.images[0].naturalWidth") == 0
