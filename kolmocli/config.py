"""The one typed schema of a curriculum file. YAML, `--set`, `--help` and the docs come from here.

Unknown keys are errors. A description is the help text of its key, so it says what the value does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from kolmocli.language.sampler import SamplerConfig
from kolmocli.policy.presets import Alphabet, is_preset, listed
from kolmocli.tasks.digits_levels import ReverseDigitsLevel, SumDigitsLevel

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(gt=0)]
OptimiserKind = Literal["adamw", "adamw8bit"]


class Section(BaseModel):
    """A part of the file: immutable, and strict about its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Model(Section):
    name: str = Field(
        "tiny",
        description=f"a preset ({listed()} parameters), a run, a checkpoint folder, or a Hugging Face id",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="where the policy runs")
    load_in_8bit: bool = Field(
        False, description="keep the model's own weights in 8 bits (LLM.int8) and train adapters beside them"
    )
    sampler: Literal["kolmo", "vllm"] = Field(
        "kolmo", description="what writes rollouts; vllm needs the extra of that name, and trains whole models only"
    )
    sampler_memory: float = Field(0.4, gt=0, lt=1, description="share of a GPU's memory that vllm may take for itself")


class Ladder(Section):
    """What families of every kind have. Their levels are the rungs."""

    levels: Sequence[BaseModel]
    target: Share | None = Field(None, description="pass rate to hold for this family (default: the controller's)")
    floor: Share | None = Field(
        None, description="least share of the groups for this family (default: the controller's)"
    )
    bounds: tuple[Positive, Positive] | None = Field(None, description="lowest and highest level to use (default: all)")

    @model_validator(mode="after")
    def _bounds_on_the_ladder(self) -> Self:
        if self.bounds is not None and not self.bounds[0] <= self.bounds[1] <= len(self.levels):
            low, high = self.bounds
            raise ValueError(f"bounds: {low} to {high} is not a part of the {len(self.levels)} levels, easy to hard")
        return self


class Family(Ladder):
    """Sequences to write programs for. `sampler` holds what all levels share; each level overrides part of it."""

    sampler: SamplerConfig = Field(default_factory=SamplerConfig, description="what all levels share")
    levels: list[SamplerConfig] = Field(min_length=1, description="easy to hard; what each level changes")

    @model_validator(mode="before")
    @classmethod
    def _inherit(cls, data: object) -> object:
        """Fill each level with the family's sampler, so that a resolved level says everything."""
        if (
            isinstance(data, dict)
            and isinstance(data.get("sampler", {}), dict)
            and isinstance(data.get("levels"), list)
        ):
            shared = data.get("sampler", {})
            levels = [{**shared, **level} if isinstance(level, dict) else level for level in data["levels"]]
            return {**data, "levels": levels}
        return data


class SumDigits(Ladder):
    """The sum of all digits of some integers, asked in words."""

    task: Literal["sum_digits"] = Field(description="the sum of all digits of some integers, asked in words")
    levels: list[SumDigitsLevel] = Field(min_length=1, description="easy to hard")


class ReverseDigits(Ladder):
    """An integer with its digits in reverse, asked in words."""

    task: Literal["reverse_digits"] = Field(description="an integer with its digits in reverse, asked in words")
    levels: list[ReverseDigitsLevel] = Field(min_length=1, description="easy to hard")


DigitFamily = SumDigits | ReverseDigits


def _kind(family: object) -> str:
    """A family that names no task is one of sequences to write programs for."""
    named = family.get("task") if isinstance(family, dict) else getattr(family, "task", None)
    return "programs" if named is None else str(named)


AnyFamily = Annotated[
    Annotated[Family, Tag("programs")]
    | Annotated[SumDigits, Tag("sum_digits")]
    | Annotated[ReverseDigits, Tag("reverse_digits")],
    Discriminator(_kind),
]


class RaschSettings(Section):
    slope: float = Field(1.0, gt=0, description="logits per level")
    drift: float = Field(0.1, gt=0, description="logits that the ability may move in a step, as a standard deviation")
    slew: float = Field(1.5, gt=0, description="logits that the estimate moves in a step at most")


class IntegralSettings(Section):
    gain: float = Field(0.03, gt=0, description="share of the ladder that the level moves in a step at most")
    sensitivity: float = Field(2.0, gt=0, description="of the step to what the pass rate is off the target")


class StaircaseSettings(Section):
    window: Positive = Field(20, description="rollouts that are averaged")
    above: float = Field(0.2, gt=0, description="so far above the target it goes one level up")
    below: float = Field(0.4, gt=0, description="so far below the target it goes one level down")


class PoolSettings(Section):
    band: Share = Field(0.25, description="levels that last passed so near the target are drawn with weight 1")
    weight: float = Field(0.2, gt=0, description="of the other levels")


class ThompsonSettings(Section):
    memory: Share = Field(0.9, description="of the counts, per step")


class SequentialSettings(Section):
    steps: Annotated[int, Field(ge=0)] = Field(0, description="of the whole climb; 0: training.steps")


class Controller(Section):
    """`kind` chooses; a section named after a kind is what that kind goes by."""

    kind: Literal["rasch", "integral", "staircase", "pool", "thompson", "uniform", "sequential"] = Field(
        "rasch", description="how buckets are chosen"
    )
    target: Share = Field(0.5, description="pass rate to hold in every family")
    floor: Share = Field(0.05, description="least share of the groups that a family gets")
    probes: Share = Field(0.05, description="rasch: share of groups one level beyond the bracket")
    rasch: RaschSettings = Field(default_factory=RaschSettings)
    integral: IntegralSettings = Field(default_factory=IntegralSettings)
    staircase: StaircaseSettings = Field(default_factory=StaircaseSettings)
    pool: PoolSettings = Field(default_factory=PoolSettings)
    thompson: ThompsonSettings = Field(default_factory=ThompsonSettings)
    sequential: SequentialSettings = Field(default_factory=SequentialSettings)


class Reward(Section):
    kind: Literal["relative", "constant_minus_length", "binary"] = Field("relative", description="the reward of a pass")
    constant: float = Field(100.0, description="C of constant_minus_length")
    length_penalty: float = Field(0.1, description="lambda of constant_minus_length, per coded bit")
    length_weight: float = Field(0.25, ge=0.0, description="w of relative: what brevity can add to a pass")
    partial: float = Field(
        0.0,
        ge=0.0,
        description="process reward: paid to a program that missed, times the share of the target that it explained; "
        "changes what is optimal, so keep it far below a pass",
    )


class Warmup(Section):
    """Supervised warm start on the easiest levels, from reference programs."""

    until: Share = Field(0.5, description="stop when this share of sampled programs passes on the warm-up levels")
    levels: Positive = Field(1, description="how many of the easiest levels of each family are taught")
    max_steps: Annotated[int, Field(ge=0)] = Field(600, description="stop here in any case; 0 skips the warm start")
    check_every: Positive = Field(25, description="steps between measurements of the pass rate")
    batch_size: Positive = Field(64, description="reference programs per step")
    learning_rate: float = Field(4e-3, gt=0, description="falls to zero over max_steps")


class Hints(Section):
    """The beginning of the reference program, given where a family passes too seldom at its lowest level."""

    most: Share = Field(0.0, description="share of a program that is given at most, never all of it; 0: no hints")
    start: Share = Field(0.0, description="share that is given at first; then the pass rate moves it")
    gain: float = Field(0.1, gt=0, description="the share moves by gain * (target - pass rate) a step")


class SelfPlay(Section):
    """Programs that the policy makes up become targets for it."""

    share: Share = Field(0.0, description="share of the groups for targets that the policy made up; 0: no self-play")
    proposals: Annotated[int, Field(ge=2)] = Field(16, description="programs that are made up per step")
    band: Share = Field(0.25, description="a target is kept while it passes so near to the controller's target")
    slots: Positive = Field(1, description="targets that are kept of one coded length")
    weight: float = Field(1.0, ge=0.0, description="of the proposer's reward min(p, 1 - p); 0: it learns nothing")


_USUAL_RANK = 16


class Lora(Section):
    """Low-rank adapters beside every linear layer but the output head (Hu et al. 2021, arXiv 2106.09685)."""

    rank: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="rank of the adapters (LoRA) that are trained instead of the weights; 0: the weights are trained "
        f"(default: {_USUAL_RANK} for a model in 8 bits, else 0)",
    )
    alpha: Positive = Field(32, description="an adapter's output is scaled by alpha / rank")


class Training(Section):
    steps: Annotated[int, Field(ge=0)] = Field(100, description="REINFORCE steps")
    batch_size: Positive = Field(128, description="rollouts per step")
    group_size: Annotated[int, Field(ge=2)] = Field(8, description="rollouts per task (G)")
    learning_rate: float = Field(3e-4, gt=0, description="the highest of the run; see ramp_steps and schedule")
    ramp_steps: Annotated[int, Field(ge=0)] = Field(5, description="steps that the learning rate rises over")
    schedule: Literal["linear", "cosine", "constant"] = Field(
        "linear", description="how the learning rate falls to zero, or that it stays"
    )
    optimizer: OptimiserKind = Field(
        "adamw", description="adamw8bit keeps the moments in 8 bits: a quarter of the memory"
    )
    lora: Lora = Field(default_factory=Lora)
    gamma: Share = Field(1.0, description="discount per line")
    baseline: Literal["rloo", "ema", "value", "none", "grpo", "maxrl"] = Field(
        "rloo",
        description="what a return is compared with: rloo with the mean of the others, value with what a value head "
        "expects where the line begins; grpo (divided by the group's deviation) and maxrl (by its mean) are there for "
        "comparison",
    )
    per_token: bool = Field(
        False,
        description="mean instead of sum of a rollout's log-probabilities in the loss: keeps long answers from drowning the "
        "others, at the price of a bias by length",
    )
    max_grad_norm: float = Field(1.0, gt=0, description="longer gradients are scaled down to this")
    best_of: Positive = Field(
        1,
        description="sample so many times as many rollouts and learn from group_size of them, passes and failures "
        "evenly, each weighted by how many it stands for",
    )
    shaping: float = Field(
        0.0, ge=0.0, description="weight of a potential per line, the share of the target explained; leaves the optimum"
    )
    temperature: float = Field(
        1.0,
        gt=0,
        description="of sampling; the policy that is trained is the one at this temperature, so its log-probabilities, "
        "those of answers too, are taken there",
    )
    stop_hopeless: float | None = Field(
        None,
        description="with baseline value: where it expects a smaller return of the next line, three rollouts in four are "
        "stopped there and count as failed; the fourth stands for them in the gradient (default: none is stopped)",
    )
    max_lines: Positive = Field(12, description="lines of a program at most")
    max_new_tokens: Positive = Field(128, description="tokens of a program at most")
    noise_every: Annotated[int, Field(ge=0)] = Field(
        10,
        description="steps between measurements of the gradient's noise, for which groups are learnt one by one; 0: never",
    )
    entropy_bonus: float = Field(0.0, ge=0.0, description="weight of the mean entropy per rollout in the loss")
    kl: float = Field(
        0.0,
        ge=0.0,
        description="weight of the divergence from the model that the run began with (adapters: from its base)",
    )
    ratio_cap: float | None = Field(
        None,
        ge=1.0,
        description="truncated importance sampling, for rollouts of an older policy: a token's weight times its "
        "probability now over that when it was sampled, but at most this (default: 2 with engine.max_staleness or the "
        "sampler vllm, else none)",
    )
    gradient_checkpointing: bool = Field(
        False, description="compute every layer again for the backward pass: less memory, more time"
    )
    hindsight: float = Field(
        0.0, ge=0.0, description="weight of programs that ran and missed, as right answers to what they really make"
    )

    @model_validator(mode="after")
    def _whole_groups(self) -> Training:
        if self.batch_size % self.group_size:
            raise ValueError(f"batch_size {self.batch_size} is not a multiple of group_size {self.group_size}")
        return self


class Evaluation(Section):
    tasks: Positive = Field(600, description="held-out tasks, spread evenly over all buckets")
    every: Annotated[int, Field(ge=0)] = Field(0, description="RL steps between evaluations; 0: before and after only")


class SandboxSection(Section):
    backend: Literal["auto", "docker", "embedded"] = Field("auto", description="where programs run")
    workers: Annotated[int, Field(ge=0)] = Field(0, description="containers or worker processes; 0: one per core")
    cpu_ms: Positive = Field(1000, description="CPU time of one program")
    wall_ms: Positive = Field(3000, description="wall time of one program, the backstop")
    memory_mb: Positive = Field(128, description="memory of one program")
    runtime: str | None = Field(None, description="another OCI runtime of the Docker engine, such as runsc")


_USUAL_RATIO_CAP = 2.0


class Engine(Section):
    """Where training runs. `engine: monarch` is short for its `kind`."""

    kind: Literal["local", "monarch"] = Field(
        "local",
        description="local: all in one process; monarch: processes of their own write programs, on this machine or others",
    )
    generators: Positive = Field(
        1, description="monarch: processes that write programs, each with a sandbox of its own"
    )
    max_staleness: Annotated[int, Field(ge=0)] = Field(
        0, description="monarch: updates that a policy may be behind when its programs are learnt from; 0: synchronous"
    )
    hosts: list[str] = Field(
        [],
        description="monarch: where the generators run, as tcp://address:port or tls://address:port of `kolmo worker`",
    )
    insecure: bool = Field(False, description="monarch: allow tcp:// to other machines, which anybody there can join")
    call_seconds: Positive = Field(
        600, description="monarch: a generator that is not done with its share of a batch by then is replaced"
    )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return {"kind": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _for_monarch(self) -> Engine:
        others = [name for name in type(self).model_fields if name != "kind" and name in self.model_fields_set]
        changed = [name for name in others if getattr(self, name) != type(self).model_fields[name].default]
        if self.kind == "local" and changed:
            raise ValueError(f"{changed[0]} is of the engine monarch; set kind to monarch or leave it out")
        return self


class Data(Section):
    train: str | None = Field(None, description="JSONL or CSV file of sequences to train on, instead of the families")
    eval: str | None = Field(None, description="JSONL or CSV file of sequences to evaluate on")
    families: bool = Field(False, description="train on the families too, beside the file")
    order: Literal["auto", "length", "compressibility", "reference_bits"] = Field(
        "auto", description="what makes a sequence harder where the file names no buckets"
    )
    levels: Positive = Field(4, description="levels that sequences without a bucket are split into")
    max_items: Positive = Field(1024, description="longer sequences of a file are left out, by name")
    strict: bool = Field(False, description="stop at the first bad line of a file instead of leaving it out")


class Config(Section):
    """A whole curriculum file."""

    name: str = Field("unnamed", description="shown in tables and summaries")
    description: str = Field("", description="what this curriculum is for")
    seed: int = Field(0, ge=0, description="one seed gives one run")
    model: Model = Field(default_factory=Model)
    families: dict[str, AnyFamily] = Field(min_length=1, description="kinds of tasks, by name")
    controller: Controller = Field(default_factory=Controller)
    reward: Reward = Field(default_factory=Reward)
    warmup: Warmup = Field(default_factory=Warmup)
    hints: Hints = Field(default_factory=Hints)
    self_play: SelfPlay = Field(default_factory=SelfPlay)
    training: Training = Field(default_factory=Training)
    evaluation: Evaluation = Field(default_factory=Evaluation)
    sandbox: SandboxSection = Field(default_factory=SandboxSection)
    engine: Engine = Field(default_factory=Engine)
    data: Data = Field(default_factory=Data)
    log: Literal["files", "tensorboard"] = Field(
        "files", description="tensorboard: write the numbers for TensorBoard too, in the run folder"
    )
    report: bool = Field(
        True, description="draw plots/ and report.html when the run ends; `kolmo report` draws them at any time"
    )
    checkpoint_every: Annotated[int, Field(ge=0)] = Field(
        50, description="RL steps between checkpoints; 0: only at the end"
    )

    @property
    def adapter_rank(self) -> int:
        """Rank of the adapters that are trained; 0 when the weights themselves are."""
        rank = self.training.lora.rank
        return (_USUAL_RANK if self.model.load_in_8bit else 0) if rank is None else rank

    @property
    def program_families(self) -> dict[str, Family]:
        """Those whose tasks are sequences to write programs for."""
        return {name: family for name, family in self.families.items() if isinstance(family, Family)}

    @property
    def digit_families(self) -> dict[str, DigitFamily]:
        """Those whose tasks are questions about digits."""
        return {name: family for name, family in self.families.items() if not isinstance(family, Family)}

    @property
    def asks_questions(self) -> bool:
        """Whether tasks are answered in words, and no program is written."""
        return bool(self.digit_families)

    @property
    def alphabet(self) -> Alphabet:
        """What a preset that is trained from nothing reads and writes."""
        return "characters" if self.asks_questions else "programs"

    @model_validator(mode="after")
    def _questions_have_no_programs(self) -> Config:
        if not self.asks_questions:
            return self
        name = next(iter(self.digit_families))
        if programs := self.program_families:
            raise ValueError(
                f"families: {name} is answered in words and {next(iter(programs))} with programs; a run learns one of "
                "the two, so put them into two files"
            )
        wrong = {
            f"reward: kind is {self.reward.kind}, which pays for short programs; set it to binary": (
                self.reward.kind != "binary"
            ),
            "reward: partial is paid for pieces of a sequence; leave it out": self.reward.partial,
            "hints: most gives the beginning of a program; leave it out": self.hints.most,
            "self_play: share is for targets that a program makes; leave it out": self.self_play.share,
            "training: shaping is paid for pieces of a sequence; leave it out": self.training.shaping,
            "training: hindsight learns from what a program makes; leave it out": self.training.hindsight,
            "data: a file holds sequences to write programs for; leave it out": self.data.train or self.data.eval,
            "sandbox: nothing is run, and no sandbox opened; leave it out": self.sandbox != SandboxSection(),
        }
        for said, is_set in wrong.items():
            if is_set:
                raise ValueError(f"{said} ({name} is answered in words)")
        return self

    @property
    def ratio_cap(self) -> float | None:
        """Of truncated importance sampling; None where rollouts are of the policy that learns and none was asked for."""
        cap, differs = self.training.ratio_cap, self.engine.max_staleness or self.model.sampler != "kolmo"
        return _USUAL_RATIO_CAP if cap is None and differs else cap

    @model_validator(mode="after")
    def _vllm_has_whole_weights_alone(self) -> Config:
        if self.model.sampler == "vllm" and self.training.baseline == "value":
            raise ValueError("model: sampler vllm hands out no hidden states for baseline value; leave one of them out")
        if self.model.sampler == "vllm" and self.adapter_rank:
            raise ValueError("model: sampler vllm cannot follow adapters while they learn; leave one of them out")
        return self

    @model_validator(mode="after")
    def _eight_bits_need_adapters(self) -> Config:
        if self.model.load_in_8bit and not self.adapter_rank:
            raise ValueError(
                "training: lora.rank is 0 and model.load_in_8bit is on, but weights in 8 bits are steps too coarse for "
                f"a gradient to move, so nothing could learn; leave the rank out or set it ({_USUAL_RANK} is usual)"
            )
        return self

    @model_validator(mode="after")
    def _someone_to_call_it_hopeless(self) -> Config:
        if self.training.stop_hopeless is None:
            return self
        if self.training.baseline != "value":
            raise ValueError(
                "training: stop_hopeless goes by what a value head expects; set baseline to value, or leave it out"
            )
        if self.self_play.share:
            raise ValueError(
                "training: stop_hopeless would stop proposals of self_play, of which the value head knows nothing; "
                "set self_play.share to 0, or leave it out"
            )
        return self

    @model_validator(mode="after")
    def _something_to_stay_near(self) -> Config:
        if self.training.kl and is_preset(self.model.name) and not self.adapter_rank:
            raise ValueError(
                f"training: kl keeps the policy near what it began with, but {self.model.name} begins with random weights; "
                "set kl to 0 or name a trained model"
            )
        return self
