"""From a model and its texts to the prices of several swaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from attention_plugins.contract import ContractError, Sizes
from attention_plugins.defining import AnyScoring, scoring_named
from attention_plugins.huggingface import folder as library
from attention_plugins.huggingface.translator import Pieces
from attention_plugins.marking import gettext_noop
from attention_plugins.opening import read_checkpoint
from attention_plugins.price.records import Budget, Outcome, Positions, Swap
from attention_plugins.price.table import Prices
from attention_plugins.price.tuning import Text, cut, ends_of, shown, trial, written
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed

MOST_SWAPS = 16
TOKENS = 64  # of a text that a model writes itself
_LONGEST = 128  # tokens of a text; longer ones are cut
_FEWEST, _SHORTEST = 12, 8  # pieces of a text, and tokens of one
_KINDS = {"decoder": "AutoModelForCausalLM", "encoder-decoder": "AutoModelForSeq2SeqLM"}
_SEED = 0  # of the texts that a model writes itself
_LEADING = 4, 3  # texts and heads that a function is tried with
GIVEN = gettext_noop("texts that were given")
OWN_WORDS = gettext_noop("the model's own words after what was given")
OWN_TEXTS = gettext_noop("texts that the model wrote itself")


class Subject:
    """A model whose swaps are priced, and how its tokens are read and written.

    Args:
        model: of transformers; a decoder or an encoder–decoder.
        tokenizer: its own; None where tokens are numbers.
    """

    def __init__(self, model: Any, tokenizer: Any = None, name: str = "") -> None:
        config: Any = getattr(model, "config", None)
        if not hasattr(config, "is_encoder_decoder"):
            raise ContractError(
                f"need a decoder or an encoder–decoder of transformers, got {type(model).__name__}"
            )
        self.model, self.name = model.eval(), name or type(model).__name__
        self.pairs = bool(config.is_encoder_decoder)
        self.tokenizer = tokenizer or library.Numbers(config.to_dict())
        self.vocabulary = Pieces(self.tokenizer)
        self.longest = min(library.positions_of(config.to_dict()), _LONGEST)

    def read(self, line: str) -> Text:
        """The text of a line; behind a tab stands what counts.

        Of a line without a tab, a decoder's tokens count from the second one on, and nothing
        counts of what an encoder–decoder reads.
        """
        given, tab, counted = line.partition("\t")
        ids = self._ids(given)
        if not tab and not self.pairs:
            return Text(tuple(ids[:1]), tuple(ids[1 : self.longest]))
        ends = ends_of(self.model.config)
        rest = self._ids(counted, behind=True) if tab else []
        if self.pairs and rest and ends and rest[-1] not in ends:
            rest.append(ends[0])
        room = self.longest if self.pairs else self.longest - len(ids)
        return Text(tuple(ids[: self.longest]), tuple(rest[: max(0, room)]))

    def _ids(self, text: str, *, behind: bool = False) -> list[int]:
        special: dict[str, Any] = {"add_special_tokens": False} if behind else {}
        return [*self.tokenizer(text, **special)["input_ids"]] if text.strip() else []

    def texts(self, lines: Iterable[str], write: int = 0) -> list[Text]:
        """The texts of a file's lines; the model goes on with each by itself for ``write`` tokens.

        ContractError: a line of which nothing counts, or none at all.
        """
        lines = [line for line in lines if line.strip()]
        found = [self.read(line) for line in lines]
        if write:
            given = [one.given if self.pairs else one.given + one.counted for one in found]
            if found and not all(given):
                raise ContractError("need at least one token to go on from in every line")
            return written(self.model, given, write, seed=_SEED)
        for line, text in zip(lines, found, strict=True):
            if not text.counted or not text.given:
                form = "a source, a tab and a target" if self.pairs else "two tokens or more"
                raise ContractError(f"need {form} in every line, got {line[:60]!r}")
        if not found:
            raise ContractError("need texts, a line each, got none")
        return found

    def pieces(self, text: str) -> list[Text]:
        """A decoder's text in 12 pieces or more of one length, of 8 to :data:`TOKENS` tokens.

        ContractError: it has not enough tokens.
        """
        ids = self._ids(text)
        size = min(TOKENS, self.longest, len(ids) // _FEWEST)
        if size < _SHORTEST:
            raise ContractError(
                f"need a text of at least {_FEWEST * _SHORTEST} tokens, got {len(ids)}: give a "
                "longer one, or none, and the model writes its own"
            )
        starts = range(0, len(ids) - size + 1, size)
        return [Text((ids[at],), tuple(ids[at + 1 : at + size])) for at in starts]

    def own_texts(self, budget: Budget, tokens: int) -> list[Text]:
        """As many texts as the budget takes, which the model writes from its first token.

        ContractError: it has no token that begins a text.
        """
        begin = self.model.config.bos_token_id
        if self.pairs or begin is None:
            kind = "an encoder–decoder" if self.pairs else "a model without a token that begins"
            raise ContractError(f"{kind} writes nothing by itself: need lines to go on from")
        count = max(2 * budget.held_out, budget.held_out + budget.steps * budget.batch_size)
        return written(self.model, [(begin,)] * count, min(tokens, self.longest - 1), seed=_SEED)


def opened(path: Path, name: str = "") -> Subject:
    """The model of a folder, by its own attention.

    CheckpointError, ContractError: no folder of transformers, or a kind that is not priced.
    """
    found = read_checkpoint(path)
    kind = found.kind if isinstance(found, library.Adopted) else "the workbench's own"
    if not isinstance(found, library.Adopted) or kind not in _KINDS:
        raise ContractError(
            f"{path.name} is {kind}; a swap is priced in decoders and encoder–decoders of "
            "transformers: adopt one, or name its folder"
        )
    model = library.load(path, _KINDS[kind], found.config)
    model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    return Subject(model, library.tokenizer(path), name or path.name)


def swap_of(
    given: AnyScoring, normaliser: str = "", positions: Positions | Literal[""] = ""
) -> Swap:
    """A swap from what is typed: ``additive``, ``scaled_dot+entmax15`` or ``=-|q-k|``.

    Args:
        given: that, or a scoring that has no name yet, such as a function.
        normaliser: of what names none.
        positions: ``keep`` or ``remove``; empty removes those of the model where the scoring
            has positions of its own.

    Raises:
        ContractError: an unknown name, or a normaliser that the scoring cannot have.
    """
    name = given.strip() if isinstance(given, str) else scoring_named(given, *_LEADING)
    way = normaliser
    if not name.startswith("="):
        name, _, own = (part.strip() for part in name.partition("+"))
        way = own or normaliser
    registry = installed()
    spec = registry.scoring(name)
    registry.scoring_factory(name, normaliser=way)
    if not positions:
        with seeded(0):
            needs = spec.create(Sizes(4, 4, 4, heads=2)).needs
        positions = "remove" if "positions" in needs else "keep"
    return Swap(scoring=spec.name, normaliser=way, positions=positions)


def trials(
    subject: Subject, swaps: Sequence[Swap], texts: Sequence[Text], budget: Budget,
    done: Sequence[Outcome] = (), share: Callable[[float], object] = lambda share: None,
) -> Iterator[Outcome]:  # fmt: skip
    """The outcomes that are missing, the original's among them, seed after seed."""
    if not 1 <= len(set(swaps)) <= MOST_SWAPS:
        raise ContractError(f"need 1 to {MOST_SWAPS} different swaps, got {len(set(swaps))}")
    ready = {(one.swap, one.seed) for one in done}
    show = partial(shown, text=cut(texts, budget.held_out, 0)[1][0], pieces=subject.vocabulary)
    asked = [(swap, seed) for seed in range(budget.seeds)
             for swap in dict.fromkeys((Swap(), *swaps)) if (swap, seed) not in ready]  # fmt: skip
    for number, (swap, seed) in enumerate(asked):
        yield trial(
            subject.model, swap, seed, texts, budget, show=None if seed else show,
            watch=lambda part, done=number: share((done + part) / len(asked)),
        )  # fmt: skip


def price_of_swap(
    model: Any, texts: Iterable[str], swaps: Sequence[AnyScoring | Swap], *,
    tokenizer: Any = None, budget: Budget | None = None, write: int = 0,
    watch: Callable[[Outcome], object] = lambda outcome: None,
) -> Prices:  # fmt: skip
    """What other scorings cost a model, untuned and tuned, beside the original tuned equally.

    The model is left as it is. ``print`` writes the result as a table.

    Args:
        model: of transformers; a decoder or an encoder–decoder.
        texts: lines, or pairs with a tab between given and counted.
        swaps: names such as ``scaled_dot+entmax15``, formulas behind ``=``, records, or
            functions of queries and keys.
        tokenizer: the model's own; without one tokens are numbers.
        write: if not 0, the model goes on with each text by so many tokens, and these count.
        watch: is told of every outcome; it may raise to stop.

    Raises:
        ContractError: bad texts, names or budget.
    """
    subject, budget = Subject(model, tokenizer), budget or Budget()
    found = [one if isinstance(one, Swap) else swap_of(one) for one in swaps]
    rows = subject.texts(texts, write)
    outcomes = []
    for outcome in trials(subject, found, rows, budget):
        outcomes.append(outcome)
        watch(outcome)
    said = OWN_WORDS if write else GIVEN
    return Prices(model=subject.name, texts=said, budget=budget, outcomes=outcomes)
