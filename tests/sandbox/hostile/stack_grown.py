# item: 19
# why: recurses in C as far as the stack grows
# docker: SIGNAL|MLE|RUNTIME|TLE_CPU|OK
# embedded: DENIED|RUNTIME

import sys
import threading

threading.stack_size(1 << 30)
sys.setrecursionlimit(10**9)


def f(x, *_):
    return sorted([1], key=f)


t = threading.Thread(target=f, args=(1,))
t.start()
