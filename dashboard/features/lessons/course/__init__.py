"""The ten lessons, in their order."""

from __future__ import annotations

from dashboard.features.lessons.course.bahdanau import BAHDANAU
from dashboard.features.lessons.course.cues import CUES
from dashboard.features.lessons.course.explaining import EXPLAINING
from dashboard.features.lessons.course.heads import HEADS
from dashboard.features.lessons.course.kernel import KERNEL
from dashboard.features.lessons.course.literature import LITERATURE
from dashboard.features.lessons.course.mask import MASK
from dashboard.features.lessons.course.positions import POSITIONS
from dashboard.features.lessons.course.scoring import SCORING
from dashboard.features.lessons.course.transformer import TRANSFORMER

LESSONS = (
    CUES, KERNEL, SCORING, MASK, BAHDANAU, HEADS, POSITIONS, TRANSFORMER, LITERATURE, EXPLAINING,
)  # fmt: skip
