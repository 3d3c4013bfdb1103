"""Problems of our own, which `shaped.py` lays out as HumanEval and MBPP do: a function, and below it what is asserted."""

# ruff: noqa: B007, C4, SIM


def add_all(numbers):
    """The sum of the numbers of a list."""
    return sum(numbers)
# add_all([1, 2, 3]) == 6
# add_all([]) == 0
# add_all([-5, 5, 2.5]) == 2.5


def has_close_pair(numbers, distance):
    """Whether two of the numbers are closer to each other than the distance."""
    ordered = sorted(numbers)
    return any(b - a < distance for a, b in zip(ordered, ordered[1:]))
# has_close_pair([1.0, 2.0, 3.9], 1.5)
# not has_close_pair([1.0, 2.0, 3.0], 0.5)
# has_close_pair([], 1) == False


def split_groups(text):
    """The groups of balanced brackets in a text, without its blanks."""
    groups, current, depth = [], "", 0
    for character in text.replace(" ", ""):
        current += character
        depth += 1 if character == "(" else -1
        if depth == 0:
            groups.append(current)
            current = ""
    return groups
# split_groups("( ) (( )) (( )( ))") == ["()", "(())", "(()())"]
# split_groups("") == []
# split_groups("(()())") == ["(()())"]


def fraction_part(number):
    """What is behind the point of a number that is not negative."""
    return number % 1.0
# abs(fraction_part(3.5) - 0.5) < 1e-9
# abs(fraction_part(1.33) - 0.33) < 1e-9
# fraction_part(2.0) == 0.0


def falls_below(operations, floor):
    """Whether a balance that begins with 0 ever falls below the floor."""
    total = 0
    for each in operations:
        total += each
        if total < floor:
            return True
    return False
# falls_below([1, 2, -4], 0) is True
# falls_below([1, 2, -4], -2) is False
# falls_below([], 0) == False


def mean_deviation(numbers):
    """The mean distance of the numbers from their mean."""
    mean = sum(numbers) / len(numbers)
    return sum(abs(x - mean) for x in numbers) / len(numbers)
# abs(mean_deviation([1.0, 2.0, 3.0]) - 2.0 / 3.0) < 1e-6
# mean_deviation([1.0, 2.0, 3.0, 4.0]) == 1.0
# mean_deviation([7]) == 0


def intersperse(numbers, delimiter):
    """The numbers with a delimiter between each two of them."""
    mixed = []
    for number in numbers:
        mixed += [number, delimiter]
    return mixed[:-1]
# intersperse([], 7) == []
# intersperse([5, 6, 3, 2], 8) == [5, 8, 6, 8, 3, 8, 2]
# intersperse([2], 2) == [2]


def deepest(text):
    """How deep the brackets of each word of a text are nested."""
    def depth(word):
        level = most = 0
        for character in word:
            level += 1 if character == "(" else -1
            most = max(most, level)
        return most
    return [depth(word) for word in text.split()]
# deepest("(()()) ((())) () ((())()())") == [2, 3, 1, 3]
# deepest("") == []
# deepest("()") == [1]


def containing(texts, part):
    """Those of the texts that contain a part."""
    return [text for text in texts if part in text]
# containing([], "john") == []
# containing(["xxx", "asd", "xxy", "john doe", "xxxAAA", "xxx"], "xxx") == ["xxx", "xxxAAA", "xxx"]
# containing(["grunt", "prune"], "run") == ["grunt", "prune"]


def sum_and_product(numbers):
    """A pair of the sum and the product of the numbers."""
    product = 1
    for number in numbers:
        product *= number
    return sum(numbers), product
# sum_and_product([]) == (0, 1)
# sum_and_product([3, 5, 7]) == (15, 105)
# sum_and_product([10]) == (10, 10)


def running_maximum(numbers):
    """The largest number so far, at each place."""
    from itertools import accumulate
    return list(accumulate(numbers, max))
# running_maximum([]) == []
# running_maximum([4, 3, 2, 1]) == [4, 4, 4, 4]
# running_maximum([3, 2, 3, 100, 3]) == [3, 3, 3, 100, 100]


def to_palindrome(text):
    """The shortest palindrome that begins with a text."""
    for start in range(len(text) + 1):
        tail = text[start:]
        if tail == tail[::-1]:
            return text + text[:start][::-1]
# to_palindrome("") == ""
# to_palindrome("xyz") == "xyzyx"
# to_palindrome("xyx") == "xyx"


def exclusive_or(one, other):
    """The exclusive or of two texts of zeros and ones."""
    return "".join("01"[a != b] for a, b in zip(one, other))
# exclusive_or("111000", "101010") == "010010"
# exclusive_or("1", "1") == "0"
# exclusive_or("", "") == ""


def longest_text(texts):
    """The first of the longest texts; None of none."""
    return max(texts, key=len, default=None)
# longest_text([]) is None
# longest_text(["x", "y", "z"]) == "x"
# longest_text(["x", "yyy", "zzzz", "www", "kkkk", "abc"]) == "zzzz"


def common_divisor(a, b):
    """The greatest common divisor of two numbers."""
    while b:
        a, b = b, a % b
    return a
# common_divisor(3, 7) == 1
# common_divisor(144, 60) == 12
# common_divisor(49, common_divisor(14, 21)) == 7


def prefixes(text):
    """All prefixes of a text, from the shortest to the longest."""
    return [text[: end + 1] for end in range(len(text))]
# prefixes("") == []
# prefixes("WWW") == ["W", "WW", "WWW"]
# len(prefixes("asdfgh")) == 6


def counted_up(last):
    """The numbers from 0 to the last, in a text with blanks between them."""
    return " ".join(map(str, range(last + 1)))
# counted_up(0) == "0"
# counted_up(3) == "0 1 2 3"
# counted_up(10) == "0 1 2 3 4 5 6 7 8 9 10"


def distinct_characters(text):
    """How many different characters a text has, in whatever case."""
    return len(set(text.lower()))
# distinct_characters("") == 0
# distinct_characters("abcdecadeCADE") == 5
# distinct_characters("Jerry jERRY JeRRRY") == 5


def times_found(text, part):
    """How many times a part is found in a text; finds may overlap."""
    return sum(text.startswith(part, start) for start in range(len(text)))
# times_found("", "x") == 0
# times_found("xyxyxyx", "x") == 4
# times_found("cacacacac", "cac") == 4


def sorted_words(text):
    """The words for digits in a text, in the order of their values."""
    digits = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return " ".join(sorted(text.split(), key=digits.index))
# sorted_words("three one five") == "one three five"
# sorted_words("") == ""
# sorted_words("six five four three two one zero") == "zero one two three four five six"


def closest_pair(numbers):
    """The two of the numbers that are closest to each other, in order."""
    ordered = sorted(numbers)
    return min(zip(ordered, ordered[1:]), key=lambda pair: pair[1] - pair[0])
# closest_pair([1.0, 2.0, 3.9, 4.0, 5.0, 2.2]) == (3.9, 4.0)
# closest_pair([1.0, 2.0, 5.9, 4.0, 5.0]) == (5.0, 5.9)
# sorted(closest_pair([3, 1, 2.5])) == [2.5, 3]


def to_unit(numbers):
    """The numbers moved and stretched so that the smallest is 0 and the largest 1."""
    low, high = min(numbers), max(numbers)
    return [(x - low) / (high - low) for x in numbers]
# to_unit([2.0, 49.9]) == [0.0, 1.0]
# to_unit([1, 2, 3, 4, 5]) == [0.0, 0.25, 0.5, 0.75, 1.0]
# max(to_unit([12.0, 11.0, 15.0])) == 1


def only_integers(items):
    """Those of the items that are integers."""
    return [item for item in items if type(item) is int]
# only_integers([]) == []
# only_integers([4, {}, [], 23.2, 9, "adasd", True]) == [4, 9]
# only_integers([3, "c", 3, 3, "a", "b"]) == [3, 3, 3]


def length_of(text):
    """The number of characters of a text."""
    return len(text)
# length_of("") == 0
# length_of("asdasnakj") == 9
# all(length_of("x" * n) == n for n in range(12))


def largest_divisor(number):
    """The largest divisor of a number that is smaller than itself."""
    return next(d for d in range(number // 2, 0, -1) if number % d == 0)
# largest_divisor(3) == 1
# largest_divisor(10) == 5
# largest_divisor(49) == 7


def prime_factors(number):
    """The prime factors of a number, the smallest first."""
    factors, factor = [], 2
    while number > 1:
        while number % factor == 0:
            factors.append(factor)
            number //= factor
        factor += 1
    return factors
# prime_factors(2) == [2]
# prime_factors(3 * 19 * 3 * 19) == [3, 3, 19, 19]
# prime_factors(360) == [2, 2, 2, 3, 3, 5]


def unique_items(numbers):
    """Those of the numbers that are in the list once, in their order."""
    return [x for x in numbers if numbers.count(x) == 1]
# unique_items([]) == []
# unique_items([1, 2, 3, 2, 4]) == [1, 3, 4]
# unique_items([1, 1]) == []


def swapped_case(text):
    """The text with small letters for large ones and the other way round."""
    return text.swapcase()
# swapped_case("") == ""
# swapped_case("Hello!") == "hELLO!"
# swapped_case(swapped_case("aBc")) == "aBc"


def joined(texts):
    """The texts as one."""
    return "".join(texts)
# joined([]) == ""
# joined(["x", "y", "z"]) == "xyz"
# joined(["x"] * 3) == "xxx"


def positive_ones(numbers):
    """Those of the numbers that are above 0."""
    return [x for x in numbers if x > 0]
# positive_ones([-1, -2, 4, 5, 6]) == [4, 5, 6]
# positive_ones([]) == []
# positive_ones([0, -0.5]) == []


def is_prime(number):
    """Whether a number is a prime."""
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
# is_prime(101)
# not is_prime(6)
# [n for n in range(20) if is_prime(n)] == [2, 3, 5, 7, 11, 13, 17, 19]


def root_of_two(digits):
    """The square root of 2, with so many digits behind the point right."""
    from decimal import Decimal, getcontext
    getcontext().prec = digits + 2
    return float(round(Decimal(2).sqrt(), digits))
# abs(root_of_two(3) ** 2 - 2) < 0.01
# abs(root_of_two(8) ** 2 - 2) < 1e-6
# root_of_two(1) == 1.4


def thirds_sorted(numbers):
    """The list with every third number, from the first on, in order among themselves."""
    copied = list(numbers)
    copied[::3] = sorted(copied[::3])
    return copied
# thirds_sorted([1, 2, 3]) == [1, 2, 3]
# thirds_sorted([5, 6, 3, 4, 8, 9, 2]) == [2, 6, 3, 4, 8, 9, 5]
# thirds_sorted([9, 0, 0, 1]) == [1, 0, 0, 9]


def in_order(items):
    """The different items of a list, in order."""
    return sorted(set(items))
# in_order([5, 3, 5, 2, 3, 3, 9, 0, 123]) == [0, 2, 3, 5, 9, 123]
# in_order(["b", "a", "b"]) == ["a", "b"]
# in_order([]) == []


def sevens(limit):
    """How many digits 7 there are in the numbers below a limit that 11 or 13 divides."""
    return sum(str(n).count("7") for n in range(limit) if n % 11 == 0 or n % 13 == 0)
# sevens(50) == 0
# sevens(78) == 2
# sevens(79) == 3


def shifted(text, by):
    """The small letters of a text, each moved by so many places in the alphabet, which is a ring."""
    return "".join(chr((ord(c) - 97 + by) % 26 + 97) for c in text)
# shifted("abc", 1) == "bcd"
# shifted("xyz", 3) == "abc"
# shifted(shifted("hello", 5), -5) == "hello"


def without_vowels(text):
    """The text without its vowels."""
    return "".join(c for c in text if c.lower() not in "aeiou")
# without_vowels("") == ""
# without_vowels("abcdef\nghijklm") == "bcdf\nghjklm"
# without_vowels("EEEE") == ""


def all_below(numbers, *, limit):
    """Whether all numbers are below the limit."""
    return all(x < limit for x in numbers)
# all_below([1, 2, 4, 10], limit=100)
# not all_below([1, 20, 4, 10], limit=5)
# all_below([], limit=0)


def same_characters(one, other):
    """Whether two words have the same set of characters."""
    return set(one) == set(other)
# same_characters("abcd", "dddddddabc") == True
# same_characters("eabcd", "dddddddabc") == False
# same_characters("", "") is True


def fibonacci(n):
    """The n-th number of Fibonacci: 0, 1, 1, 2, ..."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
# fibonacci(10) == 55
# fibonacci(0) == 0
# fibonacci(90) == fibonacci(89) + fibonacci(88)


def balanced(text):
    """Whether every bracket of a text is closed, and none before it is opened."""
    depth = 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0
# balanced("<><<>>")
# not balanced("><")
# balanced("") == True


def direction(numbers):
    """"up" or "down" for numbers that only rise or only fall, else None."""
    pairs = list(zip(numbers, numbers[1:]))
    if all(a < b for a, b in pairs):
        return "up"
    if all(a > b for a, b in pairs):
        return "down"
    return None
# direction([1, 2, 4, 10]) == "up"
# direction([4, 1, 0, -10]) == "down"
# direction([4, 1, 9]) is None


def shared(one, other):
    """What two lists have in common, in order and once."""
    return sorted(set(one) & set(other))
# shared([1, 4, 3, 34, 653, 2, 5], [5, 7, 1, 5, 9, 653, 121]) == [1, 5, 653]
# shared([5, 3, 2, 8], [3, 2]) == [2, 3]
# shared([4, 3, 2, 8], []) == []


def derivative(coefficients):
    """The coefficients of the derivative of a polynomial; the constant comes first."""
    return [i * c for i, c in enumerate(coefficients)][1:]
# derivative([3, 1, 2, 4, 5]) == [1, 4, 12, 20]
# derivative([1, 2, 3]) == [2, 6]
# derivative([7]) == []


def counted(items):
    """How many times each item is in the list."""
    return {item: items.count(item) for item in items}
# counted(["a", "b", "a"]) == {"b": 1, "a": 2}
# counted([]) == {}
# counted([1, 1])[1] == 2


def in_base(number, base):
    """A number that is not negative as a text in a base below 10."""
    digits = ""
    while number:
        digits = str(number % base) + digits
        number //= base
    return digits or "0"
# in_base(8, 3) == "22"
# in_base(0, 2) == "0"
# all(int(in_base(n, 7), 7) == n for n in range(30))


def triangle_area(a, height):
    """The area of a triangle."""
    return a * height / 2
# triangle_area(5, 3) == 7.5
# triangle_area(2, 2) == 2.0
# triangle_area(height=8, a=10) == 40.0


def middle(numbers):
    """The median of the numbers."""
    import statistics
    return statistics.median(numbers)
# middle([3, 1, 2, 4, 5]) == 3
# middle([-10, 4, 6, 1000, 10, 20]) == 8.0
# middle([5]) == 5


def is_palindrome(text):
    """Whether a text reads the same from its end."""
    return text == text[::-1]
# is_palindrome("aba") == True
# is_palindrome("zbcd") == False
# is_palindrome("")


def power_below(n, p):
    """2 to the power of n, modulo p."""
    return pow(2, n, p)
# power_below(3, 5) == 3
# power_below(1101, 101) == 2
# power_below(0, 101) == 1


def transposed(rows):
    """The columns of a table as rows, as tuples."""
    return list(zip(*rows))
# transposed([[1, 2], [3, 4]]) == [(1, 3), (2, 4)]
# transposed([]) == []
# transposed([(1, 2, 3)]) == [(1,), (2,), (3,)]


def flat(nested):
    """The numbers of lists in lists, as one list."""
    if not isinstance(nested, list):
        return [nested]
    return [item for part in nested for item in flat(part)]
# flat([1, [2, [3, []]], [[4]]]) == [1, 2, 3, 4]
# flat([]) == []
# flat([[[[7]]]]) == [7]


def roman(number):
    """A number below 4000 in small Roman letters."""
    signs = [(1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
             (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]
    written = ""
    for value, sign in signs:
        written += sign * (number // value)
        number %= value
    return written
# roman(19) == "xix"
# roman(152) == "clii"
# roman(3994) == "mmmcmxciv"


def collatz(number):
    """The numbers from this one to 1: half of an even one, three times an odd one and one more."""
    visited = [number]
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        visited.append(number)
    return visited
# collatz(6) == [6, 3, 10, 5, 16, 8, 4, 2, 1]
# collatz(1) == [1]
# collatz(27)[-1] == 1 and len(collatz(27)) == 112


def digest(text):
    """The MD5 sum of a text in hexadecimal digits; None of an empty one."""
    import hashlib
    return hashlib.md5(text.encode()).hexdigest() if text else None
# digest("password") == "5f4dcc3b5aa765d61d8327deb882cf99"
# digest("") is None
# len(digest("a")) == 32


def rotated(items, by):
    """The list turned to the right by so many places."""
    by %= max(1, len(items))
    return items[-by:] + items[:-by] if by else items
# rotated([1, 2, 3, 4], 1) == [4, 1, 2, 3]
# rotated([1, 2, 3, 4], 6) == [3, 4, 1, 2]
# rotated([], 3) == []


def valid_date(text):
    """Whether a text is a date that exists, as in 03-31-2020."""
    from datetime import date
    try:
        month, day, year = map(int, text.split("-"))
        date(year, month, day)
    except ValueError:
        return False
    return True
# valid_date("03-11-2000") == True
# valid_date("15-01-2012") == False
# not valid_date("02-30-2020")


def brackets_of(number):
    """All ways to write so many pairs of brackets, in any order."""
    if number == 0:
        return [""]
    return [f"({a}){b}" for k in range(number) for a in brackets_of(k) for b in brackets_of(number - 1 - k)]
# set(brackets_of(2)) == {"()()", "(())"}
# len(brackets_of(5)) == 42
# sorted(brackets_of(1)) == ["()"]


def quotient(a, b):
    """The quotient of two numbers; None where there is none."""
    try:
        return a / b
    except ZeroDivisionError:
        return None
# quotient(1, 0) is None
# quotient(7, 2) == 3.5
# quotient(0, 5) == 0


def edit_distance(one, other):
    """How many letters have to be put in, left out or changed to make one word the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]
# edit_distance("kitten", "sitting") == 3
# edit_distance("", "abc") == 3
# edit_distance("same", "same") == 0


def spiral(rows):
    """The numbers of a table, from the outside to the inside, clockwise."""
    if not rows:
        return []
    return list(rows[0]) + spiral([list(row) for row in zip(*rows[1:])][::-1])
# spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == [1, 2, 3, 6, 9, 8, 7, 4, 5]
# spiral([]) == []
# spiral([[1, 2]]) == [1, 2]


def choose(n, k):
    """In how many ways k of n things can be chosen."""
    import math
    return math.comb(n, k)
# choose(5, 2) == 10
# choose(60, 30) == 118264581564861424
# [choose(4, k) for k in range(5)] == [1, 4, 6, 4, 1]


def encoded(text):
    """The runs of a text, as pairs of a character and how many of it there are."""
    from itertools import groupby
    return [(character, len(list(group))) for character, group in groupby(text)]
# encoded("aaab") == [("a", 3), ("b", 1)]
# encoded("") == []
# "".join(c * n for c, n in encoded("xxyyyz")) == "xxyyyz"
