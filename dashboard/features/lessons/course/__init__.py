"""The ten lessons, in their order."""

from dashboard.features.lessons.course import architectures
from dashboard.features.lessons.course.basics import CUES, KERNEL, LITERATURE, MASK, SCORING

LESSONS = (
    CUES, KERNEL, SCORING, MASK, architectures.BAHDANAU, architectures.HEADS,
    architectures.POSITIONS, architectures.TRANSFORMER, LITERATURE, architectures.EXPLAINING,
)  # fmt: skip
