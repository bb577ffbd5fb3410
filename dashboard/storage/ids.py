"""The names of what is stored: random ids of runs, and the sha256 of a file's content."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

ID = re.compile(r"[0-9a-f]{32}\Z")
DIGEST = re.compile(r"[0-9a-f]{64}\Z")

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
MaybeId = Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MaybeDigest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
