"""Every text that visitors read is marked for translation, and translated."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from string import Formatter

import polib
import pytest

from dashboard.language import ENGLISH, languages
from dashboard.language.catalogues import files
from tests.support.bare_texts import bare_texts, of_source, pages
from tests.support.texts import IN_TABLES, ROOT, catalogues, texts

FOREIGN = sorted(set(languages()) - {ENGLISH})
# A sentence of English: three words in a row, none of them a name or code.
_SENTENCE = re.compile(r"(?<![\w'\"./])(?:[A-Za-z]?[a-z]+ ){2,}[a-z]+(?![\w(=./])")

_EXAMPLE = re.compile(
    r"`[^`]*`|\$[^$]*\$|“[^”]*”|‘[^’]*’|'[^']*'|\{[^}]*\}|python -\w .*|attention-workbench .*"
)


def placeholders(text: str) -> set[str]:
    """The names of a text's placeholders; none of one whose braces are TeX's."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return set()


@pytest.mark.parametrize("language", FOREIGN)
def test_every_text_has_its_translation_and_no_catalogue_has_others(language):
    wrong = []
    for folder in catalogues():
        path, wanted = folder / f"{language}.po", texts(folder)
        held = {entry.msgid: entry for entry in polib.pofile(str(path))} if path.exists() else {}
        at = folder.relative_to(ROOT).as_posix()
        wrong += [f"{at}: no entry {one!r}, {wanted[one].place}" for one in wanted.keys() - held]
        wrong += [f"{at}: nobody says {one!r} any more" for one in held.keys() - wanted.keys()]
        wrong += [
            f"{at}: {one!r} is {'one' if wanted[one].many else 'no'} text of a number"
            for one in held.keys() & wanted.keys()
            if held[one].msgid_plural != wanted[one].many
        ]
    assert not wrong, "\n".join(["python -m tests.translations adds and removes:", *sorted(wrong)])


@pytest.mark.parametrize("language", FOREIGN)
def test_translations_are_whole_and_have_the_placeholders_of_the_english(language):
    wrong = []
    for path in files(language):
        at = path.relative_to(ROOT).as_posix()
        for entry in polib.pofile(str(path)):
            said = [*entry.msgstr_plural.values()] if entry.msgid_plural else [entry.msgstr]
            meant = placeholders(entry.msgid) | placeholders(entry.msgid_plural)
            if not all(said):
                wrong.append(f"{at}: no translation of {entry.msgid!r}")
            elif any(placeholders(each) != meant for each in said):
                wrong.append(f"{at}: other placeholders in {said} than in {entry.msgid!r}")
            elif any(map(left_in_english, said)):
                wrong.append(f"{at}: English in {said}")
    assert not wrong, "\n".join(wrong)


_UNCHINESE = re.compile(r"您|[。，；：！？] +(?=[一-鿿])|[一-鿿][,;:!?](?=[\s一-鿿]|$)")
_ENDS = re.compile(r"[。，；：！？]\*\* *[一-鿿]|[A-Za-z0-9}]\*\*[一-鿿]")


def unchinese(text: str) -> bool:
    """Whether a reader is not 你, signs are narrow or have blanks behind them, or bold ends badly.

    Markdown closes no bold text at a sign before a character; after letters a blank is due.
    """
    bold = text.split("**")
    ends = (f"{held}**{after}" for held, after in zip(bold[1::2], bold[2::2], strict=False))
    return bool(_UNCHINESE.search(text) or any(map(_ENDS.search, ends)))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("**对。**好", True), ("**对。** 好", True), ("**对**。好", False), ("对。 好", True),
        ("头, 键", True), ("头，键", False), ("**头 5**对", True), ("**头 5** 对，**键**", False),
        ("您的头", True),
    ],
)  # fmt: skip
def test_chinese_that_is_not_set_as_chinese_is_found(text, wrong):
    assert unchinese(text) == wrong


def test_chinese_is_set_as_chinese():
    wrong = [
        f"{path.relative_to(ROOT).as_posix()}: {said}"
        for path in files("zh")
        for entry in polib.pofile(str(path))
        for said in (entry.msgstr, *entry.msgstr_plural.values())
        if unchinese(said)
    ]
    assert not wrong, "\n".join(wrong)


def formatted(text: str) -> list[tuple[str, str]]:
    """The placeholders of a text with their formats, in order; dates have their own in each."""
    try:
        found = [(name, spec or "") for _, name, spec, _ in Formatter().parse(text) if name]
    except ValueError:
        return []
    return [(name, "%" if spec.startswith("%") else spec) for name, spec in found]


def wrong_roles(entry: polib.POEntry) -> str:
    """Whether placeholders may have changed places; the sentence is empty if nothing is wrong.

    A translation may need another order than the English has: `# order: a b` above the entry says
    that somebody compared them, and holds what was found right.
    """
    english = formatted(entry.msgid_plural or entry.msgid)
    said = [*entry.msgstr_plural.values()] if entry.msgid_plural else [entry.msgstr]
    noted = [line.removeprefix("order:").split() for line in entry.tcomment.splitlines()
             if line.startswith("order:")]  # fmt: skip
    expected = noted[0] if noted else [name for name, _ in english]
    for one in map(formatted, said):
        if [name for name, _ in one] != expected:
            return f"has {one} instead of {expected}"
        if set(one) != set(english):
            return f"formats {one}, the English {english}"
        if noted and len(said) == 1 and noted[0] == [name for name, _ in english]:
            return "has the order of the English and needs no note"
    return ""


@pytest.mark.parametrize("language", FOREIGN)
def test_placeholders_keep_their_roles(language):
    wrong = [
        f"{path.relative_to(ROOT).as_posix()}: {entry.msgid!r} {problem}"
        for path in files(language)
        for entry in polib.pofile(str(path))
        if (problem := wrong_roles(entry))
    ]
    assert not wrong, "\n".join(["compare, and note a reviewed order, # order: a b:", *wrong])


@pytest.mark.parametrize(
    ("said", "note", "right"),
    [
        ("{a:g} und {b}", "", True), ("{b} und {a:g}", "", False), ("{a} und {b}", "", False),
        ("{b} und {a:g}", "order: b a", True), ("{a:g} und {b}", "order: b a", False),
        ("{a:g} und {b}", "order: a b", False), ("{a:g}", "", False),
    ],
)  # fmt: skip
def test_exchanged_placeholders_are_found(said, note, right):
    entry = polib.POEntry(msgid="{a:g} and {b}", msgstr=said, tcomment=note)
    assert (not wrong_roles(entry)) == right


# What is the same in every language: numbers, code, formulas, signs, names of options.
_SAME = re.compile(
    r"[0-9]+(?:[.,][0-9]+)*|`[^`]+`|\$[^$]+\$|:material/\w+:|https?://[^\s)]+|[↑↓→±]"
    r"|(?<![\w-])--[a-z-]+|[A-Z]+_[A-Z_]+"
)
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def lost(entry: polib.POEntry) -> list[str]:
    """What stands in the English and not in a translation, though it needs none."""
    said = [*entry.msgstr_plural.values()] if entry.msgid_plural else [entry.msgstr]
    english, *others = (
        Counter(_SAME.findall(_PLACEHOLDER.sub(" ", text)))
        for text in (entry.msgid_plural or entry.msgid, *said)
    )
    return [same for other in others for same in english - other]


@pytest.mark.parametrize("language", FOREIGN)
def test_numbers_code_and_formulas_are_those_of_the_english(language):
    wrong = [
        f"{path.relative_to(ROOT).as_posix()}: no {', '.join(missing)} in that of {entry.msgid!r}"
        for path in files(language)
        for entry in polib.pofile(str(path))
        if (missing := lost(entry))
    ]
    assert not wrong, "\n".join(wrong)


def left_in_english(translation: str) -> bool:
    """Whether a translation has a sentence of English, outside code, quotes and examples."""
    return bool(_SENTENCE.search(_EXAMPLE.sub("", translation)))


def test_no_text_reaches_a_visitor_without_gettext():
    found = [text for path in pages() for text in bare_texts(path)]
    assert not found, "\n".join(["mark these by gettext:", *found])


def unsaid(table, key=""):
    """The sentences of a table that stand under a key whose texts no catalogue has."""
    if isinstance(table, dict):
        # Terms are the glossary's; papers keep their titles, and examples are of their languages.
        read = {*IN_TABLES, "terms", "reference", "examples"}
        return [text for name, held in table.items() if name not in read
                for text in unsaid(held, name)]  # fmt: skip
    held = table if isinstance(table, list) else [table]
    return [f"{key}: {text}" for text in held if _SENTENCE.search(str(text))]


def test_no_sentence_of_a_table_stands_under_a_key_that_no_catalogue_reads():
    assert unsaid({"a": {"hint": "a text of some words", "help": "a text of some words"}}) == [
        "hint: a text of some words"
    ]
    every = [*ROOT.glob("dashboard/**/*.toml"), *ROOT.glob("attention_plugins/**/*.toml")]
    # Works have names of people and journals.
    others = ("glossary.toml", "words.toml", "works.toml")
    tables = [path for path in every if path.name not in others]
    assert len(tables) > 10
    assert not [
        f"{path.relative_to(ROOT)}, {text}"
        for path in tables
        for text in unsaid(tomllib.loads(path.read_text("utf-8")))
    ]


def is_said(node):
    return isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "_SAID"


def misused(source, said):
    """What a module does wrong with its table of texts, ``_SAID``; the keys that it uses."""
    tree = ast.parse(source)
    used = [node.slice for node in ast.walk(tree) if is_said(node)]
    keys = {text.value for key in used for text in ast.walk(key) if isinstance(text, ast.Constant)}
    wrong = [f"no text {key!r}" for key in keys - said.keys()]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = {each.arg: each.value for each in call.keywords}
        text = given.pop(None, None) or next(iter(call.args), getattr(call.func, "value", None))
        if is_said(text) and isinstance(text.slice, ast.Constant) and text.slice.value in said:
            form = said[text.slice.value]
            counted = isinstance(form, dict)  # for one and for many
            meant = placeholders("".join(form.values()) if counted else form)
            meant |= {"count"} if counted else set()
            if given.keys() != meant:
                wrong.append(f"{text.slice.value!r} is given {sorted(given)}")
    return wrong, keys


def test_texts_of_tables_are_all_said_and_with_their_values():
    said = {"a": "{n} of {m}", "b": "", "d": {"one": "{k}", "many": "{count} {k}"}}
    assert misused('gettext(_SAID["a"], n=1); f(_SAID["b" if n else "c"])', said) == (
        ["no text 'c'", "'a' is given ['n']"], {"a", "b", "c"},
    )  # fmt: skip
    assert misused('ngettext(**_SAID["d"], count=1, k=2)', said) == ([], {"d"})
    assert misused('ngettext(**_SAID["d"], count=1)', said)[0] == ["'d' is given ['count']"]
    assert misused('_SAID["a"].format(n=1)', said)[0] == ["'a' is given ['n']"]
    every = [*ROOT.glob("dashboard/**/*.py"), *ROOT.glob("attention_plugins/checking/**/*.py")]
    modules = [path for path in every if "\n_SAID = " in path.read_text("utf-8")]
    assert len(modules) > 30
    for path in modules:
        said = tomllib.loads(path.with_name("words.toml").read_text("utf-8"))[path.stem]
        wrong, keys = misused(path.read_text("utf-8"), said)
        assert not wrong, f"{path}: {wrong}"
        assert keys == said.keys(), f"{path} never says {said.keys() - keys}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('st.button("Keep")', ["Keep"]),
        ('st.button(gettext("Keep"), help="Stores it.")', ["Stores it."]),
        ('shown.caption(f"{n} of {m} heads")', ["{} of {} heads"]),
        ('shown.caption(f"{n} / {m}")', []),
        ('place.tabs(["One", gettext("Two")])', ["One"]),
        ('st.button("Off" if on else gettext("On"))', ["Off"]),
        ('st.markdown(":material/info: **Note** " + text)', [":material/info: **Note** "]),
        ('st.button(label, icon=":material/add:", key="add a panel")', []),
        ('st.markdown("$a_i$")', []),
        ('Parameter(name="n", title="Heads", default=1)', []),
        ('alt.X("x", title="key")', ["key"]),
        ('log.warning("a job was lost")', []),
    ],
)
def test_bare_texts_are_found(source, found):
    assert [text for _, text in of_source(source)] == found
