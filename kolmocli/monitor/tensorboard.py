"""The numbers of a run for TensorBoard: every finite number of metrics.jsonl by its name, steps as they are.

PyTorch's writer is used, with the package `tensorboard`, which is an extra: nothing of it is imported unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kolmocli.console import printable
from kolmocli.errors import UsageError
from kolmocli.extras import needing
from kolmocli.files import own_folder, require_utf8, writing
from kolmocli.monitor.history import history_to_show
from kolmocli.monitor.records import StepRecord, WarmRecord
from kolmocli.plain import finite

FOLDER = "tensorboard"
_LONGEST = 400
"""Characters of a name, which ends in that of a family."""
_FILES = "events.out.tfevents.*"


class TensorBoardLog:
    """Writes steps into `run_dir/tensorboard`: first those that are there already, in the place of all that was written.

    A resumed run therefore shows what metrics.jsonl shows, and not the steps that were done twice.
    """

    def __init__(self, run_dir: Path, earlier: Iterable[StepRecord] = ()) -> None:
        """Raises EnvironmentMissing where the package is not installed."""
        writer = _writer()
        self.folder = own_folder(Path(run_dir) / FOLDER)
        for old in self.folder.glob(_FILES):
            old.unlink()
        self._writer = writer(str(self.folder))
        for record in earlier:
            self.step(record)

    def step(self, record: StepRecord) -> None:
        """One line of metrics.jsonl. The warm start, which counts its own steps, stands under `warmup/`."""
        prefix = "warmup/" if isinstance(record, WarmRecord) else ""
        for name, value in scalars(finite(record.to_json())):
            self._writer.add_scalar(printable(prefix + name)[:_LONGEST], value, record.step)

    def close(self) -> None:
        self._writer.close()


def scalars(record: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a record with their paths as names: `buckets/ramps/pass_rate`; rows and words are left out."""
    for key, value in record.items():
        if isinstance(value, Mapping):
            yield from scalars(value, f"{above}{key}/")
        elif isinstance(value, (int, float)) and (above or key != "step"):
            yield above + key, float(value)


def require_tensorboard() -> None:
    """Raises EnvironmentMissing where the package is not installed: before hours of training, and not after them."""
    _writer()


def export(run_dir: Path) -> Path:
    """Write a run as far as it is. Returns the folder.

    Raises UsageError where there is something already, as the run itself may be writing there, and for a name that is not UTF-8.
    """
    require_utf8(run_dir)
    history = history_to_show(run_dir)
    folder = Path(run_dir) / FOLDER
    if not folder.is_symlink() and any(folder.glob(_FILES)):
        raise UsageError(
            f"{folder}: is there already, written by the run or an earlier export; remove it to export again"
        )
    with writing(folder):
        TensorBoardLog(run_dir, [*history.warmup, *history.rl]).close()
    return folder


def _writer() -> Any:
    with needing("TensorBoard", "tensorboard"):
        from torch.utils.tensorboard import SummaryWriter
    return SummaryWriter
