"""Requests, links and results: what determines a run, and what came of it."""
