"""Log lines of libraries that users of kolmo need not read."""

from __future__ import annotations

import logging

_CPU_KERNELS = logging.getLogger("bitsandbytes.backends.cpu.ops")
_LAYERS = logging.getLogger("bitsandbytes.autograd._functions")


_KERNELS = logging.getLogger("transformers.integrations.hub_kernels")


def quiet_convolutions() -> None:
    """Short convolutions have a kernel for GPUs, which transformers ask for on a processor too; `lean/` needs none."""
    _KERNELS.addFilter(lambda record: "causal_conv1d" not in str(record.msg) + str(record.args))


def quiet_bitsandbytes() -> None:
    """To be called before bitsandbytes is imported, or anything that imports it, as peft does.

    On a processor with AVX512-BF16 its import looks for the package `kernels`, with a faster product for weights in
    4 bits, and warns where it is not installed. Weights are kept in 8 bits here and never in 4, so that line asks for
    nothing that a user should do. Only this one is dropped: whatever else that module logs is shown.
    """
    _CPU_KERNELS.addFilter(_not_of_four_bits)
    # It says for every layer that inputs become float16, which is what was asked for.
    _LAYERS.setLevel(logging.ERROR)


def _not_of_four_bits(record: logging.LogRecord) -> bool:
    return "Failed to load CPU gemm_4bit_forward" not in str(record.msg)
