import pytest
from support.readings import language_models

from dashboard.jobs.backend import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.error, app.warning)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def asked(backend):
    return [one for one in backend.submitted.values() if one.task == "language_models"]


@pytest.fixture(autouse=True)
def _models(backend):
    """The catalogue also has language models."""
    backend.facts["checkpoints"] += language_models()


def test_the_first_screen(opened, backend):
    app = opened("language_models")
    assert not app.exception, app.exception
    print(words(app), link(app))
