"""Two browsers on one server: each is an owner, and a classroom shows without its controls."""

import re

import pytest

from dashboard.owners import COOKIE

pytestmark = pytest.mark.browser
PATIENCE = 90_000  # milliseconds
TOKEN = "the token of this very test"


@pytest.fixture(scope="module")
def school(server, tmp_path_factory):
    """A server that trusts nobody for using its machine, and shows only."""
    variables = {
        "ATTENTION_TRUST_LOCAL": "0", "ATTENTION_CLASSROOM": "1",
        "ATTENTION_ADMINISTRATOR_TOKEN": TOKEN,
    }  # fmt: skip
    with server(tmp_path_factory.mktemp("school"), **variables) as url:
        yield url


@pytest.fixture
def visitor(browser):
    """Opens an address in a browser that has never been here."""
    contexts = []

    def new(address):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield new
    for context in contexts:
        context.close()


def cookie(page):
    (found,) = [one for one in page.context.cookies() if one["name"] == COOKIE]
    return found


def test_a_browser_is_known_by_its_cookie_and_an_administrator_by_the_token(school, visitor):
    first, second = (visitor(f"{school}/server") for _ in range(2))
    for page in (first, second):
        page.get_by_text("You are: visitor").wait_for(timeout=PATIENCE)
        assert (cookie(page)["httpOnly"], cookie(page)["sameSite"]) == (True, "Lax")
        assert COOKIE not in page.evaluate("document.cookie")
    assert cookie(first)["value"] != cookie(second)["value"]
    before = cookie(first)["value"]
    first.reload()
    first.get_by_label("Administrator's token").fill(TOKEN)
    first.get_by_role("button", name="Administer this server").click()
    first.get_by_text("You are: administrator").wait_for(timeout=PATIENCE)
    assert cookie(first)["value"] == before


def test_a_link_opens_without_controls_until_they_are_asked_for(school, visitor):
    page = visitor(f"{school}/complexity")
    controls = page.locator(".st-key-complexity-controls").last
    page.locator('[data-testid="stVegaLiteChart"]').first.wait_for(timeout=PATIENCE)
    controls.wait_for(state="attached", timeout=PATIENCE)
    assert not controls.is_visible()
    page.get_by_text("Show the controls").click()
    controls.wait_for(state="visible", timeout=PATIENCE)


def test_a_page_that_a_class_moves_keeps_its_sliders(school, visitor):
    page = visitor(f"{school}/?a=gaussian&a.width=0.5&data=step")
    page.locator('[data-testid="stVegaLiteChart"]').first.wait_for(timeout=PATIENCE)
    page.locator(".st-key-regression-controls").last.wait_for(state="visible", timeout=PATIENCE)
    assert re.search(r"a\.width=0\.5", page.url)


def test_a_button_that_is_switched_off_can_be_read(school, visitor):
    page = visitor(f"{school}/train")
    button = page.locator(".st-key-train-start button")
    button.wait_for(timeout=PATIENCE)
    assert button.is_disabled()
    assert button.evaluate("(e) => getComputedStyle(e).color") != "rgb(255, 255, 255)"
