"""What the site has beyond the pages: the reference of the Python API, and the files of the repository that pages link to."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from pymdownx.slugs import slugify

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # for the names alone: nothing of kolmo is installed where the site is built

from kolmocli import _ROOMS  # noqa: E402

_BEYOND = re.compile(r"\]\((\.\./[^)\s]*)\)")
_MORE = {
    "language.coder": ("coded_bits", "literal_bits"),
    "language.interpreter": ("evaluate",),
    "language.program": ("parse",),
    "integrations.numcodecs": ("Kolmo",),
}
"""Public too, but not at the front door."""


def on_config(config: Any) -> Any:
    """Anchors are those that a code host makes of a heading, so that links hold in both places."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the reference, and each file outside the pages that one of them links to, as plain text."""
    files.append(File.generated(config, "api.md", content=reference()))
    for page in files.documentation_pages():
        for link in _BEYOND.findall(page.content_string):
            path = _outside(page, link)
            place = f"files/{path}.txt"
            if path and files.get_file_from_path(place) is None:
                files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """`../kolmocli/x.py` is next to the pages in the repository, and below them on the site."""

    def moved(found: re.Match[str]) -> str:
        path = _outside(page.file, found[1])
        return (
            f"]({posixpath.relpath(f'files/{path}.txt', posixpath.dirname(page.file.src_uri))})" if path else found[0]
        )

    return _BEYOND.sub(moved, markdown)


def reference() -> str:
    """A heading for each room, and below it its public names in the order of the front door."""
    lines = [
        "# Python API",
        "",
        "Every name of `import kolmocli as kolmo`, from its docstring. [A tour](library.md) shows them at work.",
    ]
    rooms: dict[str, list[str]] = {}
    for module, names in _ROOMS.items():
        rooms.setdefault(module.partition(".")[0], []).extend(f"::: kolmocli.{module}.{name}" for name in names)
    for module, names in _MORE.items():
        full = "\n    options: {show_root_full_path: true}"
        rooms[module.partition(".")[0]].extend(f"::: kolmocli.{module}.{name}{full}" for name in names)
    for room, entries in rooms.items():
        lines += ["", f"## {room.capitalize()}", *(f"\n{entry}" for entry in entries)]
    return "\n".join(lines) + "\n"


def _outside(page: File, link: str) -> str | None:
    """The path in the repository of what a link of this page names; None if it is a page, or no file."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.src_uri), link.partition("#")[0]))
    return None if path.startswith("docs/") or not os.path.isfile(ROOT / path) else path
