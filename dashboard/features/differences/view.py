"""What the page *Differences* shows, and its link.

``/differences?a=bahdanau.additive&b=transformer.scaled_dot&b.map=2.3&text=go .&target=va !``, with
``kind=encoder`` for another kind of attention and ``pair=b-c`` for the two panels of which the
difference is shown. Panels and their maps are those of :mod:`dashboard.links.panels`. An empty
target stands for what the first panel says by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from dashboard.language import gettext, gettext_noop
from dashboard.links import panels
from dashboard.links import panels as links
from dashboard.links.fields import Text, device
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown

TASK = "differences"


@dataclass(frozen=True, kw_only=True)
class Differences(links.Reading):
    """What the page shows: panels that all read one target, and the pair that is subtracted."""

    pair: str = ""  # ``a-b``, two different letters in order; empty for the first two panels


default_view = partial(links.usual_reading, Differences)  # of the bare address


@dataclass(frozen=True, kw_only=True)
class PairField(Field[Differences, str]):
    """Two of the panels."""

    def read(self, reader: Reader, view: Differences, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        pairs = pairs_of(view)
        given = reader.take(self.name)
        if given in (None, *pairs[:1]):
            return ""
        if given in pairs:
            return given
        if pairs:
            problem = gettext(
                "{parameter}={given}: need {offered}; ignored",
                parameter=self.name, given=shown(given), offered=", ".join(pairs),
            )  # fmt: skip
        else:
            problem = gettext(
                "{parameter}={given}: there is one panel; ignored",
                parameter=self.name, given=shown(given),
            )  # fmt: skip
        reader.problem(problem)
        return ""

    def write(self, view: Differences, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {self.name: view.pair} if view.pair in pairs_of(view)[1:] else {}


def pairs_of(view: Differences) -> list[str]:
    """Every pair that the panels allow, the usual one first."""
    return ["-".join(two) for two in combinations(view.by_letter, 2)]


def without_panel(view: Differences, letter: str) -> Differences:
    """The view without one panel; the pair is forgotten with one of its two."""
    left = panels.without_panel(view, letter)
    return replace(left, pair=view.pair if view.pair in pairs_of(left)[1:] else "")


CORPUS = links.corpus()
PANELS: links.PanelsField[Differences] = links.PanelsField(name="panels")
TEXT = links.text(gettext_noop("A sentence to read"))
TARGET: Text[Differences] = Text(
    name="target", title="Common target", placeholder="empty: the first model's translation",
    help="Every model is made to write these words, so their maps have the same rows.",
)  # fmt: skip
DEVICE = device()
LINK = Link(
    default=default_view,
    fields=(
        CORPUS, PANELS, links.CheckpointLetters(panels=PANELS), TEXT, TARGET, links.kind(),
        PairField(name="pair"), links.SelectedField(name="selected", panels=PANELS), DEVICE,
    ),
)  # fmt: skip
