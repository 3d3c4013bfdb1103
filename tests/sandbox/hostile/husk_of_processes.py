# item: 11
# why: starts a pool of processes
# docker: DENIED
# embedded: DENIED

from multiprocessing import Pool

Pool(4)
