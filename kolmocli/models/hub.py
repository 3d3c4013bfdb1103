"""A model from the Hugging Face hub, as it is there: weights as safetensors, configuration, tokenizer."""

from __future__ import annotations

import shutil
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from kolmocli.errors import EnvironmentMissing
from kolmocli.models.folders import FILES, copy_model

_REASON = 200


def has_address() -> bool:
    """Whether the name of the hub leads to a machine. The library looks five times for every file, which takes half a minute each,
    before it takes what it has. Behind a proxy only the proxy knows."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        parts = urlsplit(constants.ENDPOINT)
        if getproxies().keys() & {parts.scheme, "all"}:
            return True
        return bool(socket.getaddrinfo(parts.hostname, parts.port or parts.scheme))
    except (OSError, ValueError):  # the second: a port that is none, a name that cannot be looked up
        return False


def fetch(name: str, folder: Path, downloads: Path, note: Callable[[str], None]) -> str:
    """Write the files of this model into the folder, by way of `downloads`, where another try finds them. Returns its commit.

    Raises:
        EnvironmentMissing: the hub does not answer, or has no such model.
        UsageError: what is there is not a model that can be loaded.
    """
    import httpx2
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    note(f"{name}: downloading from the Hugging Face hub")
    place = downloads / "hub"
    try:
        commit = str(HfApi().model_info(name).sha)
        snapshot_download(name, revision=commit, local_dir=place, allow_patterns=list(FILES))
    except (HfHubHTTPError, OfflineModeIsEnabled, httpx2.HTTPError, ConnectionError) as error:
        reason = " ".join(str(error).split())[:_REASON]
        raise EnvironmentMissing(
            f"{name}: the hub cannot be reached ({reason}); try again, or leave out --from"
        ) from None
    shutil.rmtree(place / ".cache", ignore_errors=True)
    copy_model(place, folder, note)
    return commit
