"""Find the embedded interpreter: the file that its own distribution brought, and no other of that name."""

from __future__ import annotations

import os
from pathlib import Path

from kolmocli.errors import EnvironmentMissing

DISTRIBUTION = "pydantic-monty-runtime"
MEND = f"install it with: python -m pip install --force-reinstall {DISTRIBUTION}"


def find_interpreter() -> Path:
    """The program that runs the embedded sandbox's programs, from the records of the installed distribution.

    Neither PATH nor the scripts folder of the environment is asked: packages may be borrowed from another environment,
    and a stranger's program of the same name must not be started as a sandbox.

    Raises:
        EnvironmentMissing: the distribution is not installed, or its interpreter is gone or may not be run.
    """
    from importlib import metadata  # here, for every worker imports this module, and none looks for its interpreter

    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise EnvironmentMissing(f"the embedded sandbox needs {DISTRIBUTION}; {MEND}") from None
    recorded = next((f for f in installed.files or () if f.name in ("monty", "monty.exe")), None)
    if recorded is None:
        raise EnvironmentMissing(f"{DISTRIBUTION} does not say where its interpreter is; {MEND}")
    # `pip install --target` moves scripts to a folder next to the packages, and leaves the record as it was.
    places = [
        Path(str(place)).resolve() for place in (recorded.locate(), installed.locate_file(f"bin/{recorded.name}"))
    ]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise EnvironmentMissing(f"the interpreter of {DISTRIBUTION} is not at {places[0]}; {MEND}")
    if not os.access(found, os.X_OK):
        raise EnvironmentMissing(f"the interpreter of {DISTRIBUTION} may not be run: {found}; {MEND}")
    return found
