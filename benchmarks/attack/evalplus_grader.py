"""evalplus's executor: `untrusted_check`, with the inputs and the values of the tests."""

import ast

from evalplus.eval import PASS, untrusted_check


def grade(program, tests):
    pairs = [(node.test.left.args, node.test.comparators[0]) for node in ast.parse(tests).body]
    inputs = [[ast.literal_eval(argument) for argument in arguments] for arguments, _ in pairs]
    expected = [ast.literal_eval(value) for _, value in pairs]
    status, _ = untrusted_check(
        "humaneval", program, inputs, "solve", expected=expected, atol=0, ref_time=[0.1] * len(inputs),
        fast_check=True, min_time_limit=1.0, gt_time_limit_factor=4.0,
    )  # fmt: skip
    return status == PASS
