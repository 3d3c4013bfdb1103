# item: 51
# why: a list of booleans and of lying integers
# docker: OK
# embedded: OK
# value: none

output = [True, False]
