# item: 1
# why: burns CPU for ever
# docker: TLE_CPU
# embedded: TLE_CPU

while 1:
    pass
