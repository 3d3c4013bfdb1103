# why: prints many numbers, so that the right one is among them
def solve(x):
    for number in range(100):
        print(number)
    return list(range(100))
solve(0)
