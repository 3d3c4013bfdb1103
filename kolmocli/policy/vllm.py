"""Sampling by vLLM in place of `generate`, in this process, with a copy of the model that is trained.

vLLM keeps weights of its own. They are replaced from the trained ones before the first rollout after an update, and what it
had cached of prompts is forgotten then. Its log-probabilities are those of its own kernels, not the trainer's to the
last digit, hence `training.ratio_cap` is 2 with it. `finished` is called when all have been written.

Shapes: P prompts, G samples of each, N = P*G rows, T tokens.
"""

from __future__ import annotations

import copy
import gc
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kolmocli.errors import KolmoError, UsageError, last_line
from kolmocli.extras import require
from kolmocli.pace import Look, unheard
from kolmocli.policy.generated import Generated, StateValue
from kolmocli.policy.policy import Policy
from kolmocli.processor import Precision

_ENVIRONMENT = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
"""Defaults for variables that the user has not set: quiet, nothing sent anywhere, 1 GiB for a CPU's cache, no core to itself."""
_SEED_BITS = 24
"""Bits of a random number in fp32 that a seed is made from."""


def open_vllm(policy: Policy, memory_share: float) -> VllmSampler:
    """vLLM with the policy's model. It may take `memory_share` of the memory of a GPU, the trained model aside.

    Raises:
        EnvironmentMissing: vLLM is not installed.
        UsageError: the model is an adapter.
        KolmoError: vLLM refuses the model, with what it says.
    """
    require("model.sampler: vllm", "vllm", otherwise="remove that key")
    if policy.base is not None:
        raise UsageError(
            f"model.sampler: {policy.name} is an adapter, which vllm cannot follow while it learns; remove it"
        )
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # in this process, where the weights are
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it imports is deprecated here and there, which no user can fix
            return VllmSampler(policy.model, memory_share)
    except Exception as error:  # whatever the engine or one of its kernels raises: its own words are the line
        raise KolmoError(f"model.sampler: vllm cannot run this model: {last_line(error)}") from error


class VllmSampler:
    """Called as `generate` is. `close` gives its memory back."""

    def __init__(self, model: Any, memory_share: float) -> None:
        from vllm import LLM

        config = copy.deepcopy(model.config)
        config.architectures = [type(model).__name__]
        config.tie_word_embeddings = False  # what vLLM makes of a head for its kernels is not made again for a tied one
        with tempfile.TemporaryDirectory(prefix="kolmo-vllm-") as folder:
            config.save_pretrained(folder)
            self._llm = LLM(
                model=folder,
                load_format="dummy",  # the weights come from memory
                skip_tokenizer_init=True,
                dtype="bfloat16" if model.device.type == "cuda" else "float32",
                enforce_eager=model.device.type != "cuda",
                enable_prefix_caching=True,
                gpu_memory_utilization=memory_share,
                logprobs_mode="processed_logprobs",  # at the temperature of sampling
                seed=0,
            )
        self._versions: tuple[int | None, ...] = ()
        self(
            model, [[0]], samples=1, max_new_tokens=1, stop_ids=(), pad_id=0, generator=None
        )  # kernels may refuse late

    def __call__(
        self,
        model: Any,
        prompts: Sequence[Sequence[int]],
        *,
        samples: int,
        max_new_tokens: int,
        stop_ids: Sequence[int],
        pad_id: int,
        generator: torch.Generator | None,
        temperature: float = 1.0,
        value: StateValue | None = None,
        finished: Callable[[int, Generated], None] | None = None,
        precision: Precision = "fp32",
        version: int | None = None,
        look: Look = unheard,
    ) -> list[Generated]:
        """`samples` continuations of every prompt, in order; each row's draws belong to a seed of its own. Rounding was
        settled when vLLM was opened: a `precision` changes nothing. `look` is called before and after, and not
        between two tokens."""
        from vllm import SamplingParams
        from vllm.inputs import TokensPrompt

        if value is not None:
            raise ValueError("vllm does not show the states of its model")
        look()
        self._take(model, version)
        rows = len(prompts) * samples
        settings = [
            SamplingParams(
                temperature=0.0 if seed is None else temperature, seed=seed, max_tokens=max_new_tokens,
                stop_token_ids=list(stop_ids), logprobs=0, detokenize=False,
            )
            for seed in _seeds(rows, max_new_tokens, generator)
        ]  # fmt: skip
        asked = [TokensPrompt(prompt_token_ids=list(prompt)) for prompt in prompts for _ in range(samples)]
        results = [_result(output.outputs[0]) for output in self._llm.generate(asked, settings, use_tqdm=False)]
        look()
        for row, result in enumerate(results if finished is not None else []):
            assert finished is not None
            finished(row, result)
        return results

    def close(self) -> None:
        from vllm.distributed import cleanup_dist_env_and_memory

        del self._llm
        cleanup_dist_env_and_memory()
        gc.collect()

    def _take(self, model: Any, version: int | None) -> None:
        """The trained weights, unless none has been written to since: torch counts that per tensor, but for its own fused
        optimisers, whose updates the `version` counts."""
        weights = dict(model.named_parameters(remove_duplicate=False))
        versions = (version, *(weight._version for weight in weights.values()))
        if versions == self._versions:
            return
        iterator = [(name, weight.detach()) for name, weight in weights.items()]
        self._llm.collective_rpc("reload_weights", kwargs={"weights_iterator": iterator})
        self._llm.reset_prefix_cache()
        self._versions = versions


def _seeds(rows: int, max_new_tokens: int, generator: torch.Generator | None) -> list[int | None]:
    """A seed per row from as many random numbers as `generate` takes, so that parts of a batch draw what the whole would."""
    if generator is None:
        return [None] * rows
    uniform_NT = torch.rand(rows, max_new_tokens, generator=generator, device=generator.device)
    parts = (uniform_NT[:, :2].double() * 2**_SEED_BITS).long().tolist()
    return [sum(part << (_SEED_BITS * i) for i, part in enumerate(row)) for row in parts]


def _result(output: Any) -> Generated:
    tokens = list(output.token_ids)
    logprobs = [known[token].logprob for token, known in zip(tokens, output.logprobs, strict=True)]
    return Generated(tokens, logprobs, output.finish_reason == "stop")
