# item: 5
# why: catastrophic backtracking
# docker: TLE_CPU
# embedded: OK|TLE_CPU|RUNTIME|DENIED

import re

re.match("(a+)+$", "a" * 40 + "b")
