"""What `kolmocli.contrib` brings: our own entry points, by group and name, each with the module that registers it.

They stand here and not among the entry points of pyproject.toml, because those are read from the metadata of the installed
distribution: a checkout whose metadata is older would not know them. What is here is known without reading any metadata.
"""

ENTRY_POINTS = {
    "kolmocli.controllers": {
        "pool": "kolmocli.contrib.controllers.pool",
        "thompson": "kolmocli.contrib.controllers.thompson",
        "window": "kolmocli.contrib.controllers.window",
        "sec": "kolmocli.contrib.controllers.sec",
        "sequential": "kolmocli.contrib.controllers.sequential",
    },
}
