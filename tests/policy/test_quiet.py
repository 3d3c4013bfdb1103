"""What bitsandbytes logs, at its own loggers: one line is dropped there, and the others are not."""

from __future__ import annotations

import logging

import pytest

from kolmocli.policy.quiet import quiet_bitsandbytes

KERNELS = "bitsandbytes.backends.cpu.ops"
SAID = "Failed to load CPU gemm_4bit_forward from kernels-community: %s. Please make sure you already `pip install kernels`"


@pytest.fixture
def bare() -> logging.Logger:
    """The logger as bitsandbytes has it, whatever was imported before."""
    logger = logging.getLogger(KERNELS)
    for each in list(logger.filters):
        logger.removeFilter(each)
    return logger


def test_the_line_about_a_kernel_that_is_not_used_is_dropped(
    bare: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    bare.warning(SAID, "No module named 'kernels'")
    assert "gemm_4bit_forward" in caplog.text
    caplog.clear()
    quiet_bitsandbytes()
    bare.warning(SAID, "No module named 'kernels'")
    assert caplog.text == ""


def test_whatever_else_it_logs_is_shown(bare: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    quiet_bitsandbytes()
    quiet_bitsandbytes()  # twice is once
    bare.warning("another %s", "warning")
    logging.getLogger("bitsandbytes.cextension").warning("a library is missing")
    # What else is imported may put itself before them.
    said = [message.rpartition("] ")[2] for message in caplog.messages]
    assert said == ["another warning", "a library is missing"]
    assert len(bare.filters) == 1
