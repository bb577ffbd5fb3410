import hashlib
import os
import zipfile

import pytest

from attention_plugins.contract import ContractError, SentencePair, settle
from attention_plugins.datasets import tatoeba
from attention_plugins.datasets.tatoeba import ADDRESS, MEMBER, TATOEBA, load_pairs
from attention_plugins.download import DownloadError

TEXT = "Go.\tVa\u202f!\nI'm home.\tJe suis chez moi.\nWho?\tQui ?\n"
PAIRS = [
    SentencePair("Go.", "Va\u202f!"),
    SentencePair("I'm home.", "Je suis chez moi."),
    SentencePair("Who?", "Qui ?"),
]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty data folder, and no corpus set in the environment."""
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ATTENTION_TATOEBA", raising=False)
    return tmp_path / "home"


def make_zip(path, members=((MEMBER, TEXT),), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", **{"compression": zipfile.ZIP_DEFLATED, **options}) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return path


def refuse_download(url, target, **_):
    raise DownloadError(f"cannot get {url}: offline")


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(tatoeba, "fetch", refuse_download)


def test_a_zip_is_read_whatever_its_hash(tmp_path):
    assert load_pairs(make_zip(tmp_path / "mine.zip")) == PAIRS
    stored = make_zip(tmp_path / "stored.zip", compression=zipfile.ZIP_STORED)
    assert load_pairs(stored, limit=2) == PAIRS[:2]


@pytest.mark.parametrize("inner", ["fra-eng/fra.txt", "fra.txt"])
def test_a_folder_is_read(tmp_path, inner):
    (tmp_path / "folder" / inner).parent.mkdir(parents=True)
    (tmp_path / "folder" / inner).write_text(TEXT, encoding="utf-8")
    assert load_pairs(tmp_path / "folder") == PAIRS


def test_a_path_goes_before_the_environment_and_that_before_the_download(
    tmp_path, monkeypatch, offline
):
    one, other = (TEXT, TEXT.replace("Who", "How"))
    monkeypatch.setenv("ATTENTION_TATOEBA", str(make_zip(tmp_path / "a.zip", [(MEMBER, one)])))
    assert load_pairs() == PAIRS
    assert load_pairs(make_zip(tmp_path / "b.zip", [(MEMBER, other)]))[2].source == "How?"
    monkeypatch.delenv("ATTENTION_TATOEBA")
    with pytest.raises(ContractError, match="offline"):
        load_pairs()


def test_a_download_goes_to_the_data_folder_and_is_used_again(tmp_path, home, monkeypatch):
    prepared = make_zip(tmp_path / "prepared.zip")
    monkeypatch.setattr(tatoeba, "SHA1", hashlib.sha1(prepared.read_bytes()).hexdigest())
    calls = []

    def fetch(url, target, *, sha1, progress):
        calls.append((url, target, sha1, progress))
        target.parent.mkdir(parents=True)
        os.replace(prepared, target)
        return target

    def progress(done, total):
        raise AssertionError("nothing calls it here")

    place = home / "corpora" / "fra-eng.zip"
    with monkeypatch.context() as patch:
        patch.setattr(tatoeba, "fetch", fetch)
        assert load_pairs(progress=progress) == PAIRS
    assert calls == [(ADDRESS, place, tatoeba.SHA1, progress)]
    # From here the real fetch finds the file in its place; its address leads nowhere.
    monkeypatch.setattr(tatoeba, "ADDRESS", "http://127.0.0.1:9/fra-eng.zip")
    assert load_pairs() == PAIRS


def test_offline_one_sentence_names_the_place(home, offline):
    with pytest.raises(ContractError) as refusal:
        load_pairs()
    assert str(refusal.value) == (
        f"no Tatoeba corpus: cannot get {ADDRESS}: offline; "
        f"or put d2l.ai's fra-eng.zip at {home / 'corpora' / 'fra-eng.zip'}, "
        "or set ATTENTION_TATOEBA to a zip or folder of your own"
    )


def test_a_zip_of_another_hash_in_the_data_folder_is_refused_and_kept(home):
    place = make_zip(home / "corpora" / "fra-eng.zip")
    before = place.read_bytes()
    with pytest.raises(ContractError, match=f"need {tatoeba.SHA1}; .* or set ATTENTION_TATOEBA"):
        load_pairs()
    assert place.read_bytes() == before


def encrypted(path):
    """The zip with the flag of encryption set in both of its headers."""
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + place] |= 1
    path.write_bytes(data)
    return path


def damaged(path):
    data = bytearray(path.read_bytes())
    middle = data.index(b"PK\x01\x02") // 2
    data[middle : middle + 20] = b"\x00" * 20
    path.write_bytes(data)
    return path


def lying(path):
    """The zip with a size of 10 bytes written for its member."""
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p, "cannot read {p}: No such file or directory; need a zip or a folder"),
        (lambda p: p.write_text(TEXT), "{p} is no sound zip file (File is not a zip file); need"),
        (lambda p: p.write_bytes(b""), "{p} is no sound zip file (File is not a zip file); need"),
        (lambda p: p.mkdir(), "found no fra.txt in {p}; need a zip or a folder with fra-eng/"),
        (
            lambda p: make_zip(p, [("fra.txt", TEXT), ("../fra-eng/fra.txt", TEXT)]),
            "found no fra-eng/fra.txt in {p}; need a zip or a folder with fra-eng/fra.txt in it",
        ),
        (lambda p: damaged(make_zip(p)), "{p} is no sound zip file ("),
        (
            lambda p: lying(make_zip(p)),
            "{p} is no sound zip file (Bad CRC-32 for file 'fra-eng/fra.txt'); need",
        ),
        (
            lambda p: encrypted(make_zip(p)),
            "fra-eng/fra.txt in {p} is encrypted or not packed by deflate; need a plain zip",
        ),
        (
            lambda p: make_zip(p, compression=zipfile.ZIP_LZMA),
            "fra-eng/fra.txt in {p} is encrypted or not packed by deflate; need a plain zip",
        ),
        (
            lambda p: make_zip(p, [(MEMBER, "Go.\tVa !\nno tab\n")]),
            "line 2 of fra-eng/fra.txt has one column; need source<TAB>target",
        ),
    ],
)
def test_a_bad_corpus_is_one_sentence(tmp_path, make, message):
    path = tmp_path / "corpus.zip"
    make(path)
    with pytest.raises(ContractError) as refusal:
        load_pairs(path)
    assert str(refusal.value).startswith(message.format(p=path))


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    path = make_zip(tmp_path / "bomb.zip", [(MEMBER, b"\n" * (tatoeba.MOST_UNPACKED + 1))])
    assert path.stat().st_size < 1_000_000
    with pytest.raises(
        ContractError, match="unpacks to 200,000,001 bytes; need at most 200,000,0"
    ):
        load_pairs(path)


def test_nothing_in_a_zip_reaches_the_disk(tmp_path, monkeypatch):
    names = (MEMBER, "../evil.txt", "/evil.txt", "fra-eng/../../evil.txt")
    path = make_zip(tmp_path / "sub" / "tricks.zip", [(name, TEXT) for name in names])
    monkeypatch.chdir(tmp_path / "sub")
    assert load_pairs(path) == PAIRS
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["sub", "tricks.zip"]


def test_the_data_set_reads_as_many_pairs_as_set(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_TATOEBA", str(make_zip(tmp_path / "a.zip")))
    assert TATOEBA.load(settle(TATOEBA.parameters, {}), 0) == PAIRS
    assert TATOEBA.load(settle(TATOEBA.parameters, {"pairs": 2}), 0) == PAIRS[:2]
    with pytest.raises(ContractError, match=r"need 0 \(all\) or 2 <= pairs, got 1 \(field "):
        TATOEBA.load(settle(TATOEBA.parameters, {"pairs": 1}), 0)
