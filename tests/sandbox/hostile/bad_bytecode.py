# item: 40
# why: runs bytes that are no bytecode
# docker: SIGNAL|RUNTIME|TLE_CPU|MLE
# embedded: DENIED|RUNTIME

def f():
    return 1


f.__code__ = f.__code__.replace(co_code=b"\xff\xfe" * 50 + b"d\xff" * 50)
f()
