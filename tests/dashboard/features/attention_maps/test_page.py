"""The page shows logs and files, follows, plays, subtracts, and says what is refused."""

import hashlib
import io

import numpy as np
import pytest
import torch

from attention_plugins import log_attention
from dashboard.storage.blobs import Blobs


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def weights(seed=0, layers=2):
    made = torch.Generator().manual_seed(seed)
    return torch.randn(layers, 3, 4, 5, generator=made).softmax(-1)


def logged(home, name="run", steps=(0, 10, 20)):
    for step in steps:
        log_attention(home / "logs" / name, step, weights(step))


def uploaded(array):
    file = io.BytesIO()
    np.save(file, array)
    Blobs().put(file.getvalue())
    return f"upload:{hashlib.sha256(file.getvalue()).hexdigest()}"


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.header)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def colours(app):
    alts = [one.proto.alt for one in app.get("vega_lite_chart")]
    return [alt for alt in alts if alt.startswith("Colours")]


def test_without_logs_and_files_it_says_how_to_begin(opened):
    app = opened("attention_maps")
    assert not app.exception
    assert "Nothing to show yet" in words(app)
    assert "watch(model, log=" in app.code[0].value
    assert link(app) == {}


def test_the_newest_log_is_shown_at_its_latest_step(opened, home, backend):
    logged(home, "old")
    logged(home, "new")
    app = opened("attention_maps")
    assert not app.exception
    assert link(app) == {"source": "log:new"}
    assert "Step 20 of new" in words(app)
    (asked,) = backend.submitted.values()
    assert asked.data.startswith("log:new@20@")
    assert len(colours(app)) == 1
    for said in ("Entropy of the heads", "Map health"):
        assert said in words(app)


def test_a_step_that_comes_is_asked_for_when_the_page_is_drawn_next(opened, home, backend):
    logged(home)
    app = opened("attention_maps")
    logged(home, steps=[30])
    app.run()
    assert "Step 30 of run" in words(app)
    assert [one.data.split("@")[1] for one in backend.submitted.values()] == ["20", "30"]


def test_the_slider_goes_back_and_a_play_begins_at_the_first_step(opened, home):
    logged(home)
    app = opened("attention_maps", source="log:run", map="1.2")
    app.select_slider("maps-step").set_value(10).run()
    assert link(app) == {"source": "log:run", "map": "1.2", "step": "10"}
    assert "Step 10 of run" in words(app)
    app.select_slider("maps-step").set_value(-1).run()
    assert "step" not in link(app)
    app.button("maps-play").click().run()
    assert app.button("maps-play").label == "Pause"
    app.button("maps-play").click().run()
    assert app.button("maps-play").label == "Play"


def test_the_entropies_are_those_of_the_selected_layer(opened, home, chart_rows):
    logged(home)
    app = opened("attention_maps", source="log:run", map="1.2")
    (rows,) = next(found for found in chart_rows(app, "x", "y", "series") if found)
    assert {row["series"] for row in rows} == {
        "layer 1 · mean", *(f"layer 1 · head {head}" for head in (1, 2, 3)),
    }  # fmt: skip
    at = {row["series"]: row["y"] for row in rows if row["x"] == 10}
    nats = torch.special.entr(weights(10)[0, 1]).sum(-1).mean().item()
    assert at["layer 1 · head 2"] == pytest.approx(nats, abs=1e-3)
    assert "Blue is the map that is shown" in words(app)
    app = opened("attention_maps", source="log:run", map="1.mean")
    assert "blue is the mean of their entropies" in words(app)
    assert "Blue is the map that is shown" not in words(app)


def test_what_is_subtracted_begins_with_the_first_step(opened, home, chart_rows):
    logged(home)
    app = opened("attention_maps", source="log:run")
    app.selectbox("attention_maps-other").set_value("log:run").run()
    assert not app.exception
    assert link(app) == {"source": "log:run", "other": "log:run", "other_step": "0"}
    assert "They differ most at" in words(app)
    (cells,) = chart_rows(app, "q", "k", "value")[-1]
    wanted = (weights(20) - weights(0))[1].mean(0)
    assert cells[0]["value"] == pytest.approx(wanted[0, 0].item(), abs=0.01)
    app.select_slider("maps-other-step").set_value(10).run()
    assert link(app)["other_step"] == "10"


def test_a_file_takes_tokens_and_says_what_is_wrong(opened):
    data = uploaded(weights().numpy())
    app = opened("attention_maps", source=data)
    assert not app.exception
    assert colours(app) == ["Colours of attention weight from 0 to 1"]
    assert app.text_input("attention_maps-queries").placeholder == "as in the file"
    app.text_input("attention_maps-queries").set_value("the cat sat").run()
    assert "need 4 query labels, got 3" in words(app)
    app.text_input("attention_maps-queries").set_value("the cat sat down").run()
    app.text_input("attention_maps-keys").set_value("1 2 3 4 5").run()
    assert "need" not in words(app)
    assert link(app)["queries"] == "the cat sat down"


def test_sums_are_doubted_and_other_files_refused(opened):
    given = weights(layers=1)
    given[0, 0, 0] *= 0.5
    app = opened("attention_maps", source=uploaded(given.numpy()))
    assert r"a row sums to 0\.500" in words(app)
    assert "not sure" in words(app)
    app = opened("attention_maps", source=uploaded(np.ones(3)))
    assert r"got shape (3,)" in words(app)
    app = opened("attention_maps", source="log:gone")
    assert "is not on this server" in words(app)
