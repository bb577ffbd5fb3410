"""The columns of an uploaded table that cannot be used, named with the reason."""

from __future__ import annotations

from dashboard.language import gettext, gettext_noop
from dashboard.storage.table_format import TableFormat
from dashboard.ui.widgets import plain

_REASONS = {
    "empty": gettext_noop("{column} (no value)"),
    "text": gettext_noop("{column} (text, such as “{example}”)"),
    "point": gettext_noop("{column} (a decimal point, such as in {example})"),
    "comma": gettext_noop("{column} (a decimal comma, such as in {example})"),
}


def left_out(form: TableFormat | None) -> str:
    """Which columns are left out, and why, in Markdown; empty if none is.

    Args:
        form: of the table; None where there is none.
    """
    if form is None or not form.left_out:
        return ""
    columns = [
        gettext(
            _REASONS[each.why], column=f"*{plain(form.name(each.column))}*",
            example=plain(each.example),
        )
        for each in form.left_out
    ]  # fmt: skip
    return gettext("Left out: {columns}.", columns=", ".join(columns))
