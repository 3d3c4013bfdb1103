# item: 9
# why: asks for a terabyte
# docker: MLE
# embedded: MLE|RUNTIME

x = bytes(2**40)
