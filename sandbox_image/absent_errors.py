"""Exceptions of modules that are not there: a program names them in an `except`, and tests raise them by a mock."""

import builtins
from typing import Any

_REQUESTS, _ADDRESSES = "requests.exceptions", "urllib.error"
_BASES = {
    _REQUESTS: {
        "RequestException": "OSError", "HTTPError": "RequestException", "ConnectionError": "RequestException",
        "Timeout": "RequestException", "ConnectTimeout": "Timeout", "ReadTimeout": "Timeout", "TooManyRedirects": "RequestException",
        "SSLError": "ConnectionError", "ProxyError": "ConnectionError", "ChunkedEncodingError": "RequestException",
        "InvalidURL": "RequestException", "MissingSchema": "RequestException", "InvalidSchema": "RequestException",
        "JSONDecodeError": "RequestException",
    },
    _ADDRESSES: {"URLError": "OSError", "HTTPError": "URLError", "ContentTooShortError": "URLError"},
}  # fmt: skip
_PARTS = {f"{_ADDRESSES}.URLError": ("reason",), f"{_ADDRESSES}.HTTPError": ("url", "code", "reason", "headers", "fp")}
"""What they are called that are given by their place."""
_made: dict[str, type[Exception]] = {}


def error(path: str) -> type[Exception] | None:
    """The exception that is called so, the same each time; None for what is not called like one."""
    module, _, name = path.rpartition(".")
    if module == "requests" and name in _BASES[_REQUESTS]:
        path = f"{_REQUESTS}.{name}"
    known = _BASES.get(path.rpartition(".")[0], {})
    if name not in known and not name.endswith(("Error", "Exception")):
        return None
    if path not in _made:
        base = known.get(name, "Exception")
        above = error(f"{path.rpartition('.')[0]}.{base}") if base in known else vars(builtins)[base]
        _made[path] = _class(path, name, above)
    return _made[path]


def _class(path: str, name: str, above: Any) -> type[Exception]:
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        Exception.__init__(self, *given)
        self.__dict__.update(zip(_PARTS.get(path, ()), given, strict=False))
        self.__dict__.update(named)

    def __new__(cls: Any, *given: Any, **_: Any) -> Any:
        return above.__new__(cls, *given)

    def __str__(self: Any) -> str:
        if name == "HTTPError" and "code" in self.__dict__:
            return f"HTTP Error {self.code}: {self.reason}"
        return str(self.args[0]) if len(self.args) == 1 else str(self.args or "")

    return type(
        name,
        (above,),
        {"__init__": __init__, "__new__": __new__, "__str__": __str__, "__module__": path.rpartition(".")[0]},
    )
