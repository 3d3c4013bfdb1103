"""smolagents' local interpreter, with no imports beyond its own list."""

from smolagents.local_python_executor import LocalPythonExecutor


def grade(program, tests):
    executor = LocalPythonExecutor(additional_authorized_imports=[])
    executor.send_tools({})
    try:
        executor(f"{program}\n{tests}")
    except Exception:
        return False
    return True
