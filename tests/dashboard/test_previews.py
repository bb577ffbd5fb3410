"""What a link shows where it is shared."""

import io
from types import SimpleNamespace

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard import previews, serving
from dashboard.headers import SERVER_IS
from dashboard.storage.files import StorageError

PAGE = '<html lang="en"><head><title>Streamlit</title></head><body>é</body></html>'
RUN = "0123456789abcdef" * 2
BARE = "f" * 32
WORDY = "d" * 32
ODD = "c" * 32
PNG = b"\x89PNG picture"


def page(request):
    own = {"etag": '"1"', "x-asked": " ".join([*request.headers, *request["extensions"]])}
    status = int(request.query_params.get("status", 200))
    return HTMLResponse(PAGE, status_code=status, headers=own)


def script(request):
    return Response("let title = '<title>x</title>'", media_type="text/javascript")


@pytest.fixture
def client(monkeypatch):
    """An app that answers as Streamlit does, and a store of two runs."""
    held = {
        RUN: SimpleNamespace(name='Mine & "yours" <b>', note="What\nI saw. ", picture="a" * 64),
        BARE: SimpleNamespace(name="Bare", note="", picture=""),
        WORDY: SimpleNamespace(name="Wordy", note="w" * 1000, picture=""),
        ODD: SimpleNamespace(name='</style><script> "x" \\', note="", picture=""),
        "x": SimpleNamespace(name="No id", note="", picture="a" * 64),
    }

    def find(id):
        if id == "e" * 32:
            raise StorageError("the store cannot be read")
        return held[id]

    store = SimpleNamespace(find=find, picture=lambda run: PNG if run.picture else b"")
    monkeypatch.setattr(previews, "run_store", lambda: store)
    routes = [
        *previews.routes(),
        Route("/static/a.js", script),
        Route("/{path:path}", page, methods=["GET", "POST"]),
    ]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(previews.Previews)]),
        base_url="http://host:8501",
    )


def test_a_page_says_its_name_and_what_it_is_for(client):
    answer = client.get("/translation?a=additive")
    assert "<title>Translation · Attention Workbench</title>" in answer.text
    assert (
        '<meta property="og:title" content="Translation · Attention Workbench" />' in answer.text
    )
    assert 'og:description" content="One sentence through several trained models' in answer.text
    assert 'property="og:image" content="http://host:8501/preview.png"' in answer.text
    assert answer.text.endswith("<body>é</body></html>")
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers
    assert answer.headers["vary"] == "accept-language, cookie"


def test_a_page_is_asked_for_whole_and_unpacked(client):
    """A packed page, a part of one, or none since it is the same could not be given a head."""
    own = {
        "accept-encoding": "gzip", "range": "bytes=0-9", "if-none-match": '"1"',
        "if-modified-since": "Mon, 23 Nov 2026 06:00:00 GMT", "accept-language": "en",
    }  # fmt: skip
    asked = client.get("/train", headers=own).headers["x-asked"].split()
    assert {*asked} & {*own} == {"accept-language"}
    assert "http.response.debug" not in asked  # nor by a server that would send a file instead


def test_a_page_below_a_folder_of_the_server_is_known(client, monkeypatch):
    monkeypatch.setattr(previews.st, "get_option", lambda name: "/class/")
    text = client.get(f"/class/runs?id={RUN}").text
    assert f'content="http://host:8501/class/preview/{RUN}.png"' in text


def test_the_bare_address_is_the_first_page(client):
    assert "<title>Start · Attention Workbench</title>" in client.get("/").text


@pytest.mark.parametrize(
    ("query", "browser", "tag"),
    [
        ("", "", "en"), ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"), ("", "fr-FR", "en"),
        ("?lang=zh", "en-GB", "zh-Hans"), ("?lang=en", "zh-CN", "en"),
        ("?lang=x", "zh", "zh-Hans"),
    ],
)  # fmt: skip
def test_the_page_says_its_language(client, query, browser, tag):
    answer = client.get(f"/train{query}", headers={"accept-language": browser})
    assert answer.text.startswith(f'<html lang="{tag}">')


@pytest.mark.parametrize(("query", "tag"), [("", "zh-Hans"), ("?lang=en", "en")])
def test_the_page_says_the_language_that_was_chosen_before(client, query, tag):
    client.cookies.set("attention_language", "zh")
    answer = client.get(f"/train{query}", headers={"accept-language": "en-GB"})
    assert answer.text.startswith(f'<html lang="{tag}">')


@pytest.mark.parametrize(
    ("query", "drawing", "opening"),
    [
        ("?lang=en", "Loading …", "Loading Translation …"),
        ("?lang=zh", "正在加载……", "正在加载“翻译”……"),
    ],
)
def test_the_page_says_what_it_waits_for_before_any_script(client, query, drawing, opening):
    text = client.get(f"/translation{query}").text
    style = text[text.index("<style>") : text.index("</style>")]
    assert f':root {{ --drawing: "{drawing}"; --opening: "{opening}"; --gone: "' in style
    assert "#root:empty::before" in style
    assert text.index("</style>") < text.index("</head>")


def test_every_page_but_the_first_says_where_its_server_is(client):
    script = f"<script>{SERVER_IS}</script>"
    assert script in client.get("/train").text
    assert script not in client.get("/").text


@pytest.mark.parametrize(("query", "noted"), [("", 0), ("?embed=true", 1), ("?embed=false", 0)])
def test_a_page_notes_that_it_is_embedded(client, query, noted):
    assert client.get(f"/train{query}").text.count('<html lang="en" data-embed>') == noted


def test_a_runs_name_stays_within_the_words_of_the_style_sheet(client):
    text = client.get(f"/runs?id={ODD}").text
    assert text.count("</style>") == 1
    told = r"""--opening: "Loading \3c /style>\3c script> \"x\" \\ …"; --gone: """
    assert told in text


def test_a_run_has_its_name_its_note_and_its_picture(client):
    text = client.get(f"/runs?id={RUN}").text
    assert "<title>Mine &amp; &quot;yours&quot; &lt;b&gt;</title>" in text
    assert 'property="og:title" content="Mine &amp; &quot;yours&quot; &lt;b&gt;"' in text
    assert 'property="og:description" content="What I saw."' in text
    assert f'property="og:image" content="http://host:8501/preview/{RUN}.png"' in text
    assert 'property="og:image:alt" content="The first charts of this run"' in text
    assert 'content="summary_large_image"' in text
    picture = client.get(f"/preview/{RUN}.png")
    assert picture.content == PNG
    assert picture.headers["content-type"] == "image/png"
    assert picture.headers["cache-control"] == "public, max-age=86400"  # a run never changes


@pytest.mark.parametrize(
    ("forwarded", "scheme"), [("https", "https"), ("https, http", "https"), ("data", "http")]
)
def test_behind_a_proxy_the_picture_has_the_address_of_the_visitor(client, forwarded, scheme):
    text = client.get(f"/runs?id={RUN}", headers={"x-forwarded-proto": forwarded}).text
    assert f'content="{scheme}://host:8501/preview/{RUN}.png"' in text


def test_a_long_note_is_cut(client):
    text = client.get(f"/runs?id={WORDY}").text
    assert f'property="og:description" content="{"w" * 300}"' in text


def test_a_run_is_shown_by_its_own_page_alone(client):
    assert "<title>Translation ·" in client.get(f"/translation?id={RUN}").text


def test_a_run_without_a_picture_or_a_note_says_what_it_is(client):
    text = client.get(f"/runs?id={BARE}").text
    assert 'property="og:image" content="http://host:8501/preview.png"' in text
    assert "this run has no picture of its own" in text
    assert "A page of the Attention Workbench, as it was kept." in text


@pytest.mark.parametrize("id", ["a" * 32, "e" * 32, "x"])
def test_what_is_no_run_is_the_page_of_runs_and_has_no_picture(client, id):
    text = client.get("/runs", params={"id": id}).text
    assert "<title>Runs · Attention Workbench</title>" in text
    assert 'content="http://host:8501/preview.png"' in text
    assert client.get(f"/preview/{id}.png").status_code == 404


def test_nothing_but_pages_is_touched(client):
    assert client.get("/static/a.js").text == "let title = '<title>x</title>'"
    assert client.get("/elsewhere").text == PAGE
    assert client.head("/translation").text == ""
    assert client.post("/translation").text == PAGE
    assert client.get("/translation?status=500").text == PAGE


def test_the_server_uses_them():
    chosen = serving.options()
    assert previews.Previews in [each.cls for each in chosen["middleware"]]
    assert previews.routes()[0].path in [route.path for route in chosen["routes"]]


def test_the_picture_of_all_other_links_has_the_size_that_the_head_names(client):
    answer = client.get("/preview.png")
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content), formats=["PNG"]) as opened:
        width, height = opened.size
    text = client.get("/").text
    assert f'property="og:image:width" content="{width}"' in text
    assert f'property="og:image:height" content="{height}"' in text
