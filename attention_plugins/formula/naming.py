"""Names of formulas: ``=`` and the formula where a scoring is named, a short slug for files."""

from __future__ import annotations

import hashlib
import re

from attention_plugins.formula.scoring import read

_WORDS = 23  # characters of the formula in its slug


def slug_of(text: str) -> str:
    """A name of a formula for folders, modules and packages: ``formula_abs_q_k_1a2b3c4d``.

    Lower-case letters, digits and ``_``, at most 40; equal formulas have equal slugs.

    Raises:
        FormulaError: it is no formula.
    """
    spelling = read(text).text
    words = re.sub(r"[^a-z0-9]+", "_", spelling.lower()).strip("_")[:_WORDS].strip("_")
    digest = hashlib.sha256(spelling.encode()).hexdigest()[:8]
    return f"formula_{words}_{digest}"
