# item: 28
# why: sends every signal to process 1
# docker: OK
# embedded: DENIED|RUNTIME
# value: []

from collections import _sys as sys

os = sys.modules["os"]
output = []
for number, attempt in enumerate([
    lambda: os.kill(1, 0),
    lambda: os.kill(1, 1),
    lambda: os.kill(1, 2),
    lambda: os.kill(1, 3),
    lambda: os.kill(1, 4),
    lambda: os.kill(1, 5),
    lambda: os.kill(1, 6),
    lambda: os.kill(1, 7),
    lambda: os.kill(1, 8),
    lambda: os.kill(1, 9),
    lambda: os.kill(1, 10),
    lambda: os.kill(1, 11),
    lambda: os.kill(1, 12),
    lambda: os.kill(1, 13),
    lambda: os.kill(1, 14),
    lambda: os.kill(1, 15),
    lambda: os.kill(1, 16),
    lambda: os.kill(1, 17),
    lambda: os.kill(1, 18),
    lambda: os.kill(1, 19),
    lambda: os.kill(1, 20),
    lambda: os.kill(1, 21),
    lambda: os.kill(1, 22),
    lambda: os.kill(1, 23),
    lambda: os.kill(1, 24),
    lambda: os.kill(1, 25),
    lambda: os.kill(1, 26),
    lambda: os.kill(1, 27),
    lambda: os.kill(1, 28),
    lambda: os.kill(1, 29),
    lambda: os.kill(1, 30),
    lambda: os.kill(1, 31),
    lambda: os.kill(1, 32),
    lambda: os.kill(1, 33),
    lambda: os.kill(1, 34),
    lambda: os.kill(1, 35),
    lambda: os.kill(1, 36),
    lambda: os.kill(1, 37),
    lambda: os.kill(1, 38),
    lambda: os.kill(1, 39),
    lambda: os.kill(1, 40),
    lambda: os.kill(1, 41),
    lambda: os.kill(1, 42),
    lambda: os.kill(1, 43),
    lambda: os.kill(1, 44),
    lambda: os.kill(1, 45),
    lambda: os.kill(1, 46),
    lambda: os.kill(1, 47),
    lambda: os.kill(1, 48),
    lambda: os.kill(1, 49),
    lambda: os.kill(1, 50),
    lambda: os.kill(1, 51),
    lambda: os.kill(1, 52),
    lambda: os.kill(1, 53),
    lambda: os.kill(1, 54),
    lambda: os.kill(1, 55),
    lambda: os.kill(1, 56),
    lambda: os.kill(1, 57),
    lambda: os.kill(1, 58),
    lambda: os.kill(1, 59),
    lambda: os.kill(1, 60),
    lambda: os.kill(1, 61),
    lambda: os.kill(1, 62),
    lambda: os.kill(1, 63),
    lambda: os.kill(1, 64),
]):
    try:
        if attempt() != -1:
            output.append(number)
    except (OSError, ValueError, RuntimeError):
        pass
output
