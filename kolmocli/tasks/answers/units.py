"""Words behind a number: units, which are taken off, and words that change the number or take it back, which are not.

Any word may be a unit: `5 apples`. If two answers name a unit of the table, it has to be the same one; in one of
them alone it is not compared.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

from kolmocli.tasks.answers.words import DENIALS, DOUBTS, NUMBERS, listed

_WORD = r"[A-Za-z°µ]+\.?(?:\^\(?-?[0-9]\)?|[²³])?"
_UNIT = re.compile(rf"{_WORD}(?:(?: ?[/*·] ?| per | |-){_WORD}){{0,3}}\Z")
_ATTACHED = frozenset(
    listed(
        "km cm mm µm nm kg mg ml cl dl ms ns mi min hr hrs sec ft in yd lb lbs oz mph kph kmh km/h m/s hz khz mhz kb mb gb"
        " °c °f ° m^2 m^3 cm^2 cm^3 km^2 mm^2 ft^2 in^2 usd eur am pm"
    )
)
"""Units that may stand at a number without a blank. Single letters may not: they could be variables."""
LETTERS = frozenset(listed("m g s h l J N W V A K C F L Ω"))
_NO_UNITS = (
    frozenset(
        listed(
            "pi e i sqrt sin cos tan log ln exp or and is are was to than more less if but as plus minus times so mod fewer"
            " below above under over short negative modulo base choose power root infinity when whenever out point comma dot"
            " alpha beta gamma delta theta lambda mu omega sigma phi rho tau between until approximately either remainder"
            " bn mn mil mill mio mrd grand gross score teen permille bps ppm ppb basis least most nearly almost etc divided multiplied versus vs bc bce"
            " january february march april may june july august september october november december"
        )
    )
    | NUMBERS
    | DENIALS
    | DOUBTS
)
"""Words of which none may stand behind a number: they change it, say that it is not the answer, or are variables."""
_CHANGING = frozenset(
    listed(
        "cubed squared factorial square cube hundredth hundredths thousandth thousandths millionth millionths inverse conjugate"
        " double doubled triple tripled twice halved reversed backwards backward inverted negated reciprocal maximum minimum"
        " max upwards onwards downwards"
    )
)
"""Words that change a number where they alone stand behind it, or first: 8 cubed is no 8, and 8 square meters are."""
_KNOWN = """
metre m meter meters metres
kilometre km kms kilometer kilometers kilometres
centimetre cm cms centimeter centimeters centimetres
millimetre mm millimeter millimeters millimetres
micrometre µm um micron microns
nanometre nm nanometers nanometer nanometres
inch in inches
foot ft feet
yard yd yards
mile mi miles
gram g grams
kilogram kg kgs kilograms kilo kilos
milligram mg milligrams
tonne t ton tons tonnes
pound lb lbs pounds
ounce oz ounces
litre l L liter liters litres
millilitre ml mL milliliter milliliters millilitres
gallon gal gallons
quart qt quarts
pint pints
cup cups
second s sec secs seconds
millisecond ms milliseconds
minute min mins minutes
hour h hr hrs hours
day days
week weeks
month months
year years yr yrs
decade decades
century centuries
us-dollar $ usd us$ dollar dollars bucks
canadian-dollar $ cad ca$ c$ dollar dollars bucks
australian-dollar $ aud au$ a$ dollar dollars bucks
other-dollar $ hk$ nz$ dollar dollars bucks
cent cents ¢ penny pennies
euro € eur euros
sterling £ gbp pound pounds
pence p pence
yen ¥ jpy
yuan ¥ cny rmb 元
rupee ₹ inr rs rs. rupees
franc chf francs
rouble ₽ rouble roubles ruble rubles
won ₩ krw
degree ° deg degrees
celsius °c celsius
fahrenheit °f fahrenheit
kelvin K kelvins
radian rad radians
joule J joules
kilojoule kj kilojoules
newton N newtons
watt W watts
kilowatt kw kilowatts
volt V volts
ampere A amps amperes
hertz hz
kilohertz khz
megahertz mhz
byte bytes
kilobyte kb kilobytes
megabyte mb megabytes
gigabyte gb gigabytes
morning am
afternoon pm
mile/hour mph
kilometre/hour kph kmh
"""


def _table() -> dict[str, frozenset[str]]:
    meanings: dict[str, set[str]] = {}
    for line in _KNOWN.strip().splitlines():
        name, *spellings = listed(line)
        for spelling in (name, *spellings):
            meanings.setdefault(spelling, set()).add(name)
    return {spelling: frozenset(names) for spelling, names in meanings.items()}


_MEANINGS = _table()
_TEMPERATURE = re.compile(r"(?:°|degrees?) ?(c|f|celsius|fahrenheit)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b([ap])\.m\.?(?= |\Z)", re.IGNORECASE)
_PIECE = re.compile(r"([A-Za-z°µ$€£¥₹₽₩¢元]+\.?)(?:\^?\(?(-?[0-9²³])\)?)?")
_POWERS = {
    "square": "2",
    "sq": "2",
    "sq.": "2",
    "cubic": "3",
    "cu": "3",
    "²": "2",
    "³": "3",
    "squared": "2",
    "cubed": "3",
}
_MOST_MEANINGS = 16


def is_unit(rest: str) -> bool:
    """Whether what follows a number is nothing, or a unit."""
    unit = _CLOCK.sub(r"\1m", rest.strip())
    if not unit or unit in ("times", "Omega"):
        return True
    if not rest[0].isspace() and unit.lower() not in _ATTACHED and not unit.startswith("°"):
        return False
    words = re.findall(r"[A-Za-zµΩ°]+", unit)
    if words and words[0].lower() in _CHANGING and (len(words) == 1 or words[0].lower() not in ("square", "cube")):
        return False
    return bool(_UNIT.match(unit)) and all(
        word.lower() not in _NO_UNITS and (len(word) > 1 or word in LETTERS or word == "°") for word in words
    )


@lru_cache(maxsize=4_000)
def meanings(unit: str) -> frozenset[str]:
    """Possible meanings of a unit: `5 pounds` are a weight or money. None of what begins with a word that the table has not."""
    unit = _CLOCK.sub(r"\1m", _TEMPERATURE.sub(lambda found: f"°{found[1][0]}", unit.strip()))
    above, _, below = unit.replace(" per ", "/").partition("/")
    if "/" in below:
        return frozenset()
    high, low = _product(above), _product(below)
    if below and not low:
        return frozenset()
    return frozenset(f"{a}/{b}" if b else a for a, b in product(high, low or [""]))


def _product(text: str) -> list[str]:
    """The meanings of units side by side, up to the first word that is none."""
    found: list[frozenset[str]] = []
    power = ""
    for word, raised in _PIECE.findall(text):
        if word.lower() in _POWERS and word.lower() not in ("squared", "cubed"):
            power = _POWERS[word.lower()]
            continue
        if word.lower() in _POWERS and found:
            found[-1] = frozenset(f"{name}^{_POWERS[word.lower()]}" for name in found[-1])
            continue
        names = _MEANINGS.get(word) or (_MEANINGS.get(word.lower()) if len(word) > 1 else None)
        if names is None:
            break
        power = _POWERS.get(raised, raised) or power
        found.append(frozenset(f"{name}^{power}" if power else name for name in names))
        power = ""
    made = [" ".join(sorted(each)) for each in product(*found)] if found else []
    return made if len(made) <= _MOST_MEANINGS else []
