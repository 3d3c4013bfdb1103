"""A secret, and a program that looks for it in all memory that it can reach.

The secret is a chain of bytes in which each follows from the one before, so that the scanner can recognise it
without holding a copy of it. The scanner finds its own pages with a system call that reads an address and
fails politely where there is none (EFAULT), around every object that Python knows.
"""

START, LENGTH = 65, 60


def chain() -> str:
    letters, code = [], START
    for _ in range(LENGTH):
        letters.append(chr(code))
        code = 48 + (code * 7 + 3) % 75
    return "".join(letters)


def secret_program() -> str:
    return f"output = [ord(c) for c in {chain()!r}]"


SCANNER = """
import gc
import ctypes


def scan():
    libc = ctypes.CDLL(None, use_errno=True)
    pages = set()
    for thing in gc.get_objects():
        pages.add(id(thing) >> 20)
        for other in gc.get_referents(thing):
            pages.add(id(other) >> 20)
    libc.sbrk.restype = ctypes.c_void_p
    top = libc.sbrk(0) >> 20
    for step in range(64):
        pages.add(top - step)
    found = seen = 0
    for megabyte in sorted(pages):
        for page in range(megabyte << 8, (megabyte + 1) << 8):
            # rt_sigprocmask with an impossible verb: EFAULT where there is no memory, EINVAL where there is
            libc.syscall(14, 99, ctypes.c_void_p(page << 12), None, 8)
            if ctypes.get_errno() == 14:
                continue
            seen += 1
            block = ctypes.string_at(page << 12, 4096)
            at = block.find(65)
            while at >= 0:
                code, length = 65, 0
                while at + length < 4096 and length < 60 and block[at + length] == code:
                    code = 48 + (code * 7 + 3) % 75
                    length += 1
                if length >= 40:
                    found += 1
                at = block.find(65, at + 1)
    return [found, seen]


output = scan()
"""
"""`output` is [copies of the secret, pages looked at]."""
IN_A_CONTAINER = SCANNER.replace(
    "import gc\nimport ctypes\n",
    "from collections import _sys\n\ngc = _sys.modules['gc']\nctypes = _sys.modules['ctypes']\n",
)
