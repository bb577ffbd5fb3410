"""What the page *Exercise* shows, and its link: ``/exercise?id=<32 hexadecimal digits>``."""

from dataclasses import dataclass

from dashboard.links.fields import Text
from dashboard.links.link import Link
from dashboard.storage.entries import LONGEST_LINK


@dataclass(frozen=True, kw_only=True)
class ExerciseView:
    """An exercise, or a new one ``of`` a page's address; ``teacher`` is a token, used once."""

    id: str = ""
    of: str = ""
    teacher: str = ""
    projector: str = ""  # 1 where a class looks on


_FIELDS = tuple(Text(name=name, title="", longest=LONGEST_LINK) for name in vars(ExerciseView()))
LINK = Link(default=lambda _: ExerciseView(), fields=_FIELDS)
