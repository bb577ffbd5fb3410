import subprocess
import sys

_JOB = """
import sys
from dashboard.jobs import task_warming
task_warming.import_torch()
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request
class Context:
    def report(self, *given): pass
    def stopped(self): return False
result = perform(Request.make("regression", data="sine", scoring="gaussian"), Context())
assert result.tables["curve"].num_rows == 50
print("torch" in sys.modules, "pandas" in sys.modules)
import pandas as pd
import pyarrow as pa
print(pa.array(pd.Series([1.5, 2.5])).to_pylist(), pa.table({"a": [1]}).to_pandas()["a"].tolist())
"""


def test_a_worker_has_torch_and_no_pandas_unless_a_plugin_wants_it():
    done = subprocess.run([sys.executable, "-c", _JOB], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True False", "[1.5, 2.5] [1]"]
