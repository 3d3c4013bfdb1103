# item: 53
# why: prints many candidates, and one with a space and a terminal escape: only the value of a statement counts
# docker: OK
# embedded: OK
# value: [27, 91, 50, 74, 91, 49, 93, 32]

for guess in range(1000):
    print([guess], end=" ")
print("\x1b[2J[1]")
output = "\x1b[2J[1] "
