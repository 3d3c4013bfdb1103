from __future__ import annotations

import re
from xml.etree import ElementTree

from monitor_samples import FAMILIES, snapshot

from kolmocli.monitor.picture import terminal_picture


def test_the_picture_is_the_view_and_asks_for_nothing() -> None:
    svg = terminal_picture(snapshot())
    root = ElementTree.fromstring(svg)
    text = "".join(root.itertext()).replace("\N{NO-BREAK SPACE}", " ")
    for said in (*FAMILIES, "step 42/100"[:4], "42/100", "●", "range_func_up(0, 3)"):
        assert said in text
    assert "url(http" not in svg and "@font-face" not in svg and "href" not in svg
    assert not re.search(r"\b[a-z]+-[0-9]{9,}-", svg)  # no identifier that changes from run to run


def test_the_same_snapshot_gives_the_same_bytes() -> None:
    assert terminal_picture(snapshot(), 100, 30) == terminal_picture(snapshot(), 100, 30)
