# item: 11
# why: forks, and swallows every error
# docker: OK|TLE_CPU
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for _ in range(1000):
    try:
        output.append(os.fork())
    except BaseException:
        pass
output
