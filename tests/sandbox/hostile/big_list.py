# item: 7
# why: asks for 80 GB at once
# docker: MLE
# embedded: MLE

x = [0] * 10**10
