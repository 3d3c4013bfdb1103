# item: 41
# why: redefines the functions of the language
# docker: OK
# embedded: OK
# value: [666]

def reverse_list(x):
    return [666]


def repeat_list(k, x):
    return [666]


output = reverse_list([1])
