# item: 8
# why: grows until there is no more
# docker: MLE|TLE_CPU
# embedded: MLE|TLE_CPU

a = [0]
while 1:
    a += [a] * 9**5
