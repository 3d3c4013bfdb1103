# item: 19
# why: calls itself for ever
# docker: RUNTIME
# embedded: RUNTIME

def f():
    f()


f()
