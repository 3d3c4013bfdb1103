"""What a dry run takes a model for: what was saved of a preset is asked as presets are, any other with the long explanation."""

from __future__ import annotations

from pathlib import Path

from kolmocli.training.plan import plan, reads_bare
from tests.policies import save_hugging_face, tiny
from tests.training.runs import run, small_config


def test_a_run_of_a_preset_is_planned_as_the_preset(tmp_path: Path) -> None:
    made = tmp_path / "run"
    run(small_config(warmup={"max_steps": 1}, training={"steps": 1}), made)
    of_preset = plan(small_config())
    for name in (str(made), str(next((made / "checkpoints").glob("step_*")))):
        assert reads_bare(name)
        assert plan(small_config(model={"name": name}))["memory_mib"] == of_preset["memory_mib"]


def test_which_models_are_asked_as_presets(tmp_path: Path) -> None:
    tiny().save(tmp_path / "saved")
    other = save_hugging_face(tmp_path / "other", chat=False)
    assert [reads_bare(name) for name in ("tiny", "small-llama", "shipped", str(tmp_path / "saved"))] == [True] * 4
    assert [reads_bare(name) for name in ("owner/name", str(other))] == [False] * 2


def test_a_tokenizer_that_cannot_be_read_is_no_preset(tmp_path: Path) -> None:
    tiny().save(tmp_path / "saved")
    for damage in ("[]", "{", '{"extra_special_tokens": null}'):
        (tmp_path / "saved" / "tokenizer_config.json").write_text(damage)
        assert not reads_bare(str(tmp_path / "saved"))
