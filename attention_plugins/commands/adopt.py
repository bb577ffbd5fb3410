"""Fetch it, try it, and say what it is called."""

import argparse
import sys
from pathlib import Path

from attention_plugins.checkpoints import name_of
from attention_plugins.commands.common import show
from attention_plugins.huggingface.families import FAMILIES
from attention_plugins.huggingface.fetch import adopt
from attention_plugins.huggingface.folder import NUMBERS

_NOTE = ("corpus", "source", "target", "prefix")

COMPUTED = {
    "model": {
        "help": "a repository such as Helsinki-NLP/opus-mt-en-fr, or a folder; of a family such "
        f"as {', '.join(FAMILIES)}, or of another one that attends by way of the library's "
        "attention interface"
    }
}


def run(given: argparse.Namespace) -> None:
    """Bring a text model of Hugging Face home as a checkpoint."""
    begins = "trying" if Path(given.model).is_dir() else "fetching and trying"
    print(f"{begins} {given.model}, which may take minutes if it is large", file=sys.stderr)
    note = {name: getattr(given, name) for name in _NOTE}
    kept = adopt(given.model, given.name, note, revision=given.revision, overwrite=given.overwrite)
    facts = {"checkpoint": name_of(kept.folder), "folder": str(kept.folder),
             "kind": kept.kind, **kept.card["adopted"]}  # fmt: skip
    at = f" at {facts['revision']}" if facts["revision"] else ""
    known = "" if facts["repository"] == facts["checkpoint"] and not at else facts["repository"]
    lines = [", ".join(filter(None, (facts["family"], known + at, f"in {kept.folder}")))]
    if kept.card["tokeniser"] == NUMBERS:
        last = int(kept.config.get("vocab_size") or 1) - 1
        lines.append(f"It came without a tokenizer: its tokens are numbers, 0 to {last}.")
    page = "translation" if kept.kind == "encoder-decoder" else "language_models"
    lines.append(f"See it: /{page}?a={facts['checkpoint']}, below the address of the dashboard")
    lines.append("A dashboard that runs already finds it when you press Reload plugins there.")
    show(given, facts, [f"{facts['checkpoint']}: {lines[0]}", *lines[1:]])
