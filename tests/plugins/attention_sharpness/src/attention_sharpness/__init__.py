"""A page of somebody else's: what a temperature does to attention weights."""

from dashboard.pages import Entry

ENTRY = Entry(
    title="Sharpness",
    icon="tune",
    section="Understand",
    purpose="how a temperature makes weights sharp or even",
)
