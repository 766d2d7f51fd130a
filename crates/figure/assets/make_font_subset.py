"""Makes the embedded font subsets and the table of advance widths.

    python make_font_subset.py FOLDER

FOLDER holds DejaVuSans.ttf and DejaVuSans-Bold.ttf (version 2.37, as shipped in the PyPI package matplotlib 3.11.2 under
mpl-data/fonts/ttf). Needs fonttools. Writes the .ttf files next to this script and ../src/advance_table.rs.
"""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

RANGES = [
    (0x20, 0x7E),  # Basic Latin
    (0xA0, 0xFF),  # Latin-1, with plus-minus, times, divided by, degree, middle dot
    (0x370, 0x3FF),  # Greek
    (0x2010, 0x2015),  # dashes
    (0x2018, 0x201E),  # quotation marks
    (0x2070, 0x209C),  # superscripts and subscripts
    (0x2190, 0x2193),  # arrows
]
SINGLES = [0x302, 0x304, 0x2022, 0x2026, 0x21D2, 0x2202, 0x2208, 0x2211, 0x2212, 0x221A, 0x221E]
SINGLES += [0x2248, 0x2260, 0x2264, 0x2265, 0xFFFD]

HEADER = """//! Advance widths of the embedded fonts. Written by `assets/make_font_subset.py`; do not edit.

/// Units of the advances per em.
pub(crate) const UNITS_PER_EM: f64 = {units}.0;

/// Code point, advance in the regular face, advance in the bold face; sorted by code point.
#[rustfmt::skip]
pub(crate) const ADVANCES: [(u32, u16, u16); {count}] = [
"""


def main() -> None:
    source = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).resolve().parent
    wanted = sorted({code for low, high in RANGES for code in range(low, high + 1)} | set(SINGLES))
    faces = []
    for name in ["DejaVuSans", "DejaVuSans-Bold"]:
        options = subset.Options()
        options.hinting = False
        options.layout_features = ["kern"]
        options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
        options.notdef_outline = True
        options.glyph_names = False
        options.recalc_timestamp = False
        options.drop_tables += ["FFTM", "GSUB", "GDEF", "MATH", "gasp"]
        font = TTFont(source / f"{name}.ttf", recalcTimestamp=False)
        tool = subset.Subsetter(options)
        tool.populate(unicodes=wanted)
        tool.subset(font)
        font.save(here / f"{name}.ttf")
        faces.append(font)
    tables = [(font.getBestCmap(), font["hmtx"]) for font in faces]
    units = faces[0]["head"].unitsPerEm
    codes = [code for code in wanted if all(code in cmap for cmap, _ in tables)]
    rows = [f"({code:#06x}, {', '.join(str(hmtx[cmap[code]][0]) for cmap, hmtx in tables)})," for code in codes]
    lines = ["    " + " ".join(rows[start : start + 5]) for start in range(0, len(rows), 5)]
    text = HEADER.format(units=units, count=len(rows)) + "\n".join(lines) + "\n];\n"
    (here.parent / "src" / "advance_table.rs").write_text(text)


main()
