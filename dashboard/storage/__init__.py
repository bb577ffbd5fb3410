"""What outlives the process: runs, uploads, trainings and races.

A kept run is a record in the database (:mod:`~dashboard.storage.runs`) and a file, the page as it
was seen (:mod:`~dashboard.storage.page_run`), whose results are bundles
(:mod:`~dashboard.storage.bundle`). Files are named by their sha256
(:mod:`~dashboard.storage.blobs`), and written so that a crash leaves whole ones
(:mod:`~dashboard.storage.files`). Each training and each race has a folder.
"""
