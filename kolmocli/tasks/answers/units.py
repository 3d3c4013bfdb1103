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
decimetre dm decimeter decimeters decimetres
centimetre cm cms centimeter centimeters centimetres
millimetre mm millimeter millimeters millimetres
micrometre µm um micron microns
nanometre nm nanometers nanometer nanometres
inch in inches
foot ft feet
yard yd yards
mile mi miles
furlong furlongs
light-year ly lightyear lightyears
hectare ha hectares
acre acres
gram g grams
kilogram kg kgs kilograms kilo kilos
milligram mg milligrams
microgram µg mcg micrograms
tonne t ton tons tonnes
pound lb lbs pounds
ounce oz ounces
litre l L liter liters litres
decilitre dl deciliter deciliters decilitres
centilitre cl centiliter centiliters centilitres
millilitre ml mL milliliter milliliters millilitres
gallon gal gallons
quart qt quarts
pint pints
cup cups
tablespoon tbsp tablespoons
teaspoon tsp teaspoons
barrel barrels
second s sec secs seconds
millisecond ms milliseconds
microsecond µs microseconds
nanosecond ns nanoseconds
minute min mins minutes
hour h hr hrs hours
day days
week weeks
fortnight fortnights
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
paisa paise
peso pesos
franc chf francs
rouble ₽ rouble roubles ruble rubles
won ₩ krw
degree ° deg degrees
celsius °c celsius
fahrenheit °f fahrenheit
kelvin K kelvins
radian rad radians
revolution rev revs revolutions
joule J joules
kilojoule kj kilojoules
megajoule MJ megajoules
millijoule mJ millijoules
calorie cal calories Calorie Calories
kilocalorie kcal kilocalories Calorie Calories
electronvolt eV electronvolts
kiloelectronvolt keV
megaelectronvolt MeV
gigaelectronvolt GeV
newton N newtons
kilonewton kn kilonewtons
millinewton mN millinewtons
metre·newton Nm
pascal pa pascals
hectopascal hPa hectopascals
kilopascal kpa kilopascals
megapascal MPa megapascals
bar bars
millibar mbar millibars
atmosphere atm atmospheres
inch^-2·pound psi
torr mmHg
watt W watts
kilowatt kw kilowatts
megawatt MW megawatts
gigawatt gw gigawatts
milliwatt mW milliwatts
horsepower hp
hour·watt Wh
hour·kilowatt kwh
hour·megawatt MWh
hour·milliampere mAh
volt V volts
kilovolt kv kilovolts
millivolt millivolts
ampere A amp amps ampere amperes
milliampere mA milliamp milliamps milliamperes
microampere µA microamps microamperes
ohm Ω Omega ohms
kilohm kOmega kiloohm kilohms kiloohms
megohm MOmega megaohm megohms megaohms
coulomb coulombs
microcoulomb µC microcoulombs
nanocoulomb nC nanocoulombs
farad farads
microfarad µF microfarads
nanofarad nF nanofarads
picofarad pF picofarads
henry henries
millihenry mH millihenries
tesla teslas
millitesla mT milliteslas
mole mol mols moles
millimole mmol millimoles
decibel db decibels
hertz hz
kilohertz khz
megahertz mhz
gigahertz ghz
bit bits
kilobit kbit kilobits
megabit mbit Mb megabits
gigabit gbit Gb gigabits
byte bytes
kilobyte kb kilobytes
megabyte mb megabytes
gigabyte gb gigabytes
terabyte tb terabytes
morning am
afternoon pm
hour^-1·mile mph
hour^-1·kilometre kph kmh
minute^-1·revolution rpm
"""


def _table() -> dict[str, frozenset[str]]:
    meanings: dict[str, set[str]] = {}
    for line in _KNOWN.strip().splitlines():
        name, *spellings = listed(line)
        spellings.append(name)
        name = name.replace("·", " ")
        for spelling in spellings:
            meanings.setdefault(spelling, set()).add(name)
    return {spelling: frozenset(names) for spelling, names in meanings.items()}


_MEANINGS = _table()
_TEMPERATURE = re.compile(r"(?:°|degrees?) ?(c|f|celsius|fahrenheit)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b([ap])\.m\.?(?= |\Z)", re.IGNORECASE)
_PIECE = re.compile(r"([A-Za-z°µ$€£¥₹₽₩¢元]+\.?)(?:\^?\(?(-?[0-9]|[²³])\)?)?")
_POWERS = {"square": 2, "sq": 2, "sq.": 2, "cubic": 3, "cu": 3, "²": 2, "³": 3, "squared": 2, "cubed": 3}
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
    high, low = _product(above), _product(below, -1)
    if below and not low:
        return frozenset()
    return frozenset(" ".join(sorted(a + b)) for a, b in product(high, low or [()]))


def _product(text: str, sign: int = 1) -> list[tuple[str, ...]]:
    """The meanings of units side by side, up to the first word that is none: of `m s^-1` the metre and `second^-1`."""
    found: list[tuple[frozenset[str], int]] = []
    power = 1
    for word, raised in _PIECE.findall(text):
        spoken = _POWERS.get(word.lower())
        if spoken and word.lower() not in ("squared", "cubed"):
            power = spoken
            continue
        if spoken and found:
            found[-1] = (found[-1][0], spoken)
            continue
        names = _MEANINGS.get(word) or (_MEANINGS.get(word.lower()) if len(word) > 1 else None)
        if names is None:
            break
        found.append((names, _POWERS.get(raised) or int(raised) if raised else power))
        power = 1
    factors = [[name if each * sign == 1 else f"{name}^{each * sign}" for name in names] for names, each in found]
    made = list(product(*factors)) if found else []
    return made if len(made) <= _MOST_MEANINGS else []
