"""pydantic-monty in its own worker process, with limits of time and memory."""

from pydantic_monty import Monty

LIMITS = {"max_feed_duration_secs": 3.0, "max_memory": 128 << 20, "max_recursion_depth": 500}
_WORKER = "/attack/packages/bin/monty"
"""Where `pip install --target` put the interpreter."""


def grade(program, tests):
    try:
        with Monty(binary_path=_WORKER) as pool, pool.checkout(limits=LIMITS) as session:
            session.feed_run(f"{program}\n{tests}")
    except Exception:
        return False
    return True
