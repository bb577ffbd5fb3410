"""The page *Complexity*: ``page`` and ``measured`` draw what ``task`` measures by ``task_timing``.

``task_record`` measures the reference anew that ships beside the code.
"""
