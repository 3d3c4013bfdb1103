"""Epochs, for those who count in them: as many tasks as a data set has."""

from __future__ import annotations

from kolmocli.config import Config
from kolmocli.errors import UsageError
from kolmocli.tasks.sources import silent, training_source


def steps_per_epoch(config: Config) -> int:
    """Steps until as many tasks were drawn as the training data holds, the last step rounded up.

    Which of them are drawn is the controller's choice: an epoch is an amount and not every sequence once.

    Raises:
        UsageError: the tasks do not run out, because they are sampled from the families of the curriculum.
    """
    source = training_source(config, silent)
    sizes = [source.size(bucket) for bucket in source.buckets()]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        raise UsageError(
            "--num-epochs: the tasks of a curriculum never run out; use --steps, or name a file with --data"
        )
    return -(-sum(known) * config.training.group_size // config.training.batch_size)
