"""The rules that start a derivation, one file for each thing people do with sentences.

A rule takes the dice and returns a phrase with its final punctuation. ``RULES`` of each file
pairs it with its weight: how often it is drawn, among the weights of all.
"""
