"""What the page of kernel regression shows before anything is chosen."""

from dashboard.features.regression.view import usual_panels


def test_the_usual_panels_are_the_baseline_one_kernel_twice_and_another(catalogue):
    """A width that is given beside one that is learned; average pooling as the baseline."""
    panels = usual_panels(catalogue)
    assert [(panel.scoring, panel.learn) for panel in panels] == [
        ("uniform", False), ("gaussian", False), ("gaussian", True), ("laplacian", False),
    ]  # fmt: skip
