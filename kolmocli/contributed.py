"""Plugins of `kolmocli.contrib`: our own entry points, by group and name, each with the module that registers it.

They stand here and not among the entry points of pyproject.toml, because those are read from the metadata of the installed
distribution: a checkout whose metadata is older would not know them. They are known here without reading any metadata.
"""

_CONTROLLERS = ("posterior", "pool", "thompson", "window", "learnability", "grade_adaptive", "sec", "sequential")
_METHODS = ("refill", "pilot", "screening", "hints", "self_play", "shaping")
"""In the order in which they have their say: what chooses tasks comes before hints, which begin those that were chosen."""

ENTRY_POINTS: dict[str, dict[str, str]] = {
    "kolmocli.controllers": {name: f"kolmocli.contrib.controllers.{name}" for name in _CONTROLLERS},
    "kolmocli.methods": {name: f"kolmocli.contrib.methods.{name}" for name in _METHODS},
    "kolmocli.method_settings": dict.fromkeys(_METHODS, "kolmocli.contrib.settings"),
}
