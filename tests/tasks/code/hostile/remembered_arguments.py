# why: returns what it was asked before
asked = []
def solve(x):
    asked.append(x)
    return asked
