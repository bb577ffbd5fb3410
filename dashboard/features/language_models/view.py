"""What the page *Language models* shows, its link, and its requests.

``/language_models?a=stories260k&b=bert_tiny&text=Once upon a time&b.text=Once upon a [MASK]`` and
``&words=12&scale=log&leave_out_first=on&a.map=2.3``. A panel is a checkpoint by its name, and
reads ``text`` unless it has a prompt of its own. Maps are those of :mod:`dashboard.links.panels`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dashboard.language import gettext_noop
from dashboard.links import panels
from dashboard.links.fields import NAME, Choice, Setting, Text, device
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request
from dashboard.records.text import LONGEST_PASSAGE

TASK = "language_models"
KINDS = ("decoder", "encoder")  # of models that are language models
SCALES = ("linear", "log")
_USUAL = "scaled_dot"
_TEXT = ".text"  # after a panel's letter, in the link
PROMPT = "Once upon a time"  # where a model has no examples
# Of a Transformer of 12 layers on one core: reading a token, and writing one.
_SECONDS_PER_CHARACTER, _SECONDS_PER_WORD = 2e-4, 0.02


@dataclass(frozen=True, kw_only=True)
class LanguageModels(panels.Checkpoints):
    """What the page shows.

    Args:
        text: the prompt of all panels.
        prompts: each panel's own, empty where it reads ``text``; those at the end are left out.
        words: how many are generated after it.
        scale: of the colours, one of :data:`SCALES`.
        leave_out_first: whether weights on the first token do not count for the colours' end.
    """

    text: str = PROMPT
    prompts: tuple[str, ...] = ()
    words: int
    scale: str = SCALES[0]
    leave_out_first: bool = False


def models_of(catalogue: Catalogue) -> dict[str, Checkpoint]:
    """The language models that are here, by their names: first those that write."""
    return {one.name: one for kind in KINDS for one in catalogue.of_kind(kind)}


def _usual_panels(catalogue: Catalogue, corpus: str = "") -> tuple[str, ...]:
    """One that is shipped, so that a bare address shows the same everywhere; if here, a dot's."""
    known = models_of(catalogue)
    shipped = [name for name, one in known.items() if one.shipped] or [*known]
    return tuple(sorted(shipped, key=lambda name: known[name].scoring != _USUAL)[:1])


def examples_of(view: panels.Checkpoints, catalogue: Catalogue) -> tuple[str, ...]:
    """Prompts to start with, as the panels' models have them."""
    known = models_of(catalogue)
    found = (known[panel].examples for panel in view.panels if panel in known)
    return next(filter(None, found), ())


def _usual_prompt(view: panels.Checkpoints, catalogue: Catalogue) -> str:
    """The first example of several words."""
    examples = examples_of(view, catalogue)
    return next((one for one in examples if " " in one), next(iter(examples), PROMPT))


def prompts_of(view: LanguageModels) -> dict[str, str]:
    """What each panel reads, by its letter."""
    own = (*view.prompts, *("" for _ in view.panels))
    return {letter: one or view.text for letter, one in zip(view.by_letter, own, strict=False)}


def with_prompts(view: LanguageModels, own: Mapping[str, str]) -> LanguageModels:
    """The view with these prompts of its panels, by letter, in the one way of writing them."""
    prompts = [own.get(letter, "") for letter in view.by_letter]
    while prompts and not prompts[-1]:
        prompts.pop()
    return replace(view, prompts=tuple(prompts))


def without(view: LanguageModels, letter: str) -> LanguageModels:
    """The view without one panel; the others keep their letters, maps and prompts."""
    own = dict(zip(view.by_letter, view.prompts, strict=False))
    return fitted(with_prompts(panels.without_panel(view, letter), own))


def fitted(view: LanguageModels) -> LanguageModels:
    """The view whose only panel, if it is one, reads the prompt of all."""
    if len(view.panels) > 1 or not view.prompts:
        return view
    return replace(view, text=view.prompts[0], prompts=())


def alone(view: LanguageModels, letter: str) -> LanguageModels:
    """The view with one panel alone, as the first one."""
    panel, prompt = view.by_letter[letter], prompts_of(view)[letter]
    return replace(view, panels=(panel,), letters="", selected=(), text=prompt, prompts=())


@dataclass(frozen=True, kw_only=True)
class PromptsField(Field[LanguageModels, tuple[str, ...]]):
    """The panels' own prompts, ``b.text``; comes after the panels and the text."""

    def read(self, reader: Reader, view: LanguageModels, catalogue: Catalogue) -> tuple[str, ...]:
        """See :meth:`Field.read`."""
        own = {
            letter: reader.text(letter + _TEXT, "", LONGEST_PASSAGE)
            for letter in view.by_letter
        }  # fmt: skip
        return with_prompts(view, own).prompts

    def write(self, view: LanguageModels, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        own = zip(view.by_letter, view.prompts, strict=False)
        return {letter + _TEXT: prompt for letter, prompt in own if prompt}


def request(view: LanguageModels, checkpoint: Checkpoint, prompt: str, map: str = "") -> Request:
    """What a worker must read; ``map`` asks for that one alone, whole."""
    options = {"text": prompt, "words": view.words if checkpoint.kind == "decoder" else 0}
    options |= {"map": map} if map else {}
    return Request.make(TASK, data=checkpoint.name, options=options, device=view.device)


def requests(view: LanguageModels, catalogue: Catalogue) -> dict[str, Request]:
    """What each panel asks for that has a model here and a prompt, by its letter."""
    known, prompts = models_of(catalogue), prompts_of(view)
    return {letter: request(view, known[panel], prompts[letter])
            for letter, panel in view.by_letter.items()
            if panel in known and prompts[letter]}  # fmt: skip


def work(request: Request) -> float:
    """What reading and writing cost (:mod:`dashboard.records.request`)."""
    options = dict(request.options)
    read, written = len(str(options["text"])), int(options["words"])
    return _SECONDS_PER_CHARACTER * read + _SECONDS_PER_WORD * written


PANELS: panels.PanelsField[LanguageModels] = panels.PanelsField(
    name="panels", default=_usual_panels,
    named=lambda catalogue, _, given: (
        given if given in models_of(catalogue) or NAME.match(given) else ""
    ),
    example=gettext_noop("the name of a language model such as stories260k"),
)  # fmt: skip
TEXT: Text[LanguageModels] = Text(
    name="text", title="Prompt", longest=LONGEST_PASSAGE,
    placeholder="Words to go on from", default=_usual_prompt,
)  # fmt: skip
WORDS: Setting[LanguageModels] = Setting(
    name="words", parameter=lambda _, catalogue: catalogue.options[TASK][0]
)
SCALE: Choice[LanguageModels] = Choice(
    name="scale", title="Colour scale", options=lambda _view, _catalogue: SCALES
)
LEAVE_OUT_FIRST: Setting[LanguageModels] = Setting(
    name="leave_out_first",
    parameter=Parameter(
        name="leave_out_first", title="Leave the first token out of the colours", default=False,
        help="Many heads rest on the first token. Left out, the largest weight on any other token "
        "has the strongest colour.",
    ),
)  # fmt: skip
DEVICE = device()


def default_view(catalogue: Catalogue) -> LanguageModels:
    """The view of the bare address."""
    words = int(catalogue.options[TASK][0].default)
    view = LanguageModels(panels=_usual_panels(catalogue), words=words)
    return replace(view, text=_usual_prompt(view, catalogue))


LINK = Link(
    default=default_view,
    fields=(
        PANELS, panels.CheckpointLetters(panels=PANELS), TEXT, PromptsField(name="prompts"), WORDS,
        SCALE, LEAVE_OUT_FIRST, panels.SelectedField(name="selected", panels=PANELS), DEVICE,
    ),
    fitted=lambda view, _: fitted(view),
)  # fmt: skip
