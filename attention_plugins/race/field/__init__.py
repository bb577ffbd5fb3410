"""Tasks of the field with their own small models and trainings: MQAR and MAD.

They are no data sets and models of the registry: each page that lists those would have to say
that it cannot show them. Scorings and normalisers are the registry's, any of them.
"""
