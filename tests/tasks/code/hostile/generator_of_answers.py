# why: yields every number, so that the right one is among them
def solve(x):
    yield from range(100)
