# item: 51
# why: an integer that is equal to everything
# docker: OK
# embedded: DENIED|RUNTIME
# value: none

class E(int):
    def __eq__(self, other):
        return True

    __hash__ = None


output = E(3)
