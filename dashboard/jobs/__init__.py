"""Jobs: a queue, workers in processes of their own, and events for the sessions that wait."""
