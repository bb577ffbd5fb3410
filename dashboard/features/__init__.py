"""The table of the workbench's own pages.

Each is named as its folder here, whose ``page.py`` declares ``PAGE``. Nothing outside this folder
imports any of them: they come in through :mod:`dashboard.pages`, as those of packages do.
"""

from dashboard.pages import Entry

# The first is where the bare address leads.
ENTRIES = {
    "start": Entry(
        title="Start", icon="home", section="",
        purpose="one slider over three scorings, and where to go from there",
    ),
    "regression": Entry(
        title="Kernel regression", icon="show_chart", section="Compare",
        purpose="several scorings over the same points, each a curve over its weights",
    ),
    "translation": Entry(
        title="Translation", icon="translate", section="Compare",
        purpose="one sentence through several trained models, with every head",
    ),
    "differences": Entry(
        title="Differences", icon="compare", section="Compare",
        purpose="models that write the same translation, map against map",
    ),
    "language_models": Entry(
        title="Language models", icon="psychology_alt", section="Compare",
        purpose="a prompt, the next words, and what each token of a text costs, with every head",
    ),
    "alignment": Entry(
        title="Alignment", icon="join_inner", section="Compare",
        purpose="alignment error rate of every head against gold alignments",
    ),
    "race": Entry(
        title="Race", icon="flag", section="Compare",
        purpose="which scoring is better at what, by how much, and whether that is chance",
    ),
    "swaps": Entry(
        title="Swaps", icon="swap_horiz", section="Compare",
        purpose="what another scoring costs a trained model, untuned and tuned",
    ),
    "training": Entry(
        title="Train", icon="model_training", path="train", section="Train",
        purpose="loss, speed and score while scorings learn",
    ),
    "experiment": Entry(
        title="Experiment", icon="science", section="Train",
        purpose="several scorings with several seeds each, everything else alike",
    ),
    "lessons": Entry(
        title="Lessons", icon="school", section="Understand",
        purpose="attention in ten short lessons that ask before they show",
    ),
    "heads": Entry(
        title="Heads", icon="toggle_on", section="Understand",
        purpose="where each head looks, and what the model says without it",
    ),
    "attention_maps": Entry(
        title="Attention maps", icon="grid_on", path="maps", section="Understand",
        purpose="a file of any model's weights, or the log of a training while it runs",
    ),
    "anatomy": Entry(
        title="Anatomy", icon="biotech", section="Understand",
        purpose="one attention step taken apart, number by number",
    ),
    "positions": Entry(
        title="Positional encoding", icon="waves", section="Understand",
        purpose="sines and cosines that tell positions apart",
    ),
    "complexity": Entry(
        title="Complexity", icon="timer", section="Understand",
        purpose="what convolution, recurrence and self-attention cost",
    ),
    "norms": Entry(
        title="Normalisation", icon="align_vertical_center", path="normalisation",
        section="Understand", purpose="layer norm beside batch norm",
    ),
    "runs": Entry(
        title="Runs", icon="bookmark", section="Kept",
        purpose="runs that were kept or imported",
    ),
    "plugins": Entry(
        title="Plugins", icon="extension", section="Extend",
        purpose="what is installed, what failed and why",
    ),
    "server": Entry(
        title="Server", icon="dns", section="Extend",
        purpose="who you are here; its work, limits and disk",
    ),
}  # fmt: skip
