"""The live view as an SVG, for pages: what a terminal shows, without one."""

from __future__ import annotations

import io
import re

from rich.console import Console
from rich.terminal_theme import MONOKAI

from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.view import render


def terminal_picture(snapshot: Snapshot, width: int = 80, height: int = 24, title: str = "kolmo") -> str:
    """The view on a terminal of this size, as SVG text: the same text for the same snapshot."""
    console = Console(
        width=width, height=height, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(render(snapshot, width, height - 1))
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id="kolmo")
    # Rich asks the network for its font. Every text has its length written with it, so any monospace font will do.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, ", "")
