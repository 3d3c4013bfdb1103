# why: a number so long that whoever reads it takes forever
def solve(x):
    return 1 << (1 << 20)
