"""A whole curriculum file, and what its sections must be together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kolmocli.config.controller import AnyController, section_for
from kolmocli.config.families import Families
from kolmocli.config.former import modern
from kolmocli.config.machine import EngineSettings, Model, SandboxSection
from kolmocli.config.methods import MethodSections, MethodSettings
from kolmocli.config.training import USUAL_RANK, EvaluationSettings, Training, Warmup
from kolmocli.policy.presets import Alphabet, is_preset
from kolmocli.section import Count, Section
from kolmocli.tasks.answers.settings import Answers
from kolmocli.tasks.base import Language
from kolmocli.tasks.code.settings import Outputs
from kolmocli.tasks.family import language_of
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.reward import Reward
from kolmocli.tasks.settings import FamilySettings
from kolmocli.tasks.sources import languages_of

_USUAL_RATIO_CAP = 2.0
_LONGEST_NAME = 100
"""Bytes: a file system takes 255, and the seed and a number stand behind the name."""


class Config(Section):
    """A whole curriculum file."""

    name: str = Field("unnamed", description="shown in tables and summaries, and in the name of the run folder")
    description: str = Field("", description="what this curriculum is for")
    seed: int = Field(0, ge=0, le=2**64 - 1, description="one seed gives one run")
    threads: Annotated[int, Field(gt=0, le=1024)] | None = Field(
        None,
        description="threads of the tensor library; they decide the last digits of sums; null: as many as the machine gives, "
        "written down in config.yaml",
    )
    model: Model = Field(default_factory=Model)
    families: Families = Field(
        default_factory=dict, description="kinds of tasks, by name; `data.train` can stand in for them"
    )
    controller: AnyController = Field(default_factory=section_for())
    reward: Reward = Field(default_factory=Reward)
    warmup: Warmup = Field(default_factory=Warmup)
    training: Training = Field(default_factory=Training)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    sandbox: SandboxSection = Field(default_factory=SandboxSection)
    engine: EngineSettings = Field(default_factory=EngineSettings)
    data: Data = Field(default_factory=Data)
    answers: Answers = Field(default_factory=Answers)
    outputs: Outputs = Field(default_factory=Outputs)
    log: Literal["files", "tensorboard"] = Field(
        "files", description="tensorboard: write the numbers for TensorBoard too, in the run folder"
    )
    methods: MethodSections
    report: bool = Field(
        True, description="draw plots/ and report.html when the run ends; `kolmo report` draws them at any time"
    )
    checkpoint_every: Count = Field(
        50, description="steps between checkpoints, of the warm start and of REINFORCE; 0: only at the end"
    )

    @model_validator(mode="before")
    @classmethod
    def _former_keys(cls, data: Any) -> Any:
        return modern(data)

    @property
    def _known_methods(self) -> dict[str, MethodSettings]:
        """Those whose settings are known, by name."""
        sections: Mapping[str, Any] = self.methods
        return {name: section for name, section in sections.items() if isinstance(section, MethodSettings)}

    @property
    def adapter_rank(self) -> int:
        """Rank of the adapters that are trained; 0 when the weights themselves are."""
        rank = self.training.lora.rank
        return (USUAL_RANK if self.model.load_in_8bit else 0) if rank is None else rank

    @property
    def languages(self) -> set[Language]:
        """Languages that the policy writes: of the families, and of the files, which are read for it."""
        data = self.data
        used = self.families if data.train is None or data.families else {}
        return self._written(used) | languages_of(data)

    def _written(self, families: Mapping[str, FamilySettings]) -> set[Language]:
        return {language_of(name, section) for name, section in families.items()}

    @property
    def runs_programs(self) -> bool:
        """Whether there is anything to run, and so a sandbox to open."""
        return self.languages != {"text"}

    @property
    def alphabet(self) -> Alphabet:
        """Alphabet that a preset trained from nothing reads and writes."""
        return "programs" if self.languages == {"dsl"} else "characters"

    @model_validator(mode="after")
    def _a_name_for_a_folder(self) -> Config:
        name = self.name
        if not name.isprintable() or any(c in name for c in "/\\") or name.startswith("."):
            raise ValueError("name: the run folder has it: no / or \\, no dot in front, nothing that cannot be printed")
        if len(name.encode()) > _LONGEST_NAME:
            raise ValueError(f"name: the run folder has it: at most {_LONGEST_NAME} bytes, has {len(name.encode())}")
        return self

    @model_validator(mode="after")
    def _something_to_train_on(self) -> Config:
        if not self.families and (self.data.train is None or self.data.families):
            raise ValueError("families: has none; add one, or set data.train to a file of tasks")
        return self

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> Config:
        """A key that no family of the file could use is a mistake. What a file of tasks holds is not looked up for that."""
        languages = self._written(self.families)
        if self.data.train or self.data.eval:
            return self
        name = next(iter(self.families))
        if self.reward.form != "asked" and "text" not in languages:
            raise ValueError(f"reward: form is of answers in words; remove it (no task of {name} is answered in words)")
        if "dsl" in languages:
            return self
        wrong = {
            "reward: partial is paid for pieces of a sequence; remove it": (
                self.reward.partial and not any(section.pays_parts for section in self.families.values())
            ),
            "warmup: transcripts are of sequences; remove it": self.warmup.transcripts,
            "training: hindsight learns from what a program makes; remove it": self.training.hindsight,
        }
        wrong |= {
            f"methods: {method} {section.of_sequences}; remove it": True
            for method, section in self._known_methods.items()
            if section.of_sequences
        }
        why = f"no task of {name} is a sequence"
        if languages == {"text"}:
            wrong |= {
                f"reward: kind is {self.reward.kind}, which pays for short programs; set it to binary": (
                    self.reward.kind != "binary"
                ),
                # `backend` alone is harmless, and often a flag that is always given: the judge says so.
                "sandbox: no program runs, and no sandbox opens; remove it": (
                    self.sandbox.model_copy(update={"backend": "auto"}) != SandboxSection()
                ),
            }
            why = f"{name} is answered in words"
        for said, is_set in wrong.items():
            if is_set:
                raise ValueError(f"{said} ({why})")
        return self

    @model_validator(mode="after")
    def _one_way_to_find_signal(self) -> Config:
        chosen = [name for name, section in self._known_methods.items() if section.chooses]
        if len(chosen) > 1:
            raise ValueError(
                f"methods: {' and '.join(chosen)} are on, which choose tasks in ways of their own; keep only one"
            )
        return self

    @property
    def ratio_cap(self) -> float | None:
        """The cap of truncated importance sampling; None where rollouts come from the policy that learns and none was set."""
        training = self.training
        differs = self.engine.max_staleness or training.updates > 1 or self.model.sampler != "kolmo"
        return _USUAL_RATIO_CAP if training.ratio_cap is None and differs else training.ratio_cap

    @model_validator(mode="after")
    def _vllm_has_whole_weights_alone(self) -> Config:
        if self.model.sampler == "vllm" and self.training.baseline == "value":
            raise ValueError("model: sampler vllm hands out no hidden states for baseline value; use only one of them")
        if self.model.sampler == "vllm" and self.adapter_rank:
            raise ValueError("model: sampler vllm cannot follow adapters while they learn; use only one of them")
        return self

    @model_validator(mode="after")
    def _eight_bits_need_adapters(self) -> Config:
        if self.model.load_in_8bit and not self.adapter_rank:
            raise ValueError(
                "training: lora.rank is 0 and model.load_in_8bit is on, but weights in 8 bits are steps too coarse for "
                f"a gradient to move, so nothing could learn; remove the rank or set it ({USUAL_RANK} is usual)"
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
