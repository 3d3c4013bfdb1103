# why: never ends
def solve(x):
    while True:
        pass
while True:
    pass
