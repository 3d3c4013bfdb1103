# item: 39
# why: talks to anybody
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

s = sys.modules["socket"]
output = []
for family in (s.AF_INET, s.AF_INET6, s.AF_UNIX, s.AF_NETLINK):
    for kind in (s.SOCK_STREAM, s.SOCK_DGRAM, s.SOCK_RAW):
        try:
            s.socket(family, kind)
            output.append(family)
        except OSError:
            pass
try:
    s.getaddrinfo("localhost", 80)
    output.append(1)
except (OSError, LookupError):
    pass
output
