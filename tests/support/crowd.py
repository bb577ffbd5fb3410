"""What a worker would say with very many plugins installed beside the built-in ones."""

from __future__ import annotations

import copy
from typing import Any

from dashboard.jobs import task_catalogue
from dashboard.records.request import Request

SCORINGS, NORMALISERS, MODELS = 200, 50, 30
PACKAGES = 40  # besides the one that brought all of these


class _Watch:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


def built_in() -> dict[str, Any]:
    """The catalogue of what comes with the workbench; nobody else's."""
    facts = dict(task_catalogue.perform(Request.make("catalogue"), _Watch()).facts)
    plugins = [one for one in facts["plugins"] if one["built_in"]]
    names = {one["distribution"] for one in plugins}
    distributions = [one for one in facts["distributions"] if one["name"] in names]
    return {**facts, "plugins": plugins, "distributions": distributions, "failures": []}


def crowded(facts: dict[str, Any]) -> dict[str, Any]:
    """The same beside :data:`SCORINGS` more scorings, and as many others as said above."""
    more = copy.deepcopy(facts)
    _copies(more["scorings"], "gaussian", SCORINGS)
    _copies(more["normalisers"], "entmax", NORMALISERS)
    for name in ("nadaraya_watson", "bahdanau", "self_attention"):
        _copies(more["models"], name, MODELS // 3)
    for values in more["presets"].values():
        values |= {f"bahdanau_{n}": values["bahdanau"] for n in range(MODELS // 3)}
    offers = {
        kind: [one["name"] for one in more[kind][len(facts[kind]) :]]
        for kind in ("scorings", "normalisers", "models")
    }
    packages = ["crowd", *(f"small-{number}" for number in range(PACKAGES))]
    for package in packages:
        more["plugins"].append(
            {"name": package, "distribution": package, "version": "0.3", "module": package,
             "contract": "1.1", "built_in": False, "offers": offers if package == "crowd" else {}}
        )  # fmt: skip
        more["distributions"].append(
            {"name": package, "version": "0.3", "summary": "Many.", "links": []}
        )
        more["failures"] = [*more["failures"], {
            "plugin": package, "distribution": package, "stage": "hooks", "built_in": False,
            "message": f"{package} has a wrong hook", "advice": "mend it",
        }]  # fmt: skip
    return more


def _copies(records: list[dict[str, Any]], name: str, count: int) -> None:
    like = next(one for one in records if one["name"] == name)
    records += [
        {**like, "name": f"{name}_{n}", "title": f"{like['title']} No. {n}"} for n in range(count)
    ]
