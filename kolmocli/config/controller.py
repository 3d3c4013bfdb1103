"""The section that says how buckets are chosen, and the controller that is made of it.

The settings of a kind are declared where it is, in the parameters of its class; here they become a section of its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, ValidatorFunctionWrapHandler, WrapValidator, create_model

from kolmocli.curriculum.base import Bucket, Controller, Ladder
from kolmocli.curriculum.border import Bordered
from kolmocli.curriculum.build import guarded, make_controller
from kolmocli.curriculum.kinds import KINDS
from kolmocli.curriculum.mixture import Weigh
from kolmocli.curriculum.profile import Rates, begin, read_profile
from kolmocli.curriculum.settings import Parameter, settings_of
from kolmocli.section import Section, Share
from kolmocli.tasks.settings import FamilySettings


class ControllerSection(Section):
    """`kind` chooses; a section named after a kind has the settings of that kind."""

    kind: str = Field("rasch", description="how buckets are chosen")
    target: Share = Field(0.5, description="pass rate to hold in every family")
    floor: Share = Field(
        0.05,
        description="least share of the groups that a family gets; "
        "uniform, sequential, window and sec have shares of their own",
    )
    weigh: Weigh = Field(
        "signal",
        description="what the groups above the floors follow: signal, the mean U of a family; "
        "alive, the share of its groups with a pass and a failure",
    )
    prior: str | None = Field(
        None, description="a file of `kolmo curriculum calibrate -o`: the pass rates that the controller begins with"
    )
    guard: Share = Field(
        0.0,
        description="steer past a level whose grader seems broken, with this share of its family's groups to look whether it is; "
        "0: only say so",
    )
    probes: Share = Field(
        0.05, description="rasch: share of groups that are moved one level up or down; posterior: of any task"
    )

    def settings(self, kind: str) -> dict[str, Any]:
        """Arguments for a controller of this kind: its own section, and its share of this one."""
        shared = {key: getattr(self, key) for key in settings_of(KINDS.get(kind)) if key in _OWN}
        section = getattr(self, kind) if kind in type(self).model_fields else None
        return shared if section is None else {**shared, **dict(section)}

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process, where this class, which was made for the kinds of this one, does not exist."""
        return _unpickled, (self.model_dump(),)


_OWN = frozenset(ControllerSection.model_fields)


def section_model(*named: str) -> type[ControllerSection]:
    """The section as it may be written now: with the settings of every kind that is registered, and of those `named`,
    for which an entry point is loaded."""
    names = KINDS.names()
    loaded = [name for name in names if name in KINDS.loaded() or name in named]
    return _model(tuple(names), tuple((name, KINDS.get(name)) for name in loaded))


def section_for(*named: str) -> type[ControllerSection]:
    """The section of a file that names these kinds, which came with a plugin or an entry point. Others that did leave
    no trace in it, so that it can be read without them."""
    names = (*KINDS.builtin, *named)
    return _model(names, tuple((name, KINDS.get(name)) for name in names))


@cache
def _model(names: tuple[str, ...], kinds: tuple[tuple[str, type[Any]], ...]) -> type[ControllerSection]:
    parts: dict[str, Any] = {"kind": (Literal[names], ControllerSection.model_fields["kind"])}
    for name, kind in kinds:
        if settings := {key: value for key, value in settings_of(kind).items() if key not in _OWN}:
            section = _settings_model(name, settings)
            parts[name] = (section, Field(default_factory=section))
    return create_model("Controller", __base__=ControllerSection, __doc__=ControllerSection.__doc__, **parts)


def _settings_model(name: str, settings: Mapping[str, Parameter]) -> type[Section]:
    fields: dict[str, Any] = {}
    for key, parameter in settings.items():
        said = parameter.setting
        limits = {"gt": said.above, "ge": said.least, "le": said.most}
        given: dict[str, Any] = {limit: value for limit, value in limits.items() if value is not None}
        fields[key] = (parameter.type, Field(parameter.default, description=said.about, **given))
    return create_model(f"{name.title().replace('_', '')}Settings", __base__=Section, **fields)


def _named(data: Any) -> list[str]:
    """The registered kinds that a section names, by `kind` or with settings, beyond the built-in ones."""
    words = [data.get("kind"), *data] if isinstance(data, dict) else []
    others = {word for word in words if isinstance(word, str)} - _USUAL
    return [word for word in sorted(others) if word in KINDS]


def _validated(data: Any, _usual: ValidatorFunctionWrapHandler) -> ControllerSection:
    """Checked with the sections of all kinds that are named. Those of plugins that change nothing leave no trace: a run's
    own file has the sections of kinds that were built in once."""
    if isinstance(data, ControllerSection):
        return data
    named = _named(data)
    found = section_for(*named).model_validate(data)
    idle = [name for name in named if name != found.kind and getattr(found, name) == type(getattr(found, name))()]
    if not idle:
        return found
    used = {key: value for key, value in data.items() if key not in idle}
    return section_for(*(name for name in named if name not in idle)).model_validate(used)


def _unpickled(data: dict[str, Any]) -> ControllerSection:
    model = section_for(*_named(data))
    known = {key: value for key, value in data.items() if key in model.model_fields}
    # A host that chooses no buckets need not know the plugin that brought this kind.
    return model.model_validate(known) if data["kind"] in KINDS else model.model_construct(**known)


_USUAL = frozenset([*section_for().model_fields, *KINDS.builtin])
"""The keys and kinds that need no look at what else is registered."""

if TYPE_CHECKING:
    AnyController = ControllerSection
else:
    AnyController = Annotated[SerializeAsAny[section_for()], WrapValidator(_validated)]


def build_controller(
    controller: ControllerSection,
    families: Mapping[str, FamilySettings],
    buckets: Sequence[Bucket],
    steps: int,
    profile: Mapping[str, Rates] | None = None,
) -> Controller:
    """The controller that a file asks for, over the buckets that its tasks really have. `steps` is how many RL steps
    are planned; `profile` is what was read of `prior`, where that is known already.

    Raises:
        UsageError: the floors of the families add to more than 1, the kind refuses its settings, or `prior` cannot be used.
    """
    ladders = ladders_of(controller, families, buckets)
    made = make_controller(controller.kind, ladders, controller.settings(controller.kind), steps, controller.weigh)
    if controller.prior is not None:
        known = read_profile(controller.prior, list(ladders)) if profile is None else profile
        begin(made, ladders, buckets, controller.prior, known)
    if controller.kind not in (*KINDS.builtin, *KINDS.ours):
        made = Bordered(controller.kind, made, ladders)
    return guarded(made, ladders, controller.guard)


def ladders_of(
    controller: ControllerSection, families: Mapping[str, FamilySettings], buckets: Sequence[Bucket]
) -> dict[str, Ladder]:
    """The ladder of each family. Targets are kept off 0 and 1, where no level is meant."""
    tops: dict[str, int] = {}
    for bucket in buckets:
        tops[bucket.family] = max(tops.get(bucket.family, 0), bucket.level)
    ladders = {}
    for name, top in tops.items():
        family = families.get(name)
        low, high = (family and family.bounds) or (1, top)
        target = controller.target if family is None or family.target is None else family.target
        floor = controller.floor if family is None or family.floor is None else family.floor
        ladders[name] = Ladder(min(high, top), min(low, top), min(max(target, 0.01), 0.99), floor)
    return ladders
