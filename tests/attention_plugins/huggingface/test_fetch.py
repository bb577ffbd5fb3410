"""Bringing a model home: what is taken, from which commit, and what is left where it is."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.huggingface import fetch

CONFIG = {"model_type": "bart", "is_encoder_decoder": True, "vocab_size": 7}
COMMIT = "ab" * 20


class Hub:
    """Stands in for the Hub's client: one repository, kept in a folder."""

    def __init__(self, folder):
        self.folder, self.asked = folder, []

    def model_info(self, repository, revision):
        self.revision = revision
        if repository != "someone/tiny":
            raise ConnectionError("Name or service not known")
        files = [SimpleNamespace(rfilename=path.name) for path in sorted(self.folder.iterdir())]
        return SimpleNamespace(id="now/called", sha=COMMIT, siblings=files)

    def download(self, repository, name, *, revision, local_dir):
        self.asked.append((name, revision))
        (local_dir / name).write_bytes((self.folder / name).read_bytes())


@pytest.fixture
def hub(monkeypatch, tmp_path):
    import huggingface_hub

    (folder := tmp_path / "theirs").mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    for name in ("model.safetensors", "tokenizer.json", "pytorch_model.bin", "modeling.py"):
        (folder / name).write_bytes(name.encode())
    stand_in = Hub(folder)
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: stand_in)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", stand_in.download)
    monkeypatch.setattr(fetch, "_try", lambda adopted: None)  # test_translator.py does it for real
    return stand_in


def test_what_comes_from_the_hub_is_of_one_commit_that_is_kept(hub, tmp_path):
    kept = fetch.adopt("someone/tiny", "", {"source": "en", "corpus": ""}, revision="main")
    assert hub.asked == [
        (name, COMMIT)
        for name in ("config.json", "config.json", "tokenizer.json", "model.safetensors")
    ]
    assert kept.folder == tmp_path / "home" / "checkpoints" / "tiny"
    assert {path.name for path in kept.folder.iterdir()} == {
        "config.json", "tokenizer.json", "model.safetensors", "adopted.json",
    }  # fmt: skip
    assert kept.card["adopted"]["revision"] == COMMIT
    assert (hub.revision, kept.note["repository"]) == ("main", "now/called")
    assert kept.note["source"] == "en"
    assert "corpus" not in kept.note
    digest = hashlib.sha256(b"model.safetensors").hexdigest()
    assert kept.note["weights_sha256"] == {"model.safetensors": digest}


def test_weights_in_parts_are_taken_where_there_is_no_whole_and_the_clients_cache_is_not(
    hub, monkeypatch
):
    names = {"model-1-of-2.safetensors", "model-2-of-2.safetensors"}
    for name in names:
        (hub.folder / name).write_bytes(b"")
    download = hub.download

    def with_cache(repository, name, *, revision, local_dir):
        (local_dir / ".cache").mkdir(exist_ok=True)
        download(repository, name, revision=revision, local_dir=local_dir)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", with_cache)
    kept = fetch.adopt("someone/tiny", "", {"corpus": "数"})
    assert "数" in (kept.folder / "adopted.json").read_text("utf-8")
    assert set(kept.note["weights_sha256"]) == {"model.safetensors"}
    assert hub.revision is None
    (hub.folder / "model.safetensors").rename(hub.folder / "model.safetensors.index.json")
    kept = fetch.adopt("someone/tiny", "", {}, overwrite=True)
    assert set(kept.note["weights_sha256"]) == names
    assert {path.name for path in kept.folder.iterdir()} == names | {
        "config.json", "tokenizer.json", "model.safetensors.index.json", "adopted.json",
    }  # fmt: skip


def test_weights_are_not_fetched_of_what_cannot_be_read(hub):
    (hub.folder / "config.json").write_text(json.dumps({**CONFIG, "is_encoder_decoder": False}))
    with pytest.raises(CheckpointError, match="someone/tiny of the Hub holds a 'bart' model"):
        fetch.adopt("someone/tiny", "", {})
    assert [name for name, _ in hub.asked] == ["config.json"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "someone/else",
            "^there is no folder someone/else here, and it cannot be fetched from the Hub: "
            "Name or service not known; nothing was kept",
        ),
        ("https://x/y/z", "need a folder or a repository such as"),
        ("someone/tiny", "has no safetensors.*--revision refs/pr/"),
    ],
)
def test_what_cannot_be_adopted_leaves_nothing(hub, tmp_path, given, message):
    (hub.folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=message):
        fetch.adopt(given, "", {})
    assert not (tmp_path / "home" / "checkpoints").exists()
    assert not list((tmp_path / "home").glob("adopting/*"))


def test_an_error_without_words_is_named():
    with (
        pytest.raises(CheckpointError, match="from the Hub: RuntimeError; nothing was kept"),
        fetch._explained("someone/tiny", "the Hub", ""),
    ):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "said", "message"),
    [
        ("RevisionNotFoundError", "404", "has no revision 'v9'"),
        ("GatedRepoError", "401", "asks for consent on its page first"),
        ("RepositoryNotFoundError", "404", "there is no folder someone/tiny here, and no"),
        ("HfHubHTTPError", "503\nmore", "cannot be read: 503$"),
        ("HfHubHTTPError", "\n", "cannot be read: Raised$"),
        (None, "", "names no commit for revision 'v9'"),
    ],
)
def test_what_the_hub_refuses_is_said_in_a_sentence(hub, monkeypatch, error, said, message):
    from huggingface_hub import errors

    def refuse(*_, **__):
        if error is None:
            return SimpleNamespace(id="", sha=COMMIT[:-1], siblings=[])
        kind = type("Raised", (getattr(errors, error),), {"__str__": lambda self: said})
        raise kind.__new__(kind)

    monkeypatch.setattr(hub, "model_info", refuse)
    with pytest.raises(CheckpointError, match=message):
        fetch.adopt("someone/tiny", "", {}, revision="v9")


class CutOff(BaseHTTPRequestHandler):
    """Answers as the Hub does, and hangs up in the middle of the weights."""

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self.wfile.write(self._answer())

    def _answer(self):
        name, files = self.path.rpartition("/")[2], self.server.files
        siblings = [{"rfilename": each} for each in files]
        info = json.dumps({"id": "someone/tiny", "sha": COMMIT, "siblings": siblings}).encode()
        content = files.get(name, info)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", hashlib.sha256(content).hexdigest())
        self.end_headers()
        return content[:1009] if name.endswith(".safetensors") else content

    def log_message(self, *_):
        """Tests print nothing."""


def test_a_download_that_is_cut_leaves_nothing_and_says_to_try_again(monkeypatch, tmp_path):
    from huggingface_hub import constants, file_download

    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(file_download.time, "sleep", lambda seconds: None)
    with ThreadingHTTPServer(("127.0.0.1", 0), CutOff) as server:
        server.files = {
            "config.json": json.dumps(CONFIG).encode(),
            "model.safetensors": bytes(7001),
        }
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(constants, "ENDPOINT", address)
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace("https://huggingface.co", address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            with pytest.raises(CheckpointError, match=r"received 1009 bytes.* try again, or"):
                fetch.adopt("someone/tiny", "", {})
        finally:
            server.shutdown()
            thread.join()
    assert [path.name for path in tmp_path.rglob("*")] == ["adopting"]


def test_all_that_a_tokenizer_may_be_read_from_is_taken(hub):
    names = {
        "generation_config.json", "tokenizer_config.json", "special_tokens_map.json",
        "added_tokens.json", "vocab.json", "merges.txt", "vocab.txt", "source.spm", "target.spm",
        "spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model",
        "target_vocab.json",
    }  # fmt: skip
    for name in names:
        (hub.folder / name).write_text("{}")
    kept = fetch.adopt("someone/tiny", "", {})
    usual = {"config.json", "tokenizer.json", "model.safetensors", "adopted.json"}
    assert {path.name for path in kept.folder.iterdir()} == names | usual


def test_a_folder_is_copied_without_code_and_never_over_another(hub, tmp_path, monkeypatch):
    (hub.folder / "vocab.txt").mkdir()  # it is no file
    kept = fetch.adopt(str(hub.folder), "mine", {})
    assert {path.name for path in kept.folder.iterdir()} == {
        "config.json", "tokenizer.json", "model.safetensors", "adopted.json",
    }  # fmt: skip
    assert (kept.card["title"], kept.card["adopted"]["revision"]) == ("theirs", "")
    with pytest.raises(CheckpointError, match="is there already; add --overwrite"):
        fetch.adopt(str(hub.folder), "mine", {})
    with pytest.raises(CheckpointError, match="is a folder, which has no revision"):
        fetch.adopt(str(hub.folder), "other", {}, revision="main")
    again = fetch.adopt(str(hub.folder), "mine", {"corpus": "few"}, overwrite=True)
    assert again.card["corpus"]["name"] == "few"
    monkeypatch.setenv("HOME", str(hub.folder.parent))
    assert fetch.adopt("~/theirs", "from_home", {}).note["repository"] == "theirs"
    monkeypatch.chdir(hub.folder)
    here = fetch.adopt(".", "", {})
    assert (here.folder.name, here.note["repository"]) == ("theirs", "theirs")
