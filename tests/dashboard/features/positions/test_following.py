from dataclasses import replace

import pytest
from support.following import check, computed, session

from dashboard.features.positions import rotation, view
from dashboard.records.parameter import pairs


def result(seen, settings):
    (request,) = view.requests(replace(seen.view, settings=pairs(settings)), seen.catalogue)
    return computed(request)


@pytest.mark.parametrize("slider", ["offset", "position", "pair"])
def test_every_frame_of_the_result_at_hand_is_what_the_page_draws_there(slider):
    seen = session("positions", view.LINK, size="9", positions="12", pair="1", offset="-7")
    held = dict(seen.view.settings)
    now = result(seen, held)
    sliders = rotation.sliders(seen, now)
    (one,) = (each for each in rotation.followers(now, seen.view, sliders)
              if each.slider is sliders[slider])  # fmt: skip
    assert not one.slider.requests(held[slider])  # no job

    def there(value):
        settings = {**held, slider: value}
        return result(seen, settings) if slider == "pair" or value % 50 == 0 else now, settings

    check(
        one,
        lambda value: {"rotation": rotation._circle(*there(value))},
        lambda value: {
            "rotation": rotation._sentence(*there(value)),
            "matrices": rotation._numbers(*there(value)),
        },
    )


def test_frames_are_of_all_that_is_drawn_beside_the_slider():
    def of(**link):
        seen = session("positions", view.LINK, **link)
        return rotation.sliders(seen, result(seen, dict(seen.view.settings)))["offset"].of

    assert of() == of()
    assert len({of(), of(pair="2"), of(position="9"), of(size="30")}) == 4
