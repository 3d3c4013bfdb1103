"""`kolmo curriculum simulate`: all controllers side by side, on learners whose ability is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kolmocli.cli.given import given, require_choice
from kolmocli.cli.output import print_json, show
from kolmocli.cli.plugins import Plugins, load_plugins
from kolmocli.errors import UsageError

if TYPE_CHECKING:
    from kolmocli.config import ControllerSection


def simulate(
    context: typer.Context,
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            "--controller",
            metavar="NAME[:KEY=VALUE,...]",
            help="compare these only, with settings of their own: rasch:target=0.45; oracle is one; may be repeated",
        ),
    ] = None,
    scenarios: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="learners and disturbances to simulate, or all (default: base); may be repeated",
        ),
    ] = None,
    prompts: Annotated[
        list[int] | None,
        typer.Option(
            "--prompts",
            min=16,
            max=1_000_000,
            metavar="N",
            help="a finite set of N prompts instead; may be repeated",
        ),
    ] = None,
    lag: Annotated[int, typer.Option("--lag", min=0, metavar="N", help="steps until results come")] = 0,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="runs of each")] = 8,
    steps: Annotated[int, typer.Option("--steps", min=100, metavar="N", help="steps of each run")] = 300,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="a parameter: --set controller.integral.gain=0.05"),
    ] = None,
    plugins: Plugins = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Compare the controllers on synthetic learners.

    No model is trained: a learner of known ability passes tasks by chance, and each controller steers it.
    """
    from rich.console import Console

    load_plugins(plugins)
    if prompts:
        for parameter, flag in (("scenarios", "--scenario"), ("lag", "--lag"), ("steps", "--steps")):
            if given(context, parameter):
                raise UsageError(f"{flag} means nothing with --prompts")
        report = _on_prompts(prompts, controllers, seeds, settings)
        print_json(report) if json else show(*_finite_tables(report))
        return
    from kolmocli.config.file import parse_settings
    from kolmocli.curriculum.simulator.compare import compare
    from kolmocli.curriculum.simulator.players import ORACLE, REFILL, Player, players
    from kolmocli.curriculum.simulator.scenarios import SCENARIOS

    known = [*players(), REFILL, ORACLE]
    names = list(dict.fromkeys(controllers or known))
    _known("--controller", [name.partition(":")[0] for name in names], known)
    places = _known("--scenario", scenarios, [*SCENARIOS, "all"]) or ["base"]
    if "all" in places:
        places = list(SCENARIOS)
    parsed = parse_settings(settings or ())
    target, rows = _section(parsed).target, dict[str, Player]()
    for name in names:
        kind, _, own = name.partition(":")
        section = _section({**parsed, **(mine := _own(name, own))}, dict.fromkeys(mine, f"--controller {name}"))
        known_settings = {} if kind in (ORACLE, REFILL) else section.settings(kind)
        rows[name] = Player(kind, section.target, known_settings, section.guard, section.weigh)
    with Console(stderr=True).status("") as status:
        report = compare(rows, places, lag, seeds, steps, target=target, progress=status.update)
    report["settings"] = parsed
    print_json(report) if json else show(*_tables(report))


def _on_prompts(
    sizes: Sequence[int], names: Sequence[str] | None, seeds: int, settings: Sequence[str] | None
) -> dict[str, Any]:
    from rich.console import Console

    from kolmocli.config.file import parse_settings
    from kolmocli.curriculum.simulator.finite import PLAYERS, compare_finite

    rows = _known("--controller", names, list(PLAYERS)) or list(PLAYERS)
    parsed = parse_settings(settings or ())
    if other := [key for key in parsed if key != "controller.target"]:
        raise UsageError(f"--set {other[0]}: with --prompts only controller.target can be set")
    target = min(max(_section(parsed).target, 0.01), 0.99)
    with Console(stderr=True).status("") as status:
        return compare_finite(rows, list(dict.fromkeys(sizes)), seeds, target=target, progress=status.update)


def _finite_tables(report: dict[str, Any]) -> Iterable[Any]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    yield Text(
        f"{report['seeds']} runs of {report['steps'] * report['groups']:,} groups of {report['group_size']}, "
        f"{report['groups']} an update, target {report['target']:g}"
    )
    for size, rows in report["prompts"].items():
        yield Text.assemble("\n", (f"{int(size):,} prompts", "bold"))
        table = Table("player", box=box.SIMPLE, pad_edge=False)
        for heading in ("information", "dead", "growth", "updates", "prompts asked"):
            table.add_column(heading, justify="right")
        for name, row in rows.items():
            table.add_row(
                name, f"{row['information']:.2f}", f"{row['dead']:.0%}", f"{row['growth']:.2f}", f"{row['updates']:.0f}",
                f"{row['asked']:,.0f}",
            )  # fmt: skip
        yield table
    yield Text(
        "information: mean 4p(1-p) of the groups. dead: groups that all passed or all failed. growth: logits that the\n"
        "learner gained. profiled and bots are told 16 rollouts of every prompt beforehand, which are not counted.",
        style="dim",
    )


def _own(name: str, text: str) -> dict[str, Any]:
    """The settings behind the name of a controller: `rasch:target=0.45,guard=0.1`."""
    from kolmocli.config.file import parse_settings

    parts = text.split(",") if text else []
    for part in parts:
        if "=" not in part:
            raise UsageError(f"--controller {name}: {part!r} is no KEY=VALUE, such as rasch:target=0.45")
    return dict(parse_settings([f"controller.{part}" for part in parts]))


def _section(settings: Mapping[str, Any], origins: Mapping[str, str] | None = None) -> ControllerSection:
    """Controller settings of `--set`, such as `controller.integral.gain`, over those of the simulated ladder; `origins` names
    the flag of those that came with another.

    Raises UsageError for a setting that the schema does not have, or that simulates nothing.
    """
    from pydantic import ValidationError

    from kolmocli.config import Config
    from kolmocli.config.overrides import apply_override
    from kolmocli.config.problems import dotted, problems_of
    from kolmocli.curriculum.simulator.players import TOLD

    data: Any = {"families": {"simulated": {"levels": [{}]}}, "controller": TOLD}
    for key, value in settings.items():
        label = (origins or {}).get(key, f"--set {key}={value}")
        if not key.startswith("controller.") or key == "controller.kind":
            raise UsageError(f"{label}: only what is below controller can be set here, and --controller is the kind")
        if key == "controller.prior":
            raise UsageError(f"{label}: a profile is of a real curriculum, and nothing is trained here; remove it")
        data, _ = apply_override(data, key, value, label)
    try:
        return Config.model_validate(data).controller
    except ValidationError as error:
        problem = problems_of(error, data)[0]
        flag = (origins or {}).get(dotted(problem.location))
        raise UsageError(f"{flag}: {problem}" if flag else f"--set {problem}") from None


def _known(flag: str, asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The requested names, each once. Refuses those that do not exist."""
    for word in asked or ():
        require_choice(flag, word, known)
    return list(dict.fromkeys(asked or ()))


def _tables(report: dict[str, Any]) -> Iterable[Any]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from kolmocli.curriculum.simulator.scenarios import SCENARIOS

    late = f", results {report['lag']} steps late" if report["lag"] else ""
    yield Text(
        f"{report['seeds']} runs of {report['steps']} steps, {report['groups']} groups of {report['group_size']} a step, "
        f"target {report['target']:g}{late}"
    )
    for scenario, rows in report["scenarios"].items():
        yield Text.assemble("\n", (scenario, "bold"), f": {SCENARIOS[scenario].about}")
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.add_column("controller")
        for heading in _COLUMNS.values():
            table.add_column(heading, justify="right")
        for name, figures in rows.items():
            table.add_row(name, *(_cell(key, figures[key]) for key in _COLUMNS))
        yield table
    yield Text(
        "settle, recovery: steps until what is sampled passes within 0.1 of the target, on average, for ten steps on\n"
        "end, from the start and from a sudden change. rmse: of its pass rates from the target, after 60 steps. dead:\n"
        "groups that all passed or all failed. coverage: of the controller's 90 % interval. swing: below -0.5 the level\n"
        "runs in circles. growth: what the learner gained, against the oracle's. –: never, or nothing to measure.",
        style="dim",
    )


_COLUMNS = {
    "settle": "settle",
    "rmse": "rmse",
    "rmse_lag6": "rmse, lag 6",
    "dead_groups": "dead",
    "coverage": "coverage",
    "recovery": "recovery",
    "swing": "swing",
    "swing_lag6": "swing, lag 6",
    "growth": "growth",
}
_SHARES = {"dead_groups", "coverage", "growth"}


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    return f"{value:.0%}" if key in _SHARES else f"{value:.3f}" if key.startswith("rmse") else f"{value:.2f}"
