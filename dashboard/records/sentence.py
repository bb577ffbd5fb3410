"""A sentence of three words, small enough to be worked through by hand."""

from collections.abc import Mapping

from dashboard.language import gettext_noop

TOKENS = (gettext_noop("cats"), gettext_noop("eat"), gettext_noop("fish"))
EMBEDDINGS = "1,0/0,1/1,1"
WEIGHTS: Mapping[str, str] = {"w_q": "0,1/1,0", "w_k": "1,1/0,1", "w_v": "1,3/2,1"}
