"""Small archives that ask for much: each is refused, or decodes in bounded memory."""

import bz2
import lzma
import zlib

from kolmocli.archive.codecs.codecs import CODECS
from kolmocli.archive.codecs.numbers import TYPES, pack_numbers
from kolmocli.archive.codecs.split import Field, Run, write_split
from kolmocli.archive.format.cells import PLAIN, WORD, Column
from kolmocli.archive.format.container import PROGRAMS, Section, digest, varint, write_member
from kolmocli.archive.format.folder import Entry, Kind, check_of, write_folder, write_index
from kolmocli.archive.format.programs import ProgramCoder
from kolmocli.archive.format.rangecoder import Encoder
from kolmocli.archive.format.stored import Fresh, StoredCall
from kolmocli.archive.format.tables import Template
from kolmocli.archive.packer import compress

WHOLE = 1 << 26
"""The largest member."""
PART = 1 << 23
"""The largest member with programs."""


def zeros_by(codec, size, declared=None):
    """A member of `size` zeros that declares another size."""
    payload = packed_zeros(codec, size)
    data = bytes(min(size, WHOLE))
    declared = size if declared is None else declared
    return write_member(declared, (Section(codec, payload),), digest(declared, bytes([codec]), data))


def packed_zeros(codec, size):
    piece = bytes(1 << 20)
    if codec == 1:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    elif codec == 2:
        packer = bz2.BZ2Compressor(9)
    elif codec == 3:
        one = {"id": lzma.FILTER_LZMA1, "preset": 0, "dict_size": 1 << 26, "lc": 3, "lp": 0, "pb": 0}
        packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=[one])
    else:
        return (
            pack_numbers(bytes(size), TYPES["u64"], strong=False)
            if codec == 6
            else CODECS[codec].encode(bytes(size), 1)
        )
    payload = b"".join(packer.compress(piece) for _ in range(size >> 20)) + packer.flush()
    return b"\3" + payload if codec == 3 else payload[4:] if codec == 2 else payload


def programs(view, parameters, count, size, residual, most=1 << 20):
    """A member of nothing but literals, which take everything from the residual."""
    coder, model = Encoder(), ProgramCoder()
    for at in range(0, count, most):
        model.code(coder, (StoredCall("set_list", (Fresh(min(most, count - at)),)),))
    stream = bytes([view]) + parameters + varint(count) + coder.finish()
    sections = (Section(PROGRAMS, stream), Section(1, CODECS[1].encode(residual, 6)))
    return write_member(size, sections, b"0000")


def table(rows, columns, residual, size, count=0, tail=b""):
    template = Template(rows, columns, (b"",) * (len(columns) + 1), tail=tail)
    return programs(9, template.header(), count, size, residual)


def index_of(index):
    return write_folder(compress(index, 0), b"")


def names(count, length):
    texts = b"".join(b"%0*d\0" % (length, i) for i in range(count))
    return varint(count) + bytes(count) + varint(len(texts)) + texts + bytes(count) + check_of(b"")


def nested(depth):
    archive = compress(b"at the bottom")
    for _ in range(depth):
        archive = write_folder(archive, b"")
    return archive


BOMBS = {
    "a size that lies": lambda: write_member(1 << 50, (), b"0000"),
    "a member above the limit": lambda: zeros_by(1, WHOLE, WHOLE + 1),
    **{
        f"more than a member by {CODECS[c].name}": (lambda c=c: zeros_by(c, 2 * WHOLE, WHOLE))
        for c in (1, 2, 3, 4, 5, 6)
    },
    "many members of all that a member may be": lambda: zeros_by(2, WHOLE, WHOLE) * 17,
    "as much as is allowed": lambda: zeros_by(2, WHOLE, WHOLE) * 15,
    "a million members": lambda: compress(b"", 0) * 1_000_000,
    "lines of one digit": lambda: programs(6, b"", PART // 2, PART, bytes(PART // 2 * 8)),
    "lines of one digit in version 1": lambda: version_1(programs(6, b"", 2 * PART, 4 * PART, bytes(2 * PART * 8))),
    "a table of empty words": lambda: table(PART, (Column(WORD),) * 4, b"\n" * (4 * PART), PART),
    "a table of as many empty words as there may be": lambda: table(
        PART, (Column(WORD),) * 2, b"\n" * (2 * PART), PART
    ),
    "a table of numbers of two digits": lambda: table(
        PART // 2, (Column(PLAIN, word="b"),), b"\x0b" * (PART // 2), PART, count=PART // 2
    ),
    "a table of a thousand columns": lambda: table(2, (Column(WORD),) * 1024, b"\n" * (4 * PART - 9), PART),
    "a split of empty records": lambda: write_member(
        PART, (Section(7, write_split((Run(1 << 40, (Field(1, 0),)),), [(0, b"")])),), b"0000"
    ),
    "an index of a million files": lambda: index_of(names(1_000_000, 7)),
    "an index of as many files as there may be": lambda: index_of(names(1 << 17, 100)),
    "an index of long names": lambda: index_of(names(100, 100_000)),
    "an index of gigabytes": lambda: write_folder(zeros_by(2, WHOLE, WHOLE) * 16, b""),
    "an index that lies": lambda: index_of(varint(1 << 60) + bytes(100)),
    "deep paths": lambda: index_of(write_index([Entry(b"%d/" % i + b"a/" * 2000 + b"f") for i in range(8000)], b"")),
    "folders within folders": lambda: nested(40),
    "links to links": lambda: index_of(
        write_index([Entry(b"%d" % i, Kind.LINK, target=b"%d" % (i + 1)) for i in range(1000)], b"")
    ),
}


def version_1(member):
    """The same member as version 1 has it."""
    from kolmocli.archive.format.container import read_member

    read = read_member(member)
    out = bytearray(b"\x8bK\n\x11") + bytes([8 << 4 | len(read.sections)]) + read.size.to_bytes(8, "little")
    for section in read.sections:
        out += bytes([section.tag]) + len(section.payload).to_bytes(8, "little")
        out += (zlib.crc32(section.payload) & 0xFFFF).to_bytes(2, "little")
    return bytes(out) + b"".join(section.payload for section in read.sections) + read.digest
