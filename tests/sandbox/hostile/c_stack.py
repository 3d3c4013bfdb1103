# item: 19
# why: overflows the stack of C
# docker: SIGNAL|MLE|RUNTIME|TLE_CPU
# embedded: DENIED|RUNTIME

from collections import _sys as sys

sys.setrecursionlimit(10**9)
x = []
for _ in range(10**6):
    x = [x]
repr(x)
