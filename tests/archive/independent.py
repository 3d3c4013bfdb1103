"""A second decoder, written from docs/archive-format.md alone: it shares no code with the first but the 24 functions."""

import bz2
import datetime
import hashlib
import lzma
import re
import struct
import zlib

from kolmocli.language import functions

FUNCTIONS = [
    "range_func_up",
    "range_func_interval",
    "repeat_num",
    "set_list",
    "repeat_list",
    "reverse_list",
    "substitute",
    "get_subsequence_with_jumps",
    "get_subsequence_between_indices",
    "max_n",
    "min_n",
    "add_item_list",
    "subtract_item_list",
    "modulo_item_list",
    "scan_add",
    "filter",
    "concatenate",
    "interleave",
    "add_two_lists",
    "subtract_two_lists",
    "modulo_two_lists",
]
# arguments: i an integer, v a variable, p a predicate
OPERANDS = dict(
    zip(
        FUNCTIONS[4:],
        ["iv", "v", "vii", "vi", "vii", "vi", "vi", "vi", "vi", "vi", "v", "pv", "vv", "vv", "vv", "vv", "vv"],
        strict=True,
    )
)
FRESH, EARLIER, END, RECURRENCE, NONE = 21, 22, 23, 24, 31
WORDS = {0: "B", 1: "h", 2: "H", 3: "i", 4: "I", 5: "q", 6: "q", 7: "i", 8: "q"}


class Bits:
    def __init__(self, data):
        self.data, self.at, self.range = data, 5, (1 << 40) - 1
        self.code = int.from_bytes((data + bytes(5))[:5], "big")
        self.models = {}

    def bit(self, key):
        zero, seen = self.models.get(key, (32768, 0)) if key else (32768, 0)
        bound = (self.range >> 16) * zero
        rate = 65536 // (seen + 2)
        bit = int(self.code >= bound)
        if bit:
            self.code, self.range = self.code - bound, self.range - bound
            zero -= zero * rate >> 16
        else:
            self.range = bound
            zero += (65536 - zero) * rate >> 16
        self.models[key] = (zero, min(seen + 1, 254))
        while self.range < 1 << 32:
            self.code = self.code << 8 | (self.data[self.at] if self.at < len(self.data) else 0)
            self.range <<= 8
            self.at += 1
        return bit

    def tree(self, key, width):
        node = 1
        for _ in range(width):
            node = 2 * node + self.bit((*key, node))
        return node - (1 << width)

    def integer(self, key, signed=True):
        negative = self.bit((*key, "sign")) if signed else 0
        length = self.tree((*key, "length"), 7)
        value = 1 if length else 0
        for place in range(1, length):
            adaptive = length <= 8 or place <= 4
            value = 2 * value + self.bit((*key, "bits", length, value) if adaptive else None)
        return -value if negative else value


def decode(archive):
    out = b""
    while archive:
        version = archive[3]
        assert archive[:3] == b"\x8bK\n"
        assert version in (0x11, 0x21, 0x31)
        high, low, at = archive[4] >> 4, archive[4] & 15, 5
        table = []
        programs = 6 if version == 0x21 else 14
        if version > 0x11 and (low < (6 if version == 0x21 else 8) or low == programs):
            both, at = int.from_bytes(archive[5 : 5 + high], "little"), 5 + high
            size, table = both % 16**high, [(16 if low == programs else low, both >> 4 * high)]
        else:
            assert version == 0x11 or low == 15
            width = high if version == 0x11 else (high + 1) // 2
            if version > 0x11:
                low, at = archive[5], 6
            size, at = int.from_bytes(archive[at : at + width], "little"), at + width
            for _ in range(low):
                table.append((archive[at], int.from_bytes(archive[at + 1 : at + 1 + width], "little")))
                at += 1 + width + (2 if low > 1 or version > 0x11 else 0)
        sections = {}
        for tag, length in table:
            sections[tag] = archive[at : at + length]
            at += length
        residual = b"".join(unpack(tag, payload, size) for tag, payload in sections.items() if tag < 8)
        original = run(sections[16], residual) if 16 in sections else residual
        key = bytes([version]) + size.to_bytes(8, "little") + bytes(tag for tag, _ in table)
        assert hashlib.blake2b(original, digest_size=4, key=key).digest() == archive[at : at + 4]
        out, archive = out + original, archive[at + 4 :]
    return out


def decode_folder(archive):
    """What stands at each path: contents and whether they may be executed, None for an empty folder, the target of a link."""
    assert archive[:4] == b"\x8bK\n\xf1"
    head = Reader(archive[4:])
    index = Reader(decode(head.take(head.number())))
    members = head.data[head.at :]
    contents = Reader(decode(members))
    kinds = index.take(index.number())
    names = index.take(index.number()).split(b"\0")[:-1]
    found = {}
    for kind in kinds:
        path = names.pop(0)
        assert not set(path.split(b"/")) & {b"", b".", b".."}
        if kind < 2:
            found[path] = (contents.take(index.number()), kind == 1)
        else:
            found[path] = None if kind == 2 else names.pop(0)
    assert index.data[index.at :] == hashlib.blake2b(members, digest_size=8).digest()
    assert not names
    assert contents.at == len(contents.data)
    return found


def unpack(tag, data, size):
    if tag == 0:
        return data
    if tag == 1:
        return zlib.decompress(data, -15)
    if tag == 2:
        return bz2.decompress(b"BZh9" + data)
    if tag == 3:
        p = data[0]
        one = {"id": lzma.FILTER_LZMA1, "lc": p % 9, "lp": p // 9 % 5, "pb": p // 45, "dict_size": max(4096, 4 * size)}
        return lzma.decompress(data[1:], lzma.FORMAT_RAW, filters=[one])
    if tag == 4:
        import zstandard

        magicless = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
        return magicless.stream_reader(data).read()
    if tag == 5:
        import brotli

        return brotli.decompress(data)
    return numbers(data) if tag == 6 else together(data)


def numbers(data):
    import numpy
    from pcodec import wrapped

    head = Reader(data)
    code, n = head.take(1)[0], head.number()
    name = ["", "u32", "u64", "i32", "i64", "f32", "f64", "u16", "i16", "f16", "u8", "i8"][code % 128]
    file, _ = wrapped.FileDecompressor.new(head.take(2))
    out = b""
    while n:
        items = min(n, 1 << 18)
        chunk = head.take(head.number()) if n > items else data[head.at :]
        pages, used = file.chunk_decompressor(chunk, name)
        made = numpy.zeros(items, name[0] + str(int(name[1:]) // 8))
        pages.read_page_into(chunk[used:], items, made)
        out += (made.byteswap() if code > 127 else made).tobytes()
        n -= items
    return out


def together(data):
    head, runs, sizes = Reader(data), [], {}
    for _ in range(head.number()):
        records = head.number()
        fields = [(head.number(), head.number()) for _ in range(head.number())]
        runs.append((records, fields))
        for width, part in fields:
            sizes[part] = sizes.get(part, 0) + records * width
    n = head.number()
    codecs = [(head.take(1)[0], head.number() if i + 1 < n else None) for i in range(n)]
    parts = []
    for i, (codec, length) in enumerate(codecs):
        parts.append(
            Reader(unpack(codec, head.take(len(data) - head.at if length is None else length), sizes.get(i, 0)))
        )
    out = b""
    for records, fields in runs:
        columns = [[parts[part].take(width) for _ in range(records)] for width, part in fields]
        out += b"".join(b"".join(record) for record in zip(*columns, strict=True))
    return out


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self):
        byte = self.take(1)[0]
        return byte if byte < 128 else byte - 128 + 128 * self.number()


def run(stream, residual):
    head = Reader(stream)
    view, scale, words = head.take(1)[0], 1, None
    if view in (7, 8):
        scale = 10 ** head.take(1)[0]
    if view == 9:
        rows, columns = head.number(), []
        for _ in range(head.number()):
            kind = head.take(1)[0]
            places, word = head.take(2) if kind else (0, 0)
            width = head.take(1)[0] if kind & 32 else 0
            own = head.number() if kind & 64 else rows if kind else 0
            pattern = head.take(head.number()).decode("latin-1") if kind % 16 == 6 else ""
            columns.append((kind, places, word, width, own, pattern))
        texts = [head.take(head.number()) for _ in range(len(columns) + 3)]
        cut = head.number()
        words = ["<" + "bhiq"[c[2]] for c in columns for _ in range(c[4])]
    items = head.number()
    bits, made = Bits(stream[head.at :]), []
    state = {"kind": (NONE, 0), "ramps": [(0, 0), (0, 0)], "distances": [0, 0]}
    while len(made) < items:
        values, unused, before, known = [], [], NONE, None
        word = words[len(made)] if words else "<" + WORDS[view]
        step = struct.calcsize(word)
        while True:
            key = ("start", *state["kind"]) if before == NONE else ("then", before, min(max(len(unused), 1), 3))
            symbol = bits.tree(key, 5)
            if symbol == END:
                break
            if before == NONE:
                opened = symbol
            first, used = before == NONE, []
            if symbol < 3:
                value = ramp(bits, state, symbol, before, known)
            elif symbol == FRESH:
                known = count(bits, symbol, before, known)
                value = [struct.unpack_from(word, residual, i * step)[0] for i in range(known)]
                residual = residual[known * step :]
            elif symbol == RECURRENCE:
                order = bits.tree(("order",), 3) + 1
                factors = [bits.integer(("rule", 0)) for _ in range(order)]
                constant, modulus = bits.integer(("rule", 1)), bits.integer(("rule", 2))
                value = [bits.integer(("rule", 3)) for _ in range(order)]
                known = count(bits, symbol, before, known)
                while len(value) < known:
                    x = constant + sum(f * value[-1 - k] for k, f in enumerate(factors))
                    value.append(x % modulus if modulus else x)
                value = value[:known]
            elif symbol == EARLIER:
                distance, known = far(bits, state, first), count(bits, symbol, before, known)
                source = made[len(made) - distance :]
                value = (source * (known // len(source) + 1))[:known]
            elif symbol == 3:
                known = count(bits, symbol, before, known)
                value = [bits.integer(("item", i > 0)) for i in range(known)]
            else:
                value, used = call(bits, symbol, values, unused)
            known = len(value) if symbol < 4 or symbol > 20 else None
            unused = [i for i in unused if i not in used] + [len(values)]
            values.append(value)
            before = symbol
        state["kind"] = (opened, int(len(values) > 1))
        made += values[-1]
    if view == 6:
        return "".join(f"{x}\n" for x in made).encode() + residual
    if view in (7, 8):
        return b"".join(struct.pack("<f" if view == 7 else "<d", x / scale) for x in made) + residual
    if view == 9:
        return table(rows, columns, texts, cut, made, residual)
    return b"".join(struct.pack("<" + WORDS[view], x) for x in made) + residual


def table(rows, columns, texts, cut, made, residual):
    cells = []
    for kind, places, _, width, count, pattern in columns:
        items, made = made[:count], made[count:]
        wanted = rows if kind == 0 or kind & 64 else places if kind == 7 else 0
        *words, residual = residual.split(b"\n", wanted)
        assert len(words) == wanted
        if kind == 0:
            cells.append(words)
        elif kind == 7:
            cells.append([words[x] for x in items])
        else:
            own = [cell(kind, places, width, pattern, x).encode() for x in items]
            cells.append([word[1:] if word else own.pop(0) for word in words] if kind & 64 else own)
    body = b""
    for r in range(rows):
        body += texts[0] + b"".join(own[r] + text for own, text in zip(cells, texts[1:], strict=False))
    return texts[-2] + body[: len(body) - cut] + texts[-1] + residual


def cell(kind, places, width, pattern, item):
    if kind & 32:
        return cell(kind - 32, places, width, pattern, item).rjust(width)
    bare, kind = kind & 16, kind % 16
    if kind == 1:
        return str(item)
    if kind == 6:
        return moment(pattern, item)
    sign, digits = "-" * (item < 0), str(abs(item))
    if kind == 2:
        return sign + digits.zfill(places - len(sign))
    digits = digits.zfill(places + 1)
    whole, decimals = digits[:-places], digits[-places:]
    if bare and whole == "0":
        whole = ""
    if kind > 3:
        decimals = decimals.rstrip("0") or "0" * (kind == 4)
    return f"{sign}{whole}.{decimals}" if decimals else sign + (whole or "0")


def moment(pattern, item):
    parts, units = (
        {},
        [u for u in (("f", 10 ** pattern.count("f")), ("S", 60), ("M", 60), ("H", 24)) if u[0] in pattern],
    )
    for i, (letter, size) in enumerate(units):
        if "Y" not in pattern and i + 1 == len(units):
            parts[letter] = item
        else:
            item, parts[letter] = divmod(item, size)
    if "Y" in pattern:
        day = datetime.date(1970, 1, 1) + datetime.timedelta(item)
        parts |= {"Y": day.year, "m": day.month, "d": day.day}
    return re.sub("(Y+|m+|d+|H+|M+|S+|f+)", lambda found: f"{parts[found[0][0]]:0{len(found[0])}d}", pattern)


def ramp(bits, state, symbol, before, known):
    (a, b), (c, d) = state["ramps"]
    slot = bits.tree(("slot", symbol, before == NONE), 3)
    if slot == 0:
        start = bits.integer(("from", symbol))
        step = bits.integer(("step",)) if symbol == 1 else 0
    else:
        start, step = [(a, b), (c, d), (a + b, b), (c + d, d)][slot - 1]
    step = {0: 1, 1: step, 2: 0}[symbol]
    n = count(bits, symbol, before, known)
    state["ramps"] = [(start + step * n, step), (c, d) if slot in (1, 3) else (a, b)]
    return [start + step * i for i in range(n)]


def count(bits, symbol, before, known):
    if known is not None:
        relation = bits.tree(("relation", before, symbol), 2)
        if relation < 2:
            return known - relation
    return bits.integer(("count", symbol, before == NONE))


def far(bits, state, first):
    slot = bits.tree(("far", first), 2)
    distance = state["distances"][slot - 1] if slot else bits.integer(("distance", first), signed=False)
    if distance != state["distances"][0]:
        state["distances"] = [distance, state["distances"][0]]
    return distance


def call(bits, symbol, values, unused):
    name = FUNCTIONS[symbol]
    wanted = OPERANDS[name].count("v")
    used = []
    if len(unused) >= wanted and not bits.bit(("fold", symbol)):
        used = unused[-wanted:]
    implied, arguments, integers, refs = list(used), [], 0, []
    for kind in OPERANDS[name]:
        if kind == "v":
            index = implied.pop(0) if used else len(values) - 1 - bits.integer(("back",), signed=False)
            refs.append(index)
            arguments.append(values[index])
        elif kind == "p":
            arguments.append([functions.is_even, functions.is_odd, functions.is_not_zero][bits.tree(("predicate",), 2)])
        else:
            arguments.append(bits.integer(("operand", symbol, integers > 0)))
            integers += 1
    return getattr(functions, name)(*arguments), refs
