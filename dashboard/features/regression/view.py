"""What the page *Kernel regression* shows, its link, and its requests.

``?a=gaussian&a.width=0.5&b=gaussian&b.normaliser=sparsemax&data=step&points=80&seed=1``. Panels
are called a, b, c and d. ``a==dot(q, k) / sqrt(d)`` is a formula that was typed. With
``panels=ac`` panels keep these letters; without, the first ones are used in order. A view holds
names that may not be installed here, since a link may come from a friend who has more plugins;
:func:`missing` says so in a sentence.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dashboard.language import gettext, gettext_noop, translated
from dashboard.links import attending, fields, fits, panels
from dashboard.links.fields import LETTERS, SEED, Choice, Setting, Settings, device
from dashboard.links.fits import COLUMNS_FIELD, DATA, LEARN, MODEL, PROBLEM, Fit
from dashboard.links.link import Field, Link, Query, Reader
from dashboard.links.panels import Lettered, Letters
from dashboard.records.attending import NORMALISER
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import FORMULA, Pairs, Request, is_upload
from dashboard.records.text import not_installed, one_line, shown

_FALLBACK = "gaussian"
_USUAL = (("uniform", False), ("gaussian", False), ("gaussian", True), ("laplacian", False))
_TYPED = re.compile(r"(?:([a-z][a-z0-9_]{0,39})\.)?(=.+)\Z")  # model.=formula
_FOREIGN = re.compile(r"[a-z][a-z0-9_.]{0,59}\Z")
_ONE_SCALE = Parameter(
    name="one_scale", title="One colour scale for all maps", default=False,
    help="One scale tells which scoring gives larger weights. With a scale of its own, a map of "
    "small weights is as easy to read as any other.",
)  # fmt: skip
_VALIDATION = beside(__file__, "validation.toml")
_PLAN = tuple(Parameter.of({"name": key, **each}) for key, each in _VALIDATION["plan"].items())
_SHARE = tuple(replace(p, **_VALIDATION["share"] if p.name == "folds" else {}) for p in _PLAN)
BASELINES = _VALIDATION["baselines"]
_OWN = frozenset((*LETTERS, panels.PANELS, "data", SEED.name, "device", _ONE_SCALE.name))


@dataclass(frozen=True, kw_only=True)
class Regression(Lettered[Fit]):
    """What the page shows.

    Args:
        data: a data set's name or ``upload:<sha256>``.
        one_scale: whether the colours of all maps mean the same weights.
        columns: of an uploaded table, see :class:`~dashboard.links.fits.TableColumns`.
        validation: how rows of such a table are left out, and whether baselines are validated.
        rows: ``upload:<sha256>`` of a file with new rows, if there is one.
        along: whether predictions are drawn along several inputs.
    """

    data: str = DATA
    columns: str = ""
    settings: Pairs = ()
    seed: int = 0
    device: str = fields.AUTO
    one_scale: bool = False
    validation: Pairs = ()
    rows: str = ""
    along: bool = False


@dataclass(frozen=True, kw_only=True)
class Panels(Field[Regression, tuple[Fit, ...]]):
    """A fit for each letter that the link names."""

    def read(self, reader: Reader, view: Regression, catalogue: Catalogue) -> tuple[Fit, ...]:
        """See :meth:`Field.read`."""
        named = tuple(_read(reader, letter, catalogue) for letter in LETTERS if reader.has(letter))
        return named or usual_panels(catalogue)

    def write(self, view: Regression, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        link: dict[str, str] = {}
        if view.letters or view.panels != usual_panels(catalogue):
            for letter, fit in view.by_letter.items():
                link |= _written(letter, fit, catalogue)
        return link


@functools.lru_cache(maxsize=4)
def usual_panels(catalogue: Catalogue) -> tuple[Fit, ...]:
    """Average pooling, a fixed width, a learned width, and another kernel."""
    return tuple(fits.default_fit(catalogue, scoring, learn=learn)
                 for scoring, learn in _USUAL if scoring in catalogue.scorings)  # fmt: skip


def default_view(catalogue: Catalogue) -> Regression:
    """The view of the bare address."""
    settings = defaults(fits.data_parameters(catalogue, DATA))
    return Regression(panels=usual_panels(catalogue), settings=settings)


def missing(catalogue: Catalogue, fit: Fit) -> str:
    """What a panel needs that is not installed here, in a sentence; empty if it is all here."""
    if fit.scoring not in catalogue.scorings:
        return not_installed(gettext("Scoring"), fit.scoring)
    return attending.absent_normaliser(fit, catalogue)


def formulas(query: Query, view: Regression | None) -> Iterator[str]:
    """Every formula that a link and a view name, without ``=`` in front."""
    for letter in LETTERS:
        if found := _TYPED.match(attending.given(query, letter)):
            yield found[2].removeprefix(FORMULA)
    yield from attending.formulas_among(fit.scoring for fit in (view.panels if view else ()))


def requests(view: Regression, catalogue: Catalogue) -> dict[str, Request]:
    """What workers must compute, by the letter of its panel."""
    problem = {"data": view.data, "settings": view.settings, "columns": view.columns}
    return {
        letter: fits.fit_request(fit, **problem, seed=view.seed, device=view.device)
        for letter, fit in view.by_letter.items()
        if not missing(catalogue, fit)
    }


def validations(view: Regression, catalogue: Catalogue, also: str = "") -> dict[str, Request]:
    """What workers must compute of rows left out, by a panel's letter or a baseline's name.

    Where each row is left out in turn, a panel's own request has its figures. ``also`` asks for
    predictions besides, by the field that is set: of new ``rows``, or ``along`` the inputs. There
    baselines, which have no sliders to put it on, are tuned as they are in folds.
    """
    plan = dict(view.validation)
    baselines = BASELINES if plan.pop("baselines", False) else ()
    alone = plan.get("method", fits.LEAVE_ONE_OUT) == fits.LEAVE_ONE_OUT and not also
    tuned = plan if plan.get("tune") and plan["method"] != fits.LEAVE_ONE_OUT else {}
    if not is_upload(view.data) or not (getattr(view, also) if also else baselines or not alone):
        return {}
    if also:
        plan = {also: getattr(view, also), "seed": view.seed}
    elif alone:
        plan |= {"folds": 2, "seed": view.seed, "tune": False}
    problem = {"data": view.data, "settings": view.settings, "columns": view.columns}
    bare = fits.fit_request(Fit(scoring="", model=""), **problem, seed=view.seed)
    asked = {} if alone else requests(view, catalogue)
    asked |= dict.fromkeys(baselines, bare)
    held = {
        name: {**plan, **tuned, "baseline": name} if name in baselines else plan for name in asked
    }
    return {
        name: replace(request, options=pairs({
            **dict(request.options),
            **{f"{fits.VALIDATION}{key}": value for key, value in held[name].items()},
        }))
        for name, request in asked.items()
    }  # fmt: skip


def _read(reader: Reader, letter: str, catalogue: Catalogue) -> Fit:
    model, scoring = _read_names(reader, letter, catalogue)
    fit = Fit(scoring=scoring, model=model)
    if scoring not in catalogue.scorings:
        foreign = reader.below(f"{letter}.")
        kept = {name: one_line(text) for name, text in foreign.items() if _FOREIGN.match(name)}
        return replace(fit, parameters=pairs(kept))
    for field in attending.normaliser_fields(f"{letter}."):
        fit = replace(fit, **{field.name: field.read(reader, fit, catalogue)})
    values = fields.read_parameters(
        reader, fits.fit_parameters(catalogue, fit), lambda n: _key(catalogue, letter, n)
    )
    learn = reader.parameter(fits.learning(catalogue), f"{letter}.{LEARN}")
    if learn and not attending.learns(fit, catalogue):
        reader.problem(gettext(
            "{parameter}: {scoring} has nothing to learn",
            parameter=f"{letter}.{LEARN}", scoring=scoring,
        ))  # fmt: skip
        learn = False
    how = fits.fitting_parameters(catalogue) if learn else ()
    fitting = fields.read_parameters(reader, how, lambda name: f"{letter}.{name}")
    return replace(fit, parameters=values, learn=bool(learn), fitting=fitting)


def _read_names(reader: Reader, letter: str, catalogue: Catalogue) -> tuple[str, str]:
    given = reader.take(letter) or ""
    said = {"parameter": letter, "given": shown(given), "used": _FALLBACK}
    if found := _TYPED.match(given):
        model, (scoring, wrong) = found[1] or "", attending.resolved(found[2], catalogue)
        if wrong:
            words = gettext_noop("{parameter}={given}: {wrong}; {used} is used")
            reader.problem(gettext(words, wrong=translated(wrong), **said))
            return MODEL, _FALLBACK
    else:
        model, _, scoring = given.rpartition(".")
    if not (found or fields.NAME.match(scoring)):
        words = gettext_noop("{parameter}={given} is not a scoring's name; {used} is used")
        reader.problem(gettext(words, **said))
        return MODEL, _FALLBACK
    if model and model not in catalogue.of_task("models", fits.TASK):
        words = gettext_noop(
            "{parameter}={given}: no regression model {model} here; {used} is used"
        )
        reader.problem(gettext(words, model=shown(model), **{**said, "used": MODEL}))
        return MODEL, scoring
    return model or MODEL, scoring


def _written(letter: str, fit: Fit, catalogue: Catalogue) -> dict[str, str]:
    link = {letter: fit.scoring if fit.model == MODEL else f"{fit.model}.{fit.scoring}"}
    if fit.scoring not in catalogue.scorings:
        return link | {f"{letter}.{name}": str(value) for name, value in fit.parameters}
    link |= fields.write_parameters(
        fits.fit_parameters(catalogue, fit), dict(fit.parameters),
        lambda name: _key(catalogue, letter, name),
    )  # fmt: skip
    for field in attending.normaliser_fields(f"{letter}."):
        link |= field.write(fit, catalogue)
    if fit.learn:
        link |= {f"{letter}.{LEARN}": fits.learning(catalogue).write(True)}
        link |= fields.write_parameters(
            fits.fitting_parameters(catalogue), dict(fit.fitting), lambda name: f"{letter}.{name}",
        )  # fmt: skip
    return link


def _key(catalogue: Catalogue, letter: str, name: str) -> str:
    """A plugin may give its parameter the name of one of ours."""
    if name == NORMALISER:  # what stands behind it is a normaliser's parameter
        return f"{letter}.scoring.{name}"
    options = {each.name for each in catalogue.options.get(fits.TASK, ())}
    return f"{letter}.{name}.value" if name in options else f"{letter}.{name}"


# A plugin may give its data a parameter that has the name of one of the page's own.
SETTINGS = fits.settings(lambda name: f"data.{name}" if name in _OWN else name)
SEED_FIELD: Setting[Regression] = Setting(name="seed", parameter=SEED)
DEVICE = device()
ONE_SCALE: Setting[Regression] = Setting(name="one_scale", parameter=_ONE_SCALE)
VALIDATION: Settings[Regression] = Settings(
    name="validation", parameters=lambda view, _: () if not is_upload(view.data) else
    _SHARE if dict(view.validation).get("method") == "hold-out" else _PLAN,
    owner=lambda _: "left-out", key_of=lambda name: f"{fits.VALIDATION}{name}",
)  # fmt: skip
NEW_ROWS: Choice[Regression] = Choice(
    name="rows", title=gettext_noop("New rows"), options=lambda *_: ("",), unknown=fields.UPLOADED,
    default=lambda view, _: "" if is_upload(view.data) else view.rows,
)  # fmt: skip
ALONG: Setting[Regression] = Setting(
    name="along", parameter=Parameter.of({"name": "along", **_VALIDATION["along"]})
)
LINK = Link(
    default=default_view,
    fields=(
        Panels(name="panels"), Letters(), PROBLEM, COLUMNS_FIELD, SETTINGS, SEED_FIELD, DEVICE,
        ONE_SCALE, VALIDATION, NEW_ROWS, ALONG,
    ),
)  # fmt: skip
