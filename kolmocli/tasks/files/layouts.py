"""The well-known sets, a row each: which columns hold the prompt, the answer or the tests, the reference and the level.

A row of a file is of the first set whose keys it has, spelled alike. Where it is of none, the columns are guessed by their
names (`guessed.py`). How the columns are read is the same for all of them (`foreign.py`). A column may be a path into an
object or into JSON that is text (`reward_model.ground_truth`), and two columns stand for one text with a `+` between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from kolmocli.tasks.files.values import value_at


@dataclass(frozen=True, slots=True)
class Columns:
    """Column of each part of a task; empty for none."""

    prompt: str = ""
    answer: str = ""
    tests: tuple[str, ...] = ()
    """Test cases in any form (`cases.py`); those of several columns count together."""
    choices: str = ""
    wrong: tuple[str, ...] = ()
    """Columns of wrong choices, where `answer` is the text of the right one."""
    reference: str = ""
    starter: str = ""
    opening: str = ""
    entry_point: str = ""
    fn_name: str = ""
    level: str = ""
    task_id: str = ""
    time_limit: str = ""
    memory_limit: str = ""
    boxed: bool = False
    """`answer` is a worked solution, in whose last box the answer stands, or behind `The answer is`."""
    first: int = 0
    """The number of the first choice, where `answer` is a number."""
    call: str = ""
    """The arguments of the function that `prompt` defines; what that returns is asked for."""
    same: tuple[str, ...] = ()
    """Columns that hold a part of the tests once more."""

    def used(self) -> set[str]:
        """The columns at the top of a row."""
        found = [getattr(self, field.name) for field in fields(self) if field.name not in ("boxed", "first")]
        paths = [path for each in found for path in ([each] if isinstance(each, str) else each)]
        return {part.strip().split(".")[0] for path in paths for part in path.split("+") if part.strip()}


@dataclass(frozen=True, slots=True)
class Layout:
    """A set: its name, the keys that its rows have, and its columns."""

    name: str
    has: tuple[str, ...]
    columns: Columns


def _set(name: str, has: str, **columns: Any) -> Layout:
    return Layout(name, tuple(each.strip() for each in has.split(",")), Columns(**columns))


_VERIFIED = {"tests": ("verification_info",), "level": "metadata.difficulty", "task_id": "problem_id"}
_LIMITS = {"time_limit": "time_limit", "memory_limit": "memory_limit"}

LAYOUTS = (
    # Code with tests
    _set("EvalPlus", "base_input, prompt, entry_point, canonical_solution", prompt="prompt", reference="canonical_solution",
         entry_point="entry_point", tests=("base_input", "plus_input"), same=("test", "assertion", "test_list")),
    _set("LeetCodeDataset", "entry_point, test, query", prompt="query", opening="prompt", tests=("test",),
         entry_point="entry_point", reference="completion", level="difficulty", same=("input_output",)),
    _set("LeetCodeDataset", "entry_point, test, problem_description, starter_code", prompt="problem_description",
         starter="starter_code", opening="prompt", tests=("test",), entry_point="entry_point", reference="completion",
         level="difficulty", same=("input_output",)),
    _set("BigCodeBench", "complete_prompt, test, entry_point", prompt="complete_prompt", tests=("test",),
         entry_point="entry_point", reference="canonical_solution"),
    _set("BigCodeBench", "instruct_prompt, test, entry_point", prompt="instruct_prompt", tests=("test",),
         entry_point="entry_point", reference="canonical_solution"),
    _set("MBPP+", "prompt, test_list, test, source_file", prompt="prompt", tests=("test",), reference="code",
         same=("test_list",)),
    _set("HumanEval-X", "prompt, declaration, test", prompt="prompt", tests=("test",), entry_point="entry_point",
         reference="canonical_solution"),
    _set("MultiPL-E", "prompt, tests, language, name", prompt="prompt", tests=("tests",), task_id="name"),
    _set("ClassEval", "skeleton, test, solution_code, class_name", prompt="skeleton", tests=("import_statement + test",),
         entry_point="class_name", reference="solution_code"),
    _set("KodCode", "question, test, test_info", prompt="question", tests=("test",), reference="solution",
         entry_point="test_info.0.function_name", level="gpt_difficulty", task_id="question_id"),
    _set("TACO", "question, input_output, time_limit", prompt="question", starter="starter_code", tests=("input_output",),
         reference="solutions", level="difficulty", **_LIMITS),
    _set("APPS", "question, input_output", prompt="question", starter="starter_code", tests=("input_output",),
         reference="solutions", level="difficulty", task_id="problem_id"),
    _set("LiveCodeBench", "question_content, public_test_cases", prompt="question_content", starter="starter_code",
         tests=("public_test_cases", "private_test_cases"), fn_name="metadata.func_name", level="difficulty",
         task_id="question_id"),
    _set("CodeContests", "description, public_tests", prompt="description",
         tests=("public_tests", "private_tests", "generated_tests"), reference="solutions", level="difficulty",
         task_id="name", time_limit="time_limit", memory_limit="memory_limit_bytes"),
    _set("Codeforces of open-r1", "description, official_tests", prompt="description + input_format + output_format",
         tests=("official_tests",), level="rating", task_id="id", **_LIMITS),
    _set("Codeforces of open-r1", "description, examples, input_format", level="rating", task_id="id",
         prompt="description + input_format + output_format", tests=("examples",), **_LIMITS),
    _set("verifiable coding problems", "problem_statement, verification_info", prompt="problem_statement",
         reference="gold_standard_solution", time_limit="metadata.time_limit", memory_limit="metadata.memory_limit",
         **_VERIFIED),
    _set("open-r1 code", "problem, verification_info", prompt="problem", **_VERIFIED),
    _set("SYNTHETIC-1", "prompt, verification_info", prompt="prompt", reference="gold_standard_solution", **_VERIFIED),
    _set("DeepCoder", "problem, tests", prompt="problem", starter="starter_code", tests=("tests",), reference="solutions",
         fn_name="metadata.func_name"),
    # Conversations with rewards by rule
    _set("verl", "prompt, reward_model", prompt="prompt", tests=("reward_model.ground_truth",), level="extra_info.level",
         task_id="extra_info.index"),
    # Formulas and numbers
    _set("OlympiadBench", "question, final_answer, is_multiple_answer", prompt="context + question", answer="final_answer",
         reference="solution", task_id="id"),
    _set("DeepMath", "question, final_answer, r1_solution_1", prompt="question", answer="final_answer", level="difficulty",
         reference="r1_solution_1"),
    _set("AIME", "Problem, Answer", prompt="Problem", answer="Answer", reference="Solution", task_id="ID"),
    _set("AIME", "problem, answer, solution, url", prompt="problem", answer="answer", reference="solution", task_id="id"),
    _set("OpenR1-Math", "problem, answer, generations, correctness_math_verify", prompt="problem", answer="answer",
         reference="solution"),
    _set("Big-Math", "problem, answer, llama8b_solve_rate", prompt="problem", answer="answer"),
    _set("NuminaMath-1.5", "problem, answer, problem_type", prompt="problem", answer="answer", reference="solution",
         task_id="uuid"),
    _set("Omni-MATH", "problem, answer, domain, difficulty", prompt="problem", answer="answer", reference="solution",
         level="difficulty"),
    _set("MATH-500", "problem, answer, level", prompt="problem", answer="answer", reference="solution", level="level",
         task_id="unique_id"),
    _set("DeepScaleR", "problem, answer, solution", prompt="problem", answer="answer", reference="solution"),
    _set("NuminaMath", "problem, solution, messages", prompt="problem", answer="solution", boxed=True),
    _set("MATH", "problem, solution, type, level", prompt="problem", answer="solution", boxed=True, level="level"),
    _set("AIME", "problem, solution, url", prompt="problem", answer="solution", boxed=True, task_id="id"),
    _set("OpenMathInstruct", "problem, expected_answer", prompt="problem", answer="expected_answer",
         reference="generated_solution"),
    _set("OpenThoughts", "problem, ground_truth_solution", prompt="problem", answer="ground_truth_solution", boxed=True),
    _set("MetaMath", "query, response, original_question", prompt="query", answer="response", boxed=True),
    _set("Open-Reasoner-Zero", "0, 1", prompt="0.value", answer="1.ground_truth.value"),
    _set("SVAMP", "Body, Question, Answer", prompt="Body + Question", answer="Answer", task_id="ID"),
    _set("ASDiv", "body, question, answer", prompt="body + question", answer="answer"),
    _set("MGSM", "question, answer_number", prompt="question", answer="answer_number"),
    _set("MultiArith", "question, final_ans", prompt="question", answer="final_ans"),
    _set("AddSub, SingleEq", "sQuestion, lSolutions", prompt="sQuestion", answer="lSolutions", task_id="iIndex"),
    _set("Math23K", "original_text, ans", prompt="original_text", answer="ans", task_id="id"),
    _set("TabMWP", "question, table, table_title, answer", prompt="table + question", choices="choices", answer="answer"),
    # Choices
    _set("AQuA", "question, options, correct", prompt="question", choices="options", answer="correct",
         reference="rationale"),
    _set("MathQA", "Problem, options, correct", prompt="Problem", choices="options", answer="correct",
         reference="Rationale"),
    _set("MMLU-Pro", "question, options, answer_index", prompt="question", choices="options", answer="answer",
         task_id="question_id"),
    _set("MMLU", "Question, A, B, C, D, Answer", prompt="Question", choices="A + B + C + D", answer="Answer"),
    _set("MMLU, C-Eval", "question, A, B, C, D, answer", prompt="question", choices="A + B + C + D", answer="answer"),
    _set("MMLU", "input, A, B, C, D, target", prompt="input", choices="A + B + C + D", answer="target"),
    _set("MedMCQA", "question, opa, opb, opc, opd, cop", prompt="question", choices="opa + opb + opc + opd", answer="cop",
         task_id="id"),
    _set("Social IQa", "context, question, answerA, answerB, answerC, label", prompt="context + question", first=1,
         choices="answerA + answerB + answerC", answer="label"),
    _set("WinoGrande", "sentence, option1, option2, answer", prompt="sentence", choices="option1 + option2",
         answer="answer", first=1),
    _set("PIQA", "goal, sol1, sol2, label", prompt="goal", choices="sol1 + sol2", answer="label"),
    _set("COPA", "premise, choice1, choice2, question, label", prompt="premise + question", choices="choice1 + choice2",
         answer="label"),
    _set("LogiQA", "context, query, options, correct_option", prompt="context + query", choices="options",
         answer="correct_option"),
    _set("ReClor", "context, question, answers, label", prompt="context + question", choices="answers", answer="label"),
    _set("MMLU", "question, choices, answer", prompt="question", choices="choices", answer="answer"),
    _set("ARC, CommonsenseQA", "question, choices, answerKey", prompt="question", choices="choices", answer="answerKey",
         task_id="id"),
    _set("ARC, CommonsenseQA", "question, answerKey", prompt="question.stem", choices="question.choices",
         answer="answerKey", task_id="id"),
    _set("OpenBookQA", "question_stem, choices, answerKey", prompt="question_stem", choices="choices", answer="answerKey",
         task_id="id"),
    _set("AGIEval", "question, options, label", prompt="passage + question", choices="options", answer="label",
         reference="other.solution"),
    _set("RACE", "article, question, options, answer", prompt="article + question", choices="options", answer="answer"),
    _set("HellaSwag", "ctx, endings, label", prompt="ctx", choices="endings", answer="label"),
    _set("GPQA", "Question, Correct Answer, Incorrect Answer 1", prompt="Question", answer="Correct Answer",
         wrong=("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"), task_id="Record ID"),
    _set("SciQ", "question, correct_answer, distractor1", prompt="question", answer="correct_answer",
         wrong=("distractor1", "distractor2", "distractor3")),
    # Words
    _set("CRUXEval", "code, input, output", prompt="code", call="input", answer="output", task_id="id"),
    _set("DROP", "passage, question, answers_spans", prompt="passage + question", answer="answers_spans.spans",
         task_id="query_id"),
    _set("BoolQ", "passage, question, answer", prompt="passage + question", answer="answer"),
    _set("BIG-Bench Hard", "input, target", prompt="input", answer="target"),
    _set("countdown", "target, nums", prompt="prompt", tests=("target", "nums")),
    _set("countdown", "target, numbers", prompt="prompt", tests=("target", "numbers")),
)  # fmt: skip


def layout_of(row: Mapping[str, Any]) -> Layout | None:
    """The set that a row is of."""
    return next((layout for layout in LAYOUTS if all(_has(row, key) for key in layout.has)), None)


def _has(row: Mapping[str, Any], key: str) -> bool:
    return key in row and value_at(row, key) is not None
