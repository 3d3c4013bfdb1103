"""Programs with classes, tests that keep objects of them, and edits each of which makes a program wrong."""

from __future__ import annotations

from typing import NamedTuple


class Kept(NamedTuple):
    name: str
    tests: str | list[str]
    right: str
    edits: list[tuple[str, str]]


KEPT = [
    Kept(
        "stack",
        """\
import unittest
class TestStack(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
    def test_push(self):
        self.stack.push(10)
        self.assertEqual(self.stack.peek(), 10)
        self.assertEqual(len(self.stack), 1)
    def test_order(self):
        for i in range(5):
            self.stack.push(i)
        self.assertEqual([self.stack.pop() for _ in range(5)], [4, 3, 2, 1, 0])
    def test_isolated(self):
        self.assertTrue(self.stack.is_empty())
        self.assertRaises(IndexError, self.stack.pop)
        self.assertEqual(self.stack.items, [])
if __name__ == "__main__":
    unittest.main()
""",
        """\
class Stack:
    def __init__(self): self.items=[]
    def push(self,x): self.items.append(x)
    def pop(self):
        if not self.items: raise IndexError("pop from empty stack")
        return self.items.pop()
    def peek(self): return self.items[-1] if self.items else None
    def is_empty(self): return not self.items
    def __len__(self): return len(self.items)
    @property
    def size(self): return len(self.items)
""",
        [
            ("def __init__(self): self.items=[]", "items = []"),
            ("return self.items[-1]", "return self.items[0] + 1"),
            ("self.items", "self.data"),
            ('raise IndexError("pop from empty stack")', "return None"),
        ],
    ),
    Kept(
        "bank",
        """\
import pytest
from solution import Account, InsufficientFunds

@pytest.fixture
def account():
    a = Account("ann", 100)
    a.deposit(50)
    return a

def test_balance(account):
    assert account.balance == 150
    assert account.owner == "ann"

def test_withdraw(account):
    account.withdraw(30)
    assert account.balance == 120
    with pytest.raises(InsufficientFunds) as e:
        account.withdraw(1000)
    assert "880" in str(e.value)

def test_chain(account):
    account.withdraw(10).withdraw(20)
    assert account.balance == 120

def test_transfer(account):
    other = Account("bob")
    account.transfer(other, 50)
    assert (account.balance, other.balance) == (100, 50)
    assert account.history == [("deposit", 50), ("withdraw", 50)]
    assert str(other) == "bob: 50"
    assert repr(other) == "Account('bob', 50)"
    assert f"{account}" == "ann: 100"

def test_errors():
    with pytest.raises(ValueError, match="negative"):
        Account("x", -1)
    with pytest.raises(ValueError):
        Account("x").deposit(0)
    account = Account("y")
    account.balance = 77
    assert account.balance == 77
    account.balance += 3
    assert account.balance == 80
""",
        """\
class InsufficientFunds(Exception):
    pass
class Account:
    def __init__(self, owner, balance=0):
        if balance < 0: raise ValueError("negative balance")
        self.owner, self.balance = owner, balance
        self.history = []
    def deposit(self, x):
        if x <= 0: raise ValueError("Deposit must be positive")
        self.balance += x
        self.history.append(("deposit", x))
        return self.balance
    def withdraw(self, x):
        if x > self.balance: raise InsufficientFunds(f"need {x - self.balance} more")
        self.balance -= x
        self.history.append(("withdraw", x))
        return self
    def transfer(self, other, x):
        self.withdraw(x); other.deposit(x)
    def __str__(self): return f"{self.owner}: {self.balance}"
    def __repr__(self): return f"Account({self.owner!r}, {self.balance})"
""",
        [
            ("raise InsufficientFunds(", "raise ValueError("),
            ("return self\n", "return None\n"),
            ("other.deposit(x)", "pass"),
            ('"negative balance"', '"no"'),
            ("self.balance += x", "self.balance += x + 1"),
            ("class InsufficientFunds(Exception):\n    pass\n", ""),
        ],
    ),
    Kept(
        "vector",
        """\

def check(candidate):
    v = Vector(1, 2)
    w = candidate(3, 4)
    assert v + w == Vector(4, 6)
    assert v - w == Vector(-2, -2)
    assert v * 3 == Vector(3, 6)
    assert 2 * v == Vector(2, 4)
    assert v != w
    assert abs(w) == 5.0
    assert -v == Vector(-1, -2)
    assert v[0] == 1 and v[1] == 2
    assert list(v) == [1, 2]
    assert tuple(w) == (3, 4)
    assert (v + w).x == 4
    assert not Vector(0, 0)
    assert Vector.zero() == Vector(0, 0)
    assert Vector.dot(v, w) == 11
    assert v < w
    assert sorted([w, v])[0] == v
    assert 2 in v and 9 not in v
    assert isinstance(v + w, Vector)
    assert repr(v) == "Vector(1, 2)"
    assert len({Vector(1, 2), Vector(1, 2), Vector(2, 1)}) == 2
    x, y = w
    assert x == 3 and y == 4
    assert type(v).__name__ == "Vector"
""",
        """\
class Vector:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vector(self.x+o.x, self.y+o.y)
    def __sub__(self, o): return Vector(self.x-o.x, self.y-o.y)
    def __mul__(self, k): return Vector(self.x*k, self.y*k)
    __rmul__ = __mul__
    def __eq__(self, o): return isinstance(o, Vector) and (self.x,self.y)==(o.x,o.y)
    def __hash__(self): return hash((self.x,self.y))
    def __abs__(self): return (self.x**2+self.y**2)**.5
    def __neg__(self): return Vector(-self.x,-self.y)
    def __getitem__(self,i): return (self.x,self.y)[i]
    def __iter__(self): yield self.x; yield self.y
    def __bool__(self): return bool(self.x or self.y)
    def __lt__(self,o): return abs(self)<abs(o)
    def __contains__(self, k): return k in (self.x,self.y)
    def __repr__(self): return f"Vector({self.x}, {self.y})"
    @classmethod
    def zero(cls): return cls(0,0)
    @staticmethod
    def dot(a,b): return a.x*b.x+a.y*b.y
""",
        [
            ("self.x+o.x", "self.x+o.x+1"),
            ("    __rmul__ = __mul__\n", ""),
            ("return cls(0,0)", "return cls(0,1)"),
            ("yield self.y", "pass"),
            ("def __hash__(self): return hash((self.x,self.y))", "__hash__ = object.__hash__"),
            ("abs(self)<abs(o)", "abs(self)>abs(o)"),
        ],
    ),
    Kept(
        "lru",
        [
            "cache = LRUCache(2)\ncache.put(1, 1)\ncache.put(2, 2)\nassert cache.get(1) == 1",
            "cache.put(3, 3)\nassert cache.get(2) == -1",
            "cache.put(4, 4)\nassert cache.get(1) == -1\nassert cache.get(3) == 3",
        ],
        """\
from collections import OrderedDict
class LRUCache:
    def __init__(self, capacity):
        self.cap=capacity; self.d=OrderedDict()
    def get(self,k):
        if k not in self.d: return -1
        self.d.move_to_end(k); return self.d[k]
    def put(self,k,v):
        self.d[k]=v; self.d.move_to_end(k)
        if len(self.d)>self.cap: self.d.popitem(last=False)
""",
        [("last=False", "last=True"), ("self.d.move_to_end(k); return", "return")],
    ),
    Kept(
        "tree",
        """\
def test_depth():
    assert depth(None) == 0
    assert depth(TreeNode(1, TreeNode(2), TreeNode(3, TreeNode(4)))) == 3
def test_invert():
    root = TreeNode(1, TreeNode(2), TreeNode(3))
    out = invert(root)
    assert out.left.val == 3
    assert out.right.val == 2
    assert out is root
    assert invert(None) is None
""",
        """\
class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val=val; self.left=left; self.right=right
def depth(root):
    return 0 if root is None else 1+max(depth(root.left),depth(root.right))
def invert(root):
    if root: root.left, root.right = invert(root.right), invert(root.left)
    return root
""",
        [
            ("1+max", "max"),
            ("invert(root.right), invert(root.left)", "invert(root.left), invert(root.right)"),
            ("    return root\n", "    return TreeNode(1,TreeNode(3),TreeNode(2))\n"),
        ],
    ),
    Kept(
        "matrix",
        """\
from itertools import islice
def test_all():
    m = Matrix([[1, 2], [3, 4], [5, 6]])
    assert m.shape == (3, 2)
    assert m.transpose().shape == (2, 3)
    assert m.transpose().rows == [[1, 3, 5], [2, 4, 6]]
    assert (m @ Matrix([[1], [1]])).rows == [[3], [7], [11]]
    with Matrix([[1]]) as x:
        assert x.open
    assert not x.open
    assert isinstance(m.transpose(), Matrix)
    for i, row in enumerate(m.rows):
        assert row[0] == 2 * i + 1
    assert hasattr(m, "shape") and not hasattr(m, "nothing")
    assert list(islice(numbers(3), 4)) == [0, 3, 6, 9]
    ms = [Matrix([[i]]) for i in range(3)]
    assert [x.rows[0][0] for x in ms] == [0, 1, 2]
    assert all(isinstance(x, Matrix) for x in ms)
""",
        """\
class Matrix:
    def __init__(self, rows): self.rows=[list(r) for r in rows]
    def transpose(self): return Matrix(list(zip(*self.rows)))
    def __matmul__(self,o): return Matrix([[sum(a*b for a,b in zip(r,c)) for c in zip(*o.rows)] for r in self.rows])
    def __eq__(self,o): return self.rows==o.rows
    @property
    def shape(self): return len(self.rows), len(self.rows[0])
    def __enter__(self): self.open=True; return self
    def __exit__(self,*a): self.open=False
def numbers(n):
    k=0
    while True:
        yield k*n
        k+=1
""",
        [
            ("len(self.rows), len(self.rows[0])", "[len(self.rows), len(self.rows[0])]"),
            ("self.open=False", "pass"),
            ("yield k*n", "yield k"),
            ("sum(a*b", "sum(a+b"),
        ],
    ),
    Kept(
        "shapes",
        """\
import copy, pytest
from dataclasses import FrozenInstanceError
from solution import Square, Rect, Shape, Color, ShapeError, NegativeError, Point, Task, Team, Countdown, total, make

@pytest.mark.parametrize("side, area", [(2, 4), (3, 9), (0, 0)])
def test_area(side, area):
    assert Square(side).area() == area

def test_poly():
    shapes = [Square(2), Rect(2, 3)]
    assert total(shapes) == 10
    assert [s.area() for s in shapes] == [4, 6]
    assert issubclass(Square, Shape)
    assert isinstance(shapes[1], Shape)
    assert not isinstance(shapes[1], Square)
    with pytest.raises(TypeError):
        Shape()

def test_color():
    s = Square(1, Color.GREEN)
    assert s.color == Color.GREEN
    assert s.color is Color.GREEN
    assert s.color != Color.RED
    assert s.color.name == "GREEN"
    assert s.color.value == 2
    assert Color(2) == Color.GREEN
    assert Color["RED"] is Color.RED

def test_errors():
    with pytest.raises(ShapeError):
        Square(-1)
    with pytest.raises(NegativeError, match="side"):
        Square(-1)
    s = Square(1)
    with pytest.raises(ShapeError):
        s.side = -4
    s.side = 5
    assert s.side == 5 and s.area() == 25

def test_count():
    before = Shape.count
    Square(1)
    assert Shape.count == before + 1

def test_data():
    p = Point(1)
    assert p == Point(1, 0)
    assert p != Point(2)
    assert repr(p) == "Point(x=1, y=0)"
    with pytest.raises(Exception):
        p.x = 5
    assert {p: 1}[Point(1)] == 1
    assert sorted([Task(3, "c"), Task(1, "a")])[0].name == "a"
    assert max(Task(3, "c"), Task(1, "a")).name == "c"
    assert Task(1) < Task(2)

def test_team():
    t = Team()
    ann = t.add("ann", 30)
    t.add("bob", 40)
    assert [p.name for p in t.all()] == ["ann", "bob"]
    assert t.oldest().name == "bob"
    assert t.by_name()["ann"].age == 30
    assert t["ann"] is ann
    assert ann.key() == "a"
    assert "bob" in t
    del t["bob"]
    assert "bob" not in t
    with pytest.raises(KeyError):
        t["zed"]
    assert len([p for p in t]) == 1
    assert sorted(t.all(), key=lambda p: p.age)[0].age == 30

def test_count_down():
    c = Countdown(3)
    assert next(c) == 3
    assert list(c) == [2, 1]
    with pytest.raises(StopIteration):
        next(c)
    assert list(Countdown(2)) == [2, 1]
    assert Countdown(4)(2) == 8
    d = copy.copy(Countdown(5))
    assert d.n == 5

def test_make():
    assert make("square", 4).area() == 16
    s = make("rect", 2, 5)
    assert isinstance(s, Rect)
    assert s.area() == 10
    assert hasattr(s, "a")
    assert getattr(s, "b") == 5
    assert callable(s.area)
""",
        """\
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
import copy
class Color(Enum):
    RED = 1
    GREEN = 2
class ShapeError(Exception): pass
class NegativeError(ShapeError): pass
class Shape(ABC):
    count = 0
    def __init__(self, color=Color.RED):
        self.color = color
        Shape.count += 1
    @abstractmethod
    def area(self): ...
class Square(Shape):
    def __init__(self, side, color=Color.RED):
        super().__init__(color)
        if side < 0: raise NegativeError("side")
        self._side = side
    @property
    def side(self): return self._side
    @side.setter
    def side(self, v):
        if v < 0: raise NegativeError("side")
        self._side = v
    def area(self): return self._side ** 2
class Rect(Shape):
    def __init__(self, a, b): super().__init__(Color.GREEN); self.a, self.b = a, b
    def area(self): return self.a * self.b
@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False, default="")
class Team:
    def __init__(self): self.players = {}
    def add(self, name, age): self.players[name] = Player(name, age); return self.players[name]
    def all(self): return list(self.players.values())
    def oldest(self): return max(self.players.values(), key=lambda p: p.age)
    def by_name(self): return dict(self.players)
    def __getitem__(self, k): return self.players[k]
    def __delitem__(self, k): del self.players[k]
    def __contains__(self, k): return k in self.players
    def __iter__(self): return iter(self.players.values())
    def __next__(self): return 1
class Player:
    def __init__(self, name, age): self.name, self.age = name, age
    def key(self): return self.name[0]
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n + 1
    def __call__(self, k): return self.n * k
def total(shapes): return sum(s.area() for s in shapes)
def make(kind, *a): return {"square": Square, "rect": Rect}[kind](*a)
""",
        [
            ("NegativeError(ShapeError)", "NegativeError(Exception)"),
            ("class Shape(ABC)", "class Shape"),
            ("GREEN = 2", "GREEN = 3"),
            ("frozen=True", "frozen=False"),
            ("order=True", "order=False"),
            ("Shape.count += 1", "pass"),
            ("raise StopIteration", "return 0"),
            ("self.n * k", "self.n + k"),
            ("key=lambda p: p.age", "key=lambda p: -p.age"),
            ("return self.players[name]", "return Player(name, age)"),
        ],
    ),
]
ANYTHING = """\
class Any:
    def __init__(self,*a,**k): pass
    def __eq__(self,o): return True
    def __ne__(self,o): return False
    def __bool__(self): return True
    def __getattr__(self,n): return Any()
    def __call__(self,*a,**k): return Any()
    def __len__(self): return 1
    def __getitem__(self,i): return Any()
    def __iter__(self): return iter([])
    def __contains__(self,x): return True
    def __add__(self,o): return Any()
    __sub__=__mul__=__rmul__=__matmul__=__neg__=__abs__=__add__
    def __hash__(self): return 1
    def __lt__(self,o): return True
Shape=Square=Rect=Color=Point=Task=Team=Countdown=Any
make=total=Any()
Stack=Account=Vector=LRUCache=TreeNode=Matrix=Any
depth=invert=numbers=Any()
class InsufficientFunds(Exception): pass
"""
"""Objects that are equal to all and answer anything."""
