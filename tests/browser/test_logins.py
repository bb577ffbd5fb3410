"""Two people log in at a provider with Chromium, and each owns what they make."""

import pytest
from support.provider import provider, write_secrets

pytestmark = pytest.mark.browser
PATIENCE = 90_000  # milliseconds
USERS = [{"sub": name, "email": f"{name}@school.example"} for name in ("ada", "bob")]


@pytest.fixture(scope="module")
def school(server, tmp_path_factory):
    """A server where one logs in, and that bob administers."""
    folder = tmp_path_factory.mktemp("school")
    with provider(*USERS) as address:
        write_secrets(folder, address)
        variables = {"HOME": str(folder), "ATTENTION_ADMINISTRATORS": "bob@school.example"}
        with server(folder, **variables) as url:
            yield url


@pytest.fixture
def member(school, browser):
    """``member("ada")``: the page Server in a browser where she has just logged in."""
    contexts = []

    def new(name):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.goto(f"{school}/server")
        page.get_by_text("You are: visitor").wait_for(timeout=PATIENCE)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("button", name=name, exact=True).click(timeout=PATIENCE)
        page.wait_for_url(f"{school}/")
        page.goto(f"{school}/server")
        page.get_by_text(f"{name}@school.example").wait_for(timeout=PATIENCE)
        return page

    yield new
    for context in contexts:
        context.close()


def test_two_who_log_in_each_own_what_they_train_and_log_out_again(school, member):
    ada, bob = member("ada"), member("bob")
    ada.get_by_text("You are: author").wait_for(timeout=PATIENCE)
    bob.get_by_text("You are: administrator").wait_for(timeout=PATIENCE)
    bob.goto(f"{school}/train?scorings=dot&epochs=1000&pairs=500")
    bob.locator(".st-key-train-start button:enabled").click(timeout=PATIENCE)
    bob.get_by_role("button", name="Cancel").wait_for(timeout=PATIENCE)
    ada.goto(f"{school}/train")
    ada.get_by_text("Nothing trained yet").wait_for(timeout=PATIENCE)
    assert ada.get_by_role("button", name="Cancel").count() == 0
    bob.get_by_role("button", name="Cancel").click()
    bob.get_by_text("cancelled").wait_for(timeout=PATIENCE)
    ada.goto(f"{school}/server")
    ada.get_by_role("button", name="Log out").click(timeout=PATIENCE)
    ada.get_by_role("button", name="End session").click(timeout=PATIENCE)
    ada.wait_for_url(f"{school}/")
    ada.goto(f"{school}/server")
    ada.get_by_text("You are: visitor").wait_for(timeout=PATIENCE)
