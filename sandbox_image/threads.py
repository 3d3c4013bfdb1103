"""`threading` where no thread can be started: each runs to its end where it is started.

That is all that a script needs which starts a thread for its stack and joins it. What would wait for another thread
would wait for ever, and is refused.
"""

import sys
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace, TracebackType
from typing import Any

TIMEOUT_MAX = 4294967.0
NAMES = frozenset((
    "Barrier", "BoundedSemaphore", "BrokenBarrierError", "Condition", "Event", "Lock", "RLock", "Semaphore", "TIMEOUT_MAX",
    "Thread", "ThreadError", "active_count", "activeCount", "currentThread", "current_thread", "enumerate", "excepthook",
    "get_ident", "get_native_id", "local", "main_thread", "stack_size",
))  # fmt: skip
ThreadError = RuntimeError


class BrokenBarrierError(RuntimeError):
    """Never raised here."""


class Waiting(PermissionError):
    """A thread waits for another one."""


def _wait(what: object, timeout: float | None) -> bool:
    """In vain: until the time is over, and never without one."""
    if timeout is None or timeout < 0:
        raise Waiting(1, f"{type(what).__name__} that waits for another thread")
    time.sleep(timeout)
    return False


class Thread:
    """Started, it runs to its end; joined, it has."""

    _count = 0

    def __init__(
        self,
        group: None = None,
        target: Callable[..., object] | None = None,
        name: str | None = None,
        args: Iterable[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        if name is None:
            Thread._count += 1
            called = getattr(target, "__name__", None)
            name = f"Thread-{Thread._count} ({called})" if called else f"Thread-{Thread._count}"
        self.name = name
        self.daemon = bool(daemon)
        self.ident: int | None = None
        self.native_id: int | None = None
        self._target, self._args, self._kwargs = target, args, dict(kwargs or {})

    def start(self) -> None:
        if self.ident is not None:
            raise RuntimeError("threads can only be started once")
        self.ident = self.native_id = 1 + id(self)
        _running.append(self)
        others = [(each, dict(vars(each))) for each in _locals]
        try:
            for each, _ in others:
                each._begin()
            self.run()
        except SystemExit:
            return
        except (MemoryError, PermissionError):  # of the program as a whole: a limit, a refusal
            raise
        except BaseException as error:
            excepthook(
                SimpleNamespace(exc_type=type(error), exc_value=error, exc_traceback=error.__traceback__, thread=self)
            )
        finally:
            _running.pop()
            for each, own in others:
                vars(each).clear()
                vars(each).update(own)

    def run(self) -> None:
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout: float | None = None) -> None:
        if self.ident is None:
            raise RuntimeError("cannot join thread before it is started")

    def is_alive(self) -> bool:
        return self in _running

    def getName(self) -> str:
        return self.name

    def setName(self, name: str) -> None:
        self.name = name

    def isDaemon(self) -> bool:
        return self.daemon

    def setDaemon(self, daemon: bool) -> None:
        self.daemon = daemon


def excepthook(args: Any) -> None:
    """An exception ends its thread and nothing else."""
    print(f"Exception in thread {args.thread.name}: {args.exc_value!r}", file=sys.stderr)


class Semaphore:
    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._value = value

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        if self._value:
            self._value -= 1
            return True
        return blocking and _wait(self, timeout)

    def release(self, n: int = 1) -> None:
        self._value += n

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class BoundedSemaphore(Semaphore):
    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._most = value

    def release(self, n: int = 1) -> None:
        if self._value + n > self._most:
            raise ValueError("Semaphore released too many times")
        super().release(n)


class Lock(Semaphore):
    def __init__(self) -> None:
        super().__init__(1)

    def release(self, n: int = 1) -> None:
        if self._value:
            raise RuntimeError("release unlocked lock")
        self._value = 1

    def locked(self) -> bool:
        return not self._value


class RLock(Semaphore):
    """Of one thread only: it always has it."""

    def __init__(self) -> None:
        super().__init__(0)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        self._value += 1
        return True

    def release(self, n: int = 1) -> None:
        if not self._value:
            raise RuntimeError("cannot release un-acquired lock")
        self._value -= 1


class Condition:
    def __init__(self, lock: Any = None) -> None:
        self._lock = lock or RLock()
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *error: Any) -> Any:
        return self._lock.__exit__(*error)

    def wait(self, timeout: float | None = None) -> bool:
        return _wait(self, timeout)

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        return predicate() or self.wait(timeout)

    def notify(self, n: int = 1) -> None:
        """Nobody waits."""

    notify_all = notifyAll = notify


class Event:
    def __init__(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set

    isSet = is_set

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None = None) -> bool:
        return self._set or _wait(self, timeout)


class Barrier:
    def __init__(self, parties: int, action: Callable[[], object] | None = None, timeout: float | None = None) -> None:
        self.parties, self.n_waiting, self.broken, self._action = parties, 0, False, action

    def wait(self, timeout: float | None = None) -> int:
        if self.parties > 1:
            _wait(self, None)
        if self._action:
            self._action()
        return 0


class local:
    """A namespace of each thread: what the one that started it has there stands aside while a thread runs."""

    _made: tuple[tuple[Any, ...], dict[str, Any]]
    __slots__ = ("__dict__", "__weakref__", "_made")

    def __new__(cls, *args: Any, **kwargs: Any) -> "local":
        made = super().__new__(cls)
        made._made = args, kwargs
        _locals.add(made)
        return made

    def _begin(self) -> None:
        vars(self).clear()
        args, kwargs = self._made
        type(self).__init__(self, *args, **kwargs)


_locals: "weakref.WeakSet[local]" = weakref.WeakSet()


_main = Thread(name="MainThread")
_main.ident = _main.native_id = 1
_running = [_main]


def current_thread() -> Thread:
    return _running[-1]


def main_thread() -> Thread:
    return _main


def get_ident() -> int:
    return current_thread().ident or 1


get_native_id = get_ident
currentThread = current_thread


def active_count() -> int:
    return len(_running)


activeCount = active_count


def enumerate() -> list[Thread]:
    return list(_running)


def stack_size(size: int = 0) -> int:
    """Whatever it is: the one stack that there is grows as far as the memory of the program."""
    return 0
