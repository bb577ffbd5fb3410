"""A scoring of somebody else's: weights fall off as slowly as Student's t with one degree."""

from attention_plugins import hookimpl, scoring


@scoring("student_t", formula=r"-\log(1 + \lVert q-k\rVert_2^2)",
         reference="Student 1908, The probable error of a mean", same_size=True)  # fmt: skip
def student_t(queries, keys):
    differences = queries.unsqueeze(-2) - keys.unsqueeze(-3)
    return -differences.square().sum(-1).log1p()


@hookimpl
def attention_scorings():
    yield student_t
