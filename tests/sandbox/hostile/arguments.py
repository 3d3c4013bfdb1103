# item: 26
# why: looks for secrets in arguments and environment
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
known = {"PYTHONHASHSEED", "LC_ALL", "LD_BIND_NOW", "PATH", "HOSTNAME", "HOME", "LANG", "TERM", "container"}
output = [len(name) for name in [*sys.argv, *os.environ] if name and name not in known]
