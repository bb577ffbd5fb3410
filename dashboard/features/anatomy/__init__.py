"""The page *Anatomy*: ``page`` draws its parts, ``controls`` what determines them.

``step`` shows one attention step stage by stage, with shapes that move (``moves``) and charts
(``chart``); its numbers come from ``task_step``. ``view`` reads the link, whose matrices are texts
(``tensors``) or come from ``examples`` by name.
"""
