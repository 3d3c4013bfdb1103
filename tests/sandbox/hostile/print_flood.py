# item: 14
# why: prints for ever
# docker: TLE_CPU
# embedded: TLE_CPU|MLE|RUNTIME

while 1:
    print('x' * 1000)
