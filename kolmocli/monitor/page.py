"""A page in one file: pictures inlined, no script and no network. It opens from the disk.

All text of models and curricula is escaped; nothing in the page can run.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from kolmocli.console import printable

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1040px;
       margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p.state { color: #666; margin: .2rem 0 1.4rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .8rem; margin: 0; }
dl div { border: 1px solid #e2e2e2; border-radius: 8px; padding: .6rem .8rem; }
dt { color: #666; font-size: .82rem; } dd { margin: 0; font-size: 1.3rem; font-weight: 600; }
img { width: 100%; height: auto; border: 1px solid #eee; border-radius: 8px; margin: .5rem 0; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #eee; }
th { color: #666; font-weight: 500; font-size: .85rem; white-space: normal; vertical-align: bottom; } th:first-child, td:first-child { text-align: left; }
pre { background: #f6f6f6; border-radius: 8px; padding: .8rem; overflow-x: auto; font-size: .85rem; }
ul { padding-left: 1.2rem; } li { margin: .1rem 0; }
"""


def page(title: str, state: str, parts: Iterable[str]) -> str:
    """The whole page: a title, a line under it, and parts that are HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{safe(title)} – kolmo</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{safe(title)}</h1>\n<p class="state">{safe(state)}</p>\n' + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def section(title: str, *bodies: str) -> list[str]:
    """A heading and what stands under it; nothing where all of it is empty."""
    filled = [body for body in bodies if body]
    return [f"<h2>{title}</h2>", *filled] if filled else []


def cards(values: Mapping[str, str]) -> str:
    return "<dl>" + "".join(f"<div><dt>{k}</dt><dd>{safe(v)}</dd></div>" for k, v in values.items()) + "</dl>"


def image(png: bytes, alt: str) -> str:
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{safe(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    top = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>' if body else ""


LINES = "\n"


def safe(text: object, kept: str = "") -> str:
    return escape(printable(str(text), kept))


def program(comment: object, text: object) -> str:
    """A program under a line that says what it is for."""
    return f"<pre># {safe(comment)}\n{safe(text, LINES)}</pre>"
