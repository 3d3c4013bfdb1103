# item: 19
# why: calls itself for ever without Python's limit
# docker: SIGNAL|MLE|RUNTIME|TLE_CPU
# embedded: DENIED|RUNTIME

from collections import _sys as sys

sys.setrecursionlimit(10**9)


def f():
    f()


f()
