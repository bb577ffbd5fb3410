"""Writes pages as HTML files for any static host: ``attention-workbench publish FOLDER LINK...``.

Pages are drawn here, without a server and a browser, each once in every language; what they need
is computed by workers of this machine.
"""
