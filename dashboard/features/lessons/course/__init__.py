"""The ten lessons, in their order."""

from dashboard.features.lessons.course.architectures import (
    BAHDANAU,
    EXPLAINING,
    HEADS,
    POSITIONS,
    TRANSFORMER,
)
from dashboard.features.lessons.course.basics import CUES, KERNEL, LITERATURE, MASK, SCORING

LESSONS = (
    CUES, KERNEL, SCORING, MASK, BAHDANAU, HEADS, POSITIONS, TRANSFORMER, LITERATURE, EXPLAINING,
)  # fmt: skip
