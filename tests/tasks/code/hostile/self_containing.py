# why: a list that contains itself
def solve(x):
    endless = []
    endless.append(endless)
    return endless
