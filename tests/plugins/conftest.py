"""The packages here have tests of their own, which run where the packages are installed."""

collect_ignore_glob = ["*/tests/*"]
