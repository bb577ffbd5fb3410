"""Translations as records: what other records say, in another language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from attention_plugins.contract.parameters import ContractError, check_name, check_texts

MOST_TEXTS, LONGEST_TEXT = 2000, 2000  # of one record; characters
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")


@dataclass(frozen=True, kw_only=True)
class TranslationSpec:
    """The texts of a package's records in another language.

    Pages show a title, a description or a help in the visitor's language where one of these
    records has it, and as it stands where none has.

    Args:
        name: lower-case identifier, such as ``"my_kernel_zh"``.
        title: what it is called in lists, such as ``"My kernel, 中文"``.
        language: the language's code in ISO 639, such as ``"zh"``.
        texts: translations by the English text, exactly as the record has it; at most 2,000, of
            at most 2,000 characters each.

    Raises:
        ContractError: a field is not what it should be.
    """

    name: str
    title: str
    language: str
    texts: Mapping[str, str]

    def __post_init__(self) -> None:
        check_name("translation", self.name)
        check_texts(self, "translation", ("title", "language"))
        if not _LANGUAGE.match(self.language):
            raise ContractError(
                f"translation {self.name!r}: need language to be a code of ISO 639 such as 'zh', "
                f"got {self.language!r}"
            )
        if not isinstance(self.texts, Mapping) or len(self.texts) > MOST_TEXTS:
            raise ContractError(
                f"translation {self.name!r}: texts is a mapping of at most {MOST_TEXTS:,} English "
                "texts to their translations"
            )
        for text, said in self.texts.items():
            for one in (text, said):
                if not isinstance(one, str) or not 0 < len(one) <= LONGEST_TEXT:
                    raise ContractError(
                        f"translation {self.name!r}: a text and its translation are str of 1 to "
                        f"{LONGEST_TEXT:,} characters, got {one!r:.60}"
                    )
