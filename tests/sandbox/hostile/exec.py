# item: 34
# why: becomes another program
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.execv("/bin/sh", ["sh"]),
    lambda: os.execv("/usr/bin/python3", ["python3"]),
    lambda: os.execv("/proc/self/exe", ["x"]),
    lambda: -1 if os.system('id') else 0,
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
