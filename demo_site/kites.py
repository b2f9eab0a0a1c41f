"""The shop's products. The drawing of a kite is `templates/kites/SLUG.svg`."""

from __future__ import annotations

from dataclasses import dataclass

CURRENCY = "EUR"


@dataclass(frozen=True, slots=True)
class Kite:
    """A product. `price` is in whole euros. The wind it needs is given in Beaufort, from least to most."""

    slug: str
    name: str
    shape: str
    price: int
    sky: str
    least_wind: int
    most_wind: int
    span: str
    packed: str
    line: str
    summary: str
    story: str

    def flies_in(self, wind: int) -> bool:
        """Whether the kite flies in this wind (in Beaufort)."""
        return self.least_wind <= wind <= self.most_wind


KITES = (
    Kite(
        slug="pip",
        name="Pip",
        shape="Diamond",
        price=24,
        sky="noon",
        least_wind=2,
        most_wind=4,
        span="82 cm",
        packed="70 cm tube",
        line="30 m on a beech winder",
        summary="The one everybody draws, sewn so that it also flies.",
        story="Two spars, four panels and a tail with five bows. Pip goes up at the first tug and stays up "
        "while you look for the sandwiches. A good first kite, and a good tenth one.",
    ),
    Kite(
        slug="kestrel",
        name="Kestrel",
        shape="Delta",
        price=48,
        sky="morning",
        least_wind=1,
        most_wind=4,
        span="190 cm",
        packed="95 cm sleeve",
        line="60 m on a hoop",
        summary="Hangs on next to nothing, and hovers like its namesake.",
        story="A wide wing of 31-gram ripstop on carbon spars. Kestrel finds lift on evenings when flags "
        "hang straight down, and its loose keel keeps the nose in the wind without a tail.",
    ),
    Kite(
        slug="drift",
        name="Drift",
        shape="Sled",
        price=36,
        sky="haze",
        least_wind=2,
        most_wind=5,
        span="96 cm",
        packed="fits a coat pocket",
        line="40 m on a flat spool",
        summary="No spars at all: the wind is the frame.",
        story="Shake it out of its pouch and it fills itself through two round vents. Nothing to assemble, "
        "nothing to snap, and it survives the bottom of a rucksack for years.",
    ),
    Kite(
        slug="hull",
        name="Hull",
        shape="Box",
        price=62,
        sky="dawn",
        least_wind=3,
        most_wind=6,
        span="60 cm",
        packed="folds flat, 90 cm",
        line="60 m on a hoop",
        summary="Steady enough to hang a camera under.",
        story="Two cells and four ash longerons, as flown for weather stations a hundred years ago. "
        "Hull climbs steeply, sits still, and casts the best shadow on a beach.",
    ),
    Kite(
        slug="rokk",
        name="Rokk",
        shape="Rokkaku",
        price=79,
        sky="evening",
        least_wind=2,
        most_wind=5,
        span="130 cm",
        packed="105 cm sleeve",
        line="80 m on a hoop",
        summary="Six corners, one sun, a taste for duels.",
        story="The fighting kite of Sanjō, with a bowed back and a four-legged bridle. It pulls with "
        "conviction; gloves are in the sleeve. Beginners are welcome, other kites less so.",
    ),
    Kite(
        slug="skate",
        name="Skate",
        shape="Ray",
        price=69,
        sky="storm",
        least_wind=3,
        most_wind=5,
        span="155 cm",
        packed="80 cm sleeve",
        line="60 m on a hoop",
        summary="Glides over the dunes as if they were a sea bed.",
        story="Soft wingtips that beat in the gusts, and four metres of tail that write slow letters behind "
        "it. Skate is the kite that strangers walk over to ask about.",
    ),
)

KITE_OF_SLUG = {kite.slug: kite for kite in KITES}
