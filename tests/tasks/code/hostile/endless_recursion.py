# why: ends the interpreter's stack
def solve(x):
    return solve(x)
