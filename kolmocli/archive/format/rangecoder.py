"""An adaptive binary range coder, written once for both directions.

`Encoder.bit` and `Decoder.bit` have one signature: the encoder writes the bit it is given, the decoder ignores
what it is given, and both return the bit and adapt the model. So a format is described by one function
that runs in both directions and cannot disagree with itself.
"""

from __future__ import annotations

_TOP = 1 << 32
_PROBABILITY_BITS = 16
_ONE = 1 << _PROBABILITY_BITS
_SLOWEST = 254
RATES = tuple(_ONE // (n + 2) for n in range(_SLOWEST + 1))
"""Step towards a seen bit after n bits, as a share of 65,536: 1/2, 1/3, … 1/256. So the first bits count fully."""


_MOST_LEFT_OUT = 32
"""Zero bytes that an encoder leaves out at the end; a decoder that would need more has met damage."""


class Model:
    """`size` adaptive bits: `zero[i]` is the probability of a 0 in 1/65,536, `seen[i]` how often bit i was coded."""

    __slots__ = ("seen", "zero")

    def __init__(self, size: int) -> None:
        self.zero = [_ONE // 2] * size
        self.seen = bytearray(size)


class Coder:
    """Base of both directions: symbols and integers made of bits."""

    def __init__(self) -> None:
        self._even = Model(1)

    def bit(self, model: Model, index: int, bit: int) -> int:
        raise NotImplementedError

    def plain(self, bit: int) -> int:
        """A bit that is as likely 0 as 1, without a model."""
        self._even.zero[0] = _ONE // 2
        return self.bit(self._even, 0, bit)

    def tree(self, model: Model, base: int, width: int, value: int) -> int:
        """A symbol of `width` bits; the model needs 2^width entries from `base` on."""
        node = 1
        for shift in range(width - 1, -1, -1):
            node = 2 * node + self.bit(model, base + node, value >> shift & 1)
        return node - (1 << width)


class Encoder(Coder):
    """Writes bits. `finish` returns the bytes."""

    def __init__(self) -> None:
        super().__init__()
        self._low = 0
        self._range = _TOP * 256 - 1
        self._pending: list[int] = []
        self._bytes = bytearray()

    def bit(self, model: Model, index: int, bit: int) -> int:
        zero, seen = model.zero[index], model.seen[index]
        bound = (self._range >> _PROBABILITY_BITS) * zero
        if bit:
            self._low += bound
            self._range -= bound
            model.zero[index] = zero - (zero * RATES[seen] >> _PROBABILITY_BITS)
        else:
            self._range = bound
            model.zero[index] = zero + ((_ONE - zero) * RATES[seen] >> _PROBABILITY_BITS)
        if seen < _SLOWEST:
            model.seen[index] = seen + 1
        while self._range < _TOP:
            self._shift()
        return bit

    def tree(self, model: Model, base: int, width: int, value: int) -> int:
        """`Coder.tree`, with `bit` written out: this is where the time goes."""
        zeros, seens = model.zero, model.seen
        span, index = self._range, 1
        for shift in range(width - 1, -1, -1):
            at = base + index
            zero, seen = zeros[at], seens[at]
            bound = (span >> _PROBABILITY_BITS) * zero
            if value >> shift & 1:
                index += index + 1
                self._low += bound
                span -= bound
                zeros[at] = zero - (zero * RATES[seen] >> _PROBABILITY_BITS)
            else:
                index += index
                span = bound
                zeros[at] = zero + ((_ONE - zero) * RATES[seen] >> _PROBABILITY_BITS)
            if seen < _SLOWEST:
                seens[at] = seen + 1
            if span < _TOP:
                self._range = span
                while self._range < _TOP:
                    self._shift()
                span = self._range
        self._range = span
        return value

    def _shift(self) -> None:
        """Move the top byte of the 40-bit window out; a carry runs back through the bytes already written."""
        if self._low >= _TOP * 256:
            self._low -= _TOP * 256
            self._carry()
        self._bytes.append(self._low >> 32)
        self._low = (self._low & (_TOP - 1)) << 8
        self._range <<= 8

    def _carry(self) -> None:
        at = len(self._bytes) - 1
        while self._bytes[at] == 255:
            self._bytes[at] = 0
            at -= 1
        self._bytes[at] += 1

    def finish(self) -> bytes:
        """All bytes. Some zeros at the end are left out, since the decoder reads zeros there."""
        for keep in range(5):  # the fewest bytes whose continuation with zeros lies in the range
            unit = 1 << (8 * (5 - keep))
            value = -(-self._low // unit) * unit
            if value < self._low + self._range:
                break
        self._low = value
        for _ in range(5):
            self._shift()
        whole = bytes(self._bytes)
        return whole[: max(len(whole.rstrip(b"\0")), len(whole) - _MOST_LEFT_OUT)]


class Decoder(Coder):
    """Reads bits. Past the end of its bytes there are zeros."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._position = 5
        self._code = int.from_bytes(data[:5].ljust(5, b"\0"), "big")
        self._range = _TOP * 256 - 1

    def bit(self, model: Model, index: int, bit: int = 0) -> int:
        zero, seen = model.zero[index], model.seen[index]
        bound = (self._range >> _PROBABILITY_BITS) * zero
        if self._code >= bound:
            bit = 1
            self._code -= bound
            self._range -= bound
            model.zero[index] = zero - (zero * RATES[seen] >> _PROBABILITY_BITS)
        else:
            bit = 0
            self._range = bound
            model.zero[index] = zero + ((_ONE - zero) * RATES[seen] >> _PROBABILITY_BITS)
        if seen < _SLOWEST:
            model.seen[index] = seen + 1
        while self._range < _TOP:
            at = self._position
            self._code = (self._code << 8) | (self._data[at] if at < len(self._data) else 0)
            self._range <<= 8
            self._position = at + 1
        return bit

    def tree(self, model: Model, base: int, width: int, value: int = 0) -> int:
        """`Coder.tree`, with `bit` written out: this is where the time goes."""
        zeros, seens = model.zero, model.seen
        span, code, index = self._range, self._code, 1
        for _ in range(width):
            at = base + index
            zero, seen = zeros[at], seens[at]
            bound = (span >> _PROBABILITY_BITS) * zero
            if code >= bound:
                index += index + 1
                code -= bound
                span -= bound
                zeros[at] = zero - (zero * RATES[seen] >> _PROBABILITY_BITS)
            else:
                index += index
                span = bound
                zeros[at] = zero + ((_ONE - zero) * RATES[seen] >> _PROBABILITY_BITS)
            if seen < _SLOWEST:
                seens[at] = seen + 1
            while span < _TOP:
                place = self._position
                code = code << 8 | (self._data[place] if place < len(self._data) else 0)
                span <<= 8
                self._position = place + 1
        self._range, self._code = span, code
        return index - (1 << width)

    @property
    def exhausted(self) -> bool:
        """Whether more was read than any encoder leaves out."""
        return self._position > len(self._data) + _MOST_LEFT_OUT + 5


class Integers:
    """Adaptive integers of at most 64 bits: sign, bit length, then the bits below the first.

    Up to 8 bits all of them are adaptive; above that the upper 4 are, and the rest costs one bit each.
    One object holds `contexts` independent sets of statistics.
    """

    _LENGTH_BITS = 7
    _FULL = 7
    _UPPER = 4

    def __init__(self, contexts: int) -> None:
        self._sign = Model(contexts)
        self._length = Model(contexts << self._LENGTH_BITS)
        self._bits: dict[tuple[int, int], Model] = {}

    def code(self, coder: Coder, context: int, value: int, signed: bool = False) -> int:
        """Code the integer, return it.

        Raises:
            ValueError: when a decoder meets an integer of more than 64 bits.
        """
        negative = coder.bit(self._sign, context, int(value < 0)) if signed else 0
        magnitude = abs(value)
        length = coder.tree(self._length, context << self._LENGTH_BITS, self._LENGTH_BITS, magnitude.bit_length())
        if length > 64:
            raise ValueError("an integer of more than 64 bits")
        if length < 2:
            return -length if negative else length
        below = length - 1
        adaptive = below if below <= self._FULL else self._UPPER
        model = self._bits.get((context, length))
        if model is None:
            model = self._bits[context, length] = Model(1 << adaptive)
        upper = (magnitude >> (below - adaptive)) & ((1 << adaptive) - 1)
        node = (1 << adaptive) + coder.tree(model, 0, adaptive, upper)
        for shift in range(below - adaptive - 1, -1, -1):
            node = 2 * node + coder.plain(magnitude >> shift & 1)
        return -node if negative else node
