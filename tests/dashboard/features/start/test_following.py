from dataclasses import replace

from support.following import check, computed, session

from dashboard.features.start import page, view


def test_every_frame_is_what_the_page_draws_there():
    seen = session("start", view.LINK, width="0.3")
    start = computed(view.before(seen.catalogue))

    def found(width):
        asked = view.requests(replace(seen.view, width=width), seen.catalogue)
        return {name: computed(request) for name, request in asked.items()}

    def said(width):
        made = found(width)
        now, before, pooled = map(view.read, (made["gaussian"], start, made["uniform"]))
        return {
            "weight": view.weight_sentence(now, before, title="Gaussian kernel"),
            "curve": view.curve_sentence(now, pooled),
        }

    slider = page._slider(seen)
    titles = ["Gaussian kernel", "Laplacian kernel", "Average pooling"]
    held = check(
        page._follower(slider, start, seen.catalogue),
        lambda width: {"start": page._prepared(found(width), titles)},
        said,
    )
    assert len({*held["words"]["weight"]}) > 3
    assert any(text for texts in held["tables"]["start"]["queries"]["w0"] for text in texts)
