# item: 52
# why: the right value, then an endless loop
# docker: TLE_CPU
# embedded: TLE_CPU

output = [1, 2]
while 1:
    pass
