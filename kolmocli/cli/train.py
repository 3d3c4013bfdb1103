"""`kolmo train`: flags over `--set` over the curriculum file, then the training run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from kolmocli.cli.output import print_json, print_line, remark, show
from kolmocli.cli.plugins import Plugins, load_plugins
from kolmocli.cli.results import plan_text, summary_panel
from kolmocli.errors import UsageError, suggest

if TYPE_CHECKING:
    from kolmocli.config import Config

QUICKSTART = "quickstart"
QUESTIONS = "digits"
"""The curriculum of `--task`, where none is named."""
LATEST = Path("runs/latest")
_REHEARSED = 500_000_000
"""Parameters of the largest policy that a dry run takes parts of steps with, which is a matter of seconds."""

KEYS = {
    "model": "model.name",
    "data": "data.train",
    "eval_data": "data.eval",
    "columns": "data.columns",
    "steps": "training.steps",
    "batch_size": "training.batch_size",
    "group_size": "training.group_size",
    "learning_rate": "training.learning_rate",
    "reward_constant": "reward.constant",
    "length_penalty": "reward.length_penalty",
    "checkpoint_freq": "checkpoint_every",
    "eval_freq": "evaluation.every",
    "eval_samples": "evaluation.tasks",
    "device": "model.device",
    "use_8bit_quantization": "model.load_in_8bit",
    "lora_rank": "training.lora.rank",
    "seed": "seed",
    "sandbox": "sandbox.backend",
    "engine": "engine.kind",
    "num_generators": "engine.generators",
    "max_staleness": "engine.max_staleness",
    "hosts": "engine.hosts",
    "insecure": "engine.insecure",
    "log": "log",
}
"""The flags that are short for a key of the curriculum file. Their help is the description of the key."""

_FOUNDING_RULE = ("reward_constant", "length_penalty")
"""The two numbers of C - λ·length: naming one of them chooses that rule."""


_FOR_MONARCH = ("num_generators", "max_staleness", "hosts", "insecure")
"""Settings that only the engine monarch has: naming one of them chooses it."""


_COUNT_EPOCHS = ("checkpoint_freq", "eval_freq")
"""The frequencies that count epochs, and not steps, where the length of the run is given in epochs."""


class TrainCommand(TyperCommand):
    """Fills in the help of the flags in `KEYS` from the schema, when somebody asks for it."""

    def get_help(self, ctx: Any) -> str:
        for parameter in self.params:
            if parameter.name in KEYS and isinstance(parameter, TyperOption):
                parameter.help = _help(KEYS[parameter.name])
        return super().get_help(ctx)


def _help(key: str) -> str:
    from kolmocli.config.schema import choices, field

    schema = field(key)
    described = schema.description or key.rpartition(".")[2].replace("_", " ")
    words = ", ".join(choices(schema.annotation))
    return f"{described}: {words}  [{key}]" if words else f"{described}  [{key}]"


def train(
    curriculum: Annotated[
        str | None,
        typer.Argument(help=f"A curriculum file, or the name of a packaged one (default: {QUICKSTART})."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            metavar="FAMILY",
            help=f"train on this family of the curriculum alone (default curriculum with it: {QUESTIONS}, which has "
            "sum_digits and reverse_digits)",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "--model-name", metavar="NAME")] = None,
    data: Annotated[str | None, typer.Option("--data", "--data-path", metavar="FILE")] = None,
    eval_data: Annotated[str | None, typer.Option("--eval-data", "--eval-data-path", metavar="FILE")] = None,
    columns: Annotated[str | None, typer.Option("--columns", metavar="WHAT=COLUMN,…")] = None,
    run_dir: Annotated[
        Path | None,
        typer.Option(
            "--run-dir", "--output-dir", metavar="FOLDER", help="where the run goes (default: a new folder in runs/)"
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option("--steps", "--num-steps", metavar="N")] = None,
    num_epochs: Annotated[
        int | None,
        typer.Option(
            "--num-epochs",
            metavar="N",
            min=1,
            help="instead of --steps: draw N times as many tasks as the training data has; "
            "--checkpoint-freq and --eval-freq then count epochs too",
        ),
    ] = None,
    batch_size: Annotated[int | None, typer.Option("--batch-size", metavar="N")] = None,
    group_size: Annotated[int | None, typer.Option("--group-size", metavar="N")] = None,
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", metavar="X")] = None,
    reward_constant: Annotated[float | None, typer.Option("--reward-constant", metavar="C")] = None,
    length_penalty: Annotated[float | None, typer.Option("--length-penalty", metavar="X")] = None,
    checkpoint_freq: Annotated[int | None, typer.Option("--checkpoint-freq", metavar="N")] = None,
    eval_freq: Annotated[int | None, typer.Option("--eval-freq", metavar="N")] = None,
    eval_samples: Annotated[int | None, typer.Option("--eval-samples", metavar="N")] = None,
    device: Annotated[str | None, typer.Option("--device", metavar="NAME")] = None,
    use_8bit_quantization: Annotated[bool | None, typer.Option("--use-8bit-quantization")] = None,
    lora_rank: Annotated[int | None, typer.Option("--lora-rank", metavar="N")] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N")] = None,
    sandbox: Annotated[str | None, typer.Option("--sandbox", metavar="NAME")] = None,
    engine: Annotated[str | None, typer.Option("--engine", metavar="NAME")] = None,
    num_generators: Annotated[int | None, typer.Option("--num-generators", metavar="N")] = None,
    max_staleness: Annotated[int | None, typer.Option("--max-staleness", metavar="N")] = None,
    hosts: Annotated[str | None, typer.Option("--hosts", metavar="ADDRESS,ADDRESS")] = None,
    insecure: Annotated[bool | None, typer.Option("--insecure")] = None,
    log: Annotated[str | None, typer.Option("--log", metavar="NAME")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="any key of the curriculum file: --set controller.target=0.6",
            show_default=False,
        ),
    ] = None,
    plugins: Plugins = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="continue the run in --run-dir (default: runs/latest)")
    ] = False,
    stop_at: Annotated[
        int | None, typer.Option("--stop-at", metavar="N", help="save and stop after this RL step; --resume continues")
    ] = None,
    allow_gaps: Annotated[
        bool, typer.Option("--allow-gaps", help="with --resume: continue although lines of metrics.jsonl were lost")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="check everything, print what would be done, and stop")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="print the summary as one JSON object")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="print sample programs at every step")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="no progress, only the result")] = False,
) -> None:
    """Train a policy with a curriculum.

    A flag wins over --set, --set over the curriculum file, and the file over the defaults.
    """
    flags = {name: value for name, value in locals().items() if name in KEYS and value is not None}
    if quiet and verbose:
        raise UsageError("--quiet and --verbose exclude each other")
    if stop_at is not None and stop_at < 0:
        raise UsageError(f"--stop-at: must be >= 0, got {stop_at}")
    if allow_gaps and not resume:
        raise UsageError("--allow-gaps means nothing without --resume")
    load_plugins(plugins)
    if resume and run_dir is None:
        run_dir = LATEST
    file = _curriculum_file(curriculum, run_dir if resume else None, QUICKSTART if task is None else QUESTIONS)
    config = _configure(file, settings or [], flags, num_epochs, quiet=quiet)
    if task is not None:
        config = _only(task, config)
    if dry_run:
        from kolmocli.training.plan import plan

        planned = plan(config)
        planned["seconds"], note = _rehearsed(config, planned)
        planned["notes"] += [note]
        if json:
            print_json({**planned, "config": config.model_dump(mode="json")})
        else:
            print_line(plan_text(planned, config).removesuffix("\n"), "\n")
        return
    from kolmocli.training.train import RunOptions, train as run_training

    options = RunOptions(run_dir, resume, stop_at, verbose, quiet, allow_gaps, tuple(plugins or ()))
    summary = run_training(config, options)
    print_json(summary) if json else show(summary_panel(summary))


def _rehearsed(config: Config, planned: Mapping[str, Any]) -> tuple[dict[str, float] | None, str]:
    """Estimated cost of a run with a remark; None where the estimate would take minutes or more memory than is free."""
    from kolmocli.processor import free_memory_mib

    parameters, memory = planned["model"]["parameters"], planned["memory_mib"]
    if parameters is None:
        return None, "no time is estimated: the model would have to be downloaded first"
    if parameters > _REHEARSED:
        return (
            None,
            f"no time is estimated: taking a step with {parameters / 1e6:,.0f} million parameters takes too long",
        )
    free = free_memory_mib()
    if free is not None and memory["peak"] > free:
        return None, f"no time is estimated: {memory['peak']:,.0f} MiB are needed, and {free:,.0f} are free"
    from kolmocli.training.rehearsal import rehearse

    found = rehearse(config)
    return found, (
        f"about {found['update']:.3g} s an update and {found['hours']:.2g} h for the run: an estimate, from parts of a few "
        "steps on this machine as busy as it is now"
    )


def _only(task: str, config: Config) -> Config:
    """The configuration with this family alone."""
    if config.data.train is not None:
        raise UsageError(
            f"--task {task}: this curriculum takes its tasks from {config.data.train}; use only one of them"
        )
    if task not in config.families:
        raise UsageError(f"--task {task}: the curriculum has no such family; {suggest(task, config.families)}")
    return config.model_copy(update={"families": {task: config.families[task]}})


def _curriculum_file(curriculum: str | None, resumed: Path | None, usual: str) -> Path:
    """The file that the user named; a resumed run's own configuration; else the usual one."""
    from kolmocli.paths import find_curriculum

    if curriculum is None and resumed is not None:
        saved = resumed / "config.yaml"
        if not saved.is_file():
            raise UsageError(f"--resume: {resumed} holds no run (no config.yaml); name one with --run-dir")
        return saved
    return find_curriculum(curriculum or usual)


def _configure(
    file: Path, settings: list[str], flags: Mapping[str, Any], epochs: int | None = None, *, quiet: bool = False
) -> Any:
    from kolmocli.checkpoints import silent
    from kolmocli.config.file import load_config, parse_settings

    overrides = parse_settings(settings)
    if any(name in flags for name in _FOUNDING_RULE):
        overrides.setdefault("reward.kind", "constant_minus_length")
    if any(name in flags for name in _FOR_MONARCH):
        overrides.setdefault("engine.kind", "monarch")
    overrides.update({KEYS[name]: value for name, value in flags.items()})
    if "hosts" in flags:
        overrides["engine.hosts"] = [address.strip() for address in flags["hosts"].split(",")]
    origins = {KEYS[name]: _typed(name, value) for name, value in flags.items()}
    config = load_config(file, overrides, origins, note=remark)
    if "columns" in flags and config.data.train is None and config.data.eval is None:
        raise UsageError("--columns means nothing without --data: it names columns of that file")
    if "model.name" in overrides:
        from kolmocli.training.pretrained import gentler

        usual = gentler(load_config(file, to_look=True), config, overrides, file.name, silent if quiet else remark)
        overrides.update(usual)
        config = load_config(file, overrides, origins) if usual else config
    if epochs is None:
        return config
    if "steps" in flags:
        raise UsageError("--num-epochs and --steps exclude each other")
    from kolmocli.training.epochs import steps_per_epoch

    steps = steps_per_epoch(config)
    overrides["training.steps"] = epochs * steps
    overrides.update({KEYS[name]: flags[name] * steps for name in _COUNT_EPOCHS if name in flags})
    return load_config(file, overrides, origins)


def _typed(flag: str, value: Any) -> str:
    """A flag as it was typed, for the error message."""
    name = f"--{flag.replace('_', '-')}"
    return name if value is True else f"{name} {value}"
