"""What is remembered is remembered under all that it follows from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPOKEN = "spoken"
WORDS = {"gettext", "ngettext", "translated"}
CACHES = {"cache", "lru_cache", "cache_resource", "cache_data"}
CHARTS = {"show": (1,), "show_filled": (1, 2), "specification": (1,), "filled": (1, 2),
          "show_values": (1,), "show_matrix": ()}  # fmt: skip
BY_NAME = {"show_values", "show_matrix"}  # these take what they draw by name too


def named(node: ast.AST) -> str:
    """The last part of a dotted name, also of one that is called."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@cache
def modules() -> dict[str, ast.Module]:
    paths = ROOT.glob("dashboard/**/*.py")
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"):
            ast.parse(path.read_text("utf-8"))
        for path in paths
    }  # fmt: skip


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def arguments(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def cached() -> dict[str, ast.FunctionDef]:
    """Functions whose results are kept, by module and name."""
    return {
        f"{module}.{function.name}": function
        for module, tree in modules().items()
        for function in functions(tree)
        if CACHES & {named(one) for one in function.decorator_list}
    }


@cache
def speaks(module: str, name: str) -> bool:
    """Whether a function of ours asks for the visitor's language, itself or by what it calls."""
    tree = modules()[module]
    if name in WORDS or (module, name) == ("dashboard.language", "current"):
        return True
    places = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in modules()
        for alias in node.names
    }
    own = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    inside = ast.walk(own[name]) if name in own else ()
    used = {node.id for node in inside if isinstance(node, ast.Name)}
    for other in used:
        where = places.get(other) or ((module, other) if other in own and other != name else None)
        if where and where not in _asked and (_asked.add(where) or speaks(*where)):
            return True
    return False


_asked: set[tuple[str, str]] = set()


def chains(node: ast.AST, bound: frozenset[str] = frozenset()) -> set[str]:
    """Names that an expression reads, each with its attributes: ``view.x``."""
    if isinstance(node, ast.Attribute):
        root, parts = node, []
        while isinstance(root, ast.Attribute):
            parts.append(root.attr)
            root = root.value
        if isinstance(root, ast.Name):
            name = ".".join([root.id, *reversed(parts)])
            return (
                set()
                if root.id in bound
                else {name.removesuffix(".items").removesuffix(".values")}
            )
        return chains(root, bound)
    if isinstance(node, ast.Name):
        return set() if node.id in bound else {node.id}
    if isinstance(node, ast.Lambda | ast.FunctionDef):
        own = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
        own |= {one.id for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}  # fmt: skip
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = [chains(one, bound | own) for one in body]
        return set().union(*inside, *(chains(one, bound) for one in node.args.defaults))
    if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
        targets = (each.target for each in node.generators)
        bound |= {
            one.id for each in targets for one in ast.walk(each) if isinstance(one, ast.Name)
        }
    return set().union(*(chains(one, bound) for one in ast.iter_child_nodes(node)))


class Names:
    """What the local names of a function follow from."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.parameters = {one.arg for one in arguments(function)}
        self.made: dict[str, set[str]] = {}
        self.composed: set[str] = set()  # of text or lists, in which all that they name stands
        self.loops: list[set[str]] = []
        for node in ast.walk(function):
            if isinstance(node, ast.FunctionDef) and node is not function:
                self.made.setdefault(node.name, set()).update(chains(node))
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._store(target, node.value)
            elif isinstance(node, ast.NamedExpr | ast.AugAssign):
                self._store(node.target, node.value)
            elif isinstance(node, ast.For):
                self.loops.append(_names(node.target))

    def _store(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, its in zip(target.elts, value.elts, strict=True):
                self._store(one, its)
            return
        text = any(
            isinstance(one, ast.JoinedStr) or named(one) == "join" for one in ast.walk(value)
        )
        for name in _names(target):
            self.made.setdefault(name, set()).update(chains(value))
            if text or isinstance(value, ast.List | ast.ListComp):
                self.composed.add(name)

    def expanded(self, found: set[str], seen: frozenset[str] = frozenset()) -> set[str]:
        """Chains, and those that were written into them."""
        more = {root for root in (chain.partition(".")[0] for chain in found)
                if root in self.composed and root not in seen}  # fmt: skip
        if not more:
            return found
        made = set().union(*(self.made[root] for root in more))
        return found | self.expanded(made, seen | more)

    def missing(self, needed: set[str], key: set[str]) -> set[str]:
        """Those of ``needed`` that the key neither names nor follows from."""
        key = self.expanded(key)
        digests = {
            chain.rpartition(".")[0] for chain in key if chain.endswith((".digest", ".key"))
        }
        for loop in self.loops:
            if loop & key:  # the others of that round go with it
                key = key | loop
        left, queue, seen = set(), [*needed], set()
        while queue:
            chain = queue.pop()
            root = chain.partition(".")[0]
            prefixes = {chain[:end] for end, sign in enumerate(chain) if sign == "."} | {chain}
            if chain in seen or prefixes & (key | digests):
                continue
            seen.add(chain)
            if root in self.made:
                queue += self.made[root]
            elif root in self.parameters or any(root in loop for loop in self.loops):
                left.add(chain)
        return left


def _names(target: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}


# What a chart is drawn of that its key need not name, and why.
GIVEN = {
    "features.attention_maps.page._picture": {"found": "is of the digest's result"},
    "features.lessons.page._figure": {
        "session.view.at": "is of the chart's sentence",
        "lesson.figure": "is of the chart's sentence",
    },
    "features.race.grid._drawn": {"prepare": "is of the result and the titles"},
    "features.race.figures._lines": {"prepare": "is of the task that was seen"},
    "features.anatomy.following.draw_plots": {"session.view": "is what the request is of"},
    "features.training.probe._probe": {"training": "by its id", "epoch": "as the one it found"},
    "features.anatomy.moves._flow": {"steps": "is of the name"},
    "features.anatomy.step._lineage": {"walk": "is of the result and the view"},
    "features.experiment.page._curve": {"cell.result": "is what is drawn"},
    "features.differences.page._comparison": {"seen.pair": "stands there by its name"},
    "ui.maps.attention_maps": {"shared": "is of the title, which stands there"},
}


def unnamed() -> dict[str, set[str]]:
    """By function that draws a chart: what this is drawn of and its key does not name."""
    found: dict[str, set[str]] = {}
    for module, tree in modules().items():
        if not any(
            isinstance(node, ast.ImportFrom) and "dashboard.ui" in str(node.module)
            for node in tree.body
        ):
            continue
        for function in functions(tree):
            names = Names(function)
            for call in ast.walk(function):
                if not isinstance(call, ast.Call) or named(call) not in CHARTS:
                    continue
                if isinstance(call.func, ast.Attribute) and named(call.func.value) not in (
                    "charts", "moves",
                ):  # fmt: skip
                    continue
                given = [call.args[at] for at in CHARTS[named(call)] if at < len(call.args)]
                if named(call) in BY_NAME:
                    given += [each.value for each in call.keywords]
                key = chains(call.args[0])
                if not given or (key == {"key"} and "key" in names.parameters):
                    continue
                missing = names.missing(set().union(*map(chains, given)), key)
                place = f"{module.removeprefix('dashboard.')}.{function.name}"
                found.setdefault(place, set()).update(missing)
    return found


# Arguments that Streamlit does not compare, and what names them instead.
UNCOMPARED = {"features.runs.one._redrawn": {"_panel": "id and number"}}
# What is remembered without words, though it is made by what may fail with some.
SILENT = {
    "dashboard.links.fits.references",
    "dashboard.links.fits.translators",
    "dashboard.links.fits.usual_panels",
    "dashboard.features.regression.view.usual_panels",
    "dashboard.features.training.probe._kept_frame",
    "dashboard.ui.workbench._shared",
}
DRAWS = {"Draw", "Callable"}


def test_words_are_remembered_by_their_language():
    wrong = []
    for place, function in cached().items():
        _asked.clear()
        given = arguments(function)
        drawn = any(one.annotation and DRAWS & {named(part) for part in ast.walk(one.annotation)}
                    for one in given)  # fmt: skip
        needed = place not in SILENT and (drawn or speaks(*place.rsplit(".", 1)))
        if needed != (SPOKEN in {one.arg for one in given}):
            wrong.append(f"{place} {'needs' if needed else 'has no use for'} {SPOKEN}")
    assert len(cached()) > 20
    assert not wrong, "\n".join(wrong)


def test_what_streamlit_does_not_compare_is_named_otherwise():
    found = {
        place.removeprefix("dashboard."): {one.arg for one in arguments(function)
                                           if one.arg.startswith("_")}
        for place, function in cached().items()
        if {named(one) for one in function.decorator_list} & {"cache_resource", "cache_data"}
    }  # fmt: skip
    assert {place: names for place, names in found.items() if names} == {
        place: {*names} for place, names in UNCOMPARED.items()
    }


def test_the_key_of_a_chart_names_all_that_it_is_drawn_of():
    found = {place: names for place, names in unnamed().items() if names}
    allowed = {place: {*names} for place, names in GIVEN.items()}
    assert len(unnamed()) > 30
    assert found == allowed, "name it in the key, or say in GIVEN why that follows"


def test_what_a_key_leaves_out_is_found():
    (function,) = ast.parse(
        "def f(result, view, titles, end):\n"
        "    table = result.tables['a']\n"
        "    part, rest = view.z[0], view.z[1]\n"
        "    for name, title in titles.items():\n"
        "        show_filled(f'{result.digest} {view.x} {name}', d, lambda: p(table, title))\n"
        "        show_filled(f'{result.digest}', d, lambda: p(table, view.y, end, name))\n"
        "        show_filled(f'{part}', d, lambda: p(part, rest))\n"
    ).body
    names = Names(function)
    calls = [one.value for one in function.body[2].body]
    missing = [names.missing(chains(call.args[2]), chains(call.args[0])) for call in calls]
    assert missing == [set(), {"view.y", "end", "name"}, {"view.z"}]
