# item: 46
# why: what programs get for sys has nothing in it that reaches outside
# docker: RUNTIME
# embedded: DENIED

import sys
sys.modules["os"]
