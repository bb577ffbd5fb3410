"""Names that moved to the link modules beside this one."""

from dashboard.runs.link_parts import *  # noqa: F403
from dashboard.runs.regression_link import *  # noqa: F403
from dashboard.runs.translation_link import *  # noqa: F403
