# why: a value so deep that whoever compares it may fail
def solve(x):
    value = []
    for _ in range(100_000):
        value = [value]
    return value
