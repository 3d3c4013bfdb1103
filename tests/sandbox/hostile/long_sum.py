# item: 6
# why: a loop inside C
# docker: TLE_CPU
# embedded: TLE_CPU

x = sum(range(10**12))
