"""The ten lessons, in their order."""

from __future__ import annotations

from dashboard.features.lessons.course.architectures import BAHDANAU, HEADS, POSITIONS, TRANSFORMER
from dashboard.features.lessons.course.basics import CUES, KERNEL, MASK, SCORING
from dashboard.features.lessons.course.reading import EXPLAINING, LITERATURE

LESSONS = (
    CUES, KERNEL, SCORING, MASK, BAHDANAU, HEADS, POSITIONS, TRANSFORMER, LITERATURE, EXPLAINING,
)  # fmt: skip
