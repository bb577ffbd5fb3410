"""A folder with distributions in it, as installing their wheels would leave it."""

from __future__ import annotations

import textwrap


def install(site, distribution, source, version="1.2.3"):
    """A module and what is known of its distribution, as a wheel leaves them; one is replaced."""
    module = distribution.replace("-", "_")
    (site / f"{module}.py").write_text(textwrap.dedent(source), "utf-8")
    info = site / f"{module}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    about = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (info / "METADATA").write_text(about, "utf-8")
    (info / "entry_points.txt").write_text(f"[attention_plugins]\n{module} = {module}\n", "utf-8")
