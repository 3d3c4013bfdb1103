# why: takes all memory
def solve(x):
    return [0] * (1 << 40)
[0] * (1 << 32)
