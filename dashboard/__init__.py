"""The dashboard of Attention Workbench: pages, charts, runs, engine, tasks."""
