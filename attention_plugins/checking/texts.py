"""Rules of tokenisers, metrics and translations. Importing this registers them, in their order."""

import math
from collections.abc import Sequence

from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.records import check_the_record_explains_itself, twice
from attention_plugins.contract import MetricSpec, Tokeniser, TokeniserSpec, TranslationSpec

_SAID = beside(__file__, "words.toml")["texts"]

_SENTENCES = ("the old man walks.", "does the cat walk?", "a b c", "the man is older.")

rule("tokenisers")(check_the_record_explains_itself)


@rule("tokenisers")
def check_tokens_are_text(spec: TokeniserSpec) -> None:
    """A list of str, none of them empty or with a space inside; no token of an empty text."""
    made = _made(spec)
    for text in (*spec.examples, *_SENTENCES):
        tokens = made.tokenise(text)
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise Broken(f"tokenise({text!r}) gave {tokens!r:.60}; return a list of str")
        if not tokens:
            raise Broken(f"tokenise({text!r}) gave no token; drop no sentence")
        for token in tokens:
            if not token or any(letter.isspace() for letter in token):
                raise Broken(_SAID["empty_token"], text=text, token=token)
    if made.tokenise("") != [] or made.tokenise(" ") != []:
        raise Broken("an empty text gave tokens; return an empty list")
    if made.detokenise([]) != "":
        raise Broken("no tokens gave a text; return an empty str")


@rule("tokenisers")
def check_sentences_come_back(spec: TokeniserSpec) -> None:
    """Detokenised, its examples are as they were, but for case; those of no example are ours."""
    made = _made(spec)
    for text in spec.examples or _SENTENCES:
        found = made.detokenise(made.tokenise(text))
        if not isinstance(found, str):
            raise Broken(f"detokenise returned {type(found).__name__}; return a str")
        if found.lower() != text.lower():
            raise Broken(_SAID["not_undone"], text=text, found=found)


@rule("tokenisers")
def check_what_is_learned_is_reproducible(spec: TokeniserSpec) -> None:
    """Equal sentences give equal text, which builds a tokeniser of equal tokens."""
    texts = (*spec.examples, *_SENTENCES)
    learned = twice("learn", lambda: _learned(spec, texts))
    if learned[0] != learned[1]:
        raise Broken(
            "the same sentences gave two different texts; break ties by the tokens themselves"
        )
    if spec.learn and not learned[0]:
        raise Broken("learn gave an empty text; return what build needs, or leave learn away")
    one, another = spec.create(learned[0]), spec.create(learned[1])
    if any(one.tokenise(text) != another.tokenise(text) for text in texts):
        raise Broken("one text built two tokenisers that differ; draw nothing in build")


def _learned(spec: TokeniserSpec, sentences: Sequence[str]) -> str:
    with attempt("learning from sentences", "let learn take a sequence of str and return a str"):
        return spec.learned_from(sentences)


def _made(spec: TokeniserSpec) -> Tokeniser:
    learned = _learned(spec, spec.examples or _SENTENCES)
    with attempt("while it was built", "let build take the text that learn gave"):
        return spec.create(learned)


_WANTED = ("a b c d e", "the old man walks home.", "wait for me here, please.")
_WRONG = ("z z", "q x y", "")
_HALF = ("a b c d e", "the old man walks home.", "")
_REFERENCES = [[text] for text in _WANTED]

rule("metrics")(check_the_record_explains_itself)


@rule("metrics")
def check_identical_text_scores_best(spec: MetricSpec) -> None:
    """What equals its reference has the best score, with one reference and with several."""
    for references in (_REFERENCES, [[*_WRONG[:1], text] for text in _WANTED]):
        found = _score(spec, _WANTED, references)
        if spec.best is not None and not math.isclose(found, spec.best, abs_tol=1e-6):
            raise Broken(_SAID["best_is_other"], found=found, best=spec.best)


@rule("metrics")
def check_wrong_text_scores_worse(spec: MetricSpec) -> None:
    """Text that is wrong scores worse than text that is half right, and this than identical."""
    scores = [_score(spec, texts, _REFERENCES) for texts in (_WRONG, _HALF, _WANTED)]
    ordered = scores if spec.higher_is_better else scores[::-1]
    if not ordered[0] < ordered[1] < ordered[2]:
        found = ", ".join(f"{score:g}" for score in scores)
        other = not spec.higher_is_better
        raise Broken(_SAID["other_direction"], found=found, higher_is_better=other)


@rule("metrics")
def check_scores_are_in_range(spec: MetricSpec) -> None:
    """Finite, and between the worst and the best."""
    low, high = -math.inf, math.inf
    if spec.worst is not None and spec.best is not None:
        low, high = sorted((spec.worst, spec.best))
    for texts in (_WANTED, _WRONG, _HALF):
        found = _score(spec, texts, _REFERENCES)
        if not low - 1e-6 <= found <= high + 1e-6:
            raise Broken(f"a score is {found:g}; need {low:g} to {high:g}, as best and worst say")


@rule("metrics")
def check_it_draws_nothing(spec: MetricSpec) -> None:
    """Equal text, equal score; others' generators stay alone."""
    one, other = twice("score", lambda: _score(spec, _HALF, _REFERENCES))
    if one != other:
        raise Broken("the same text gave two different scores; draw nothing")


def _score(
    spec: MetricSpec, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> float:
    with attempt("scoring", "let score take hypotheses and a list of references for each"):
        found = spec.score(hypotheses, references)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise Broken(f"score returned {found!r:.60}; return a finite float")
    return float(found)


@rule("translations")
def check_there_are_texts(spec: TranslationSpec) -> None:
    """At least one text, and a title."""
    if not spec.title.strip():
        raise Broken("the title is blank; say whose texts these are, and in which language")
    if not spec.texts:
        raise Broken("there is no text; add the titles of your records with their translations")


@rule("translations")
def check_every_text_says_something(spec: TranslationSpec) -> None:
    """No translation is blank, or has spaces around it that the text has not."""
    for text, said in spec.texts.items():
        if not said.strip():
            raise Broken(f"the translation of {text!r:.60} is blank; leave it out, or write it")
        if said != said.strip() and text == text.strip():
            raise Broken(f"the translation {said!r:.60} has spaces around it; take them away")
