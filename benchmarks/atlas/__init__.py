"""The coverage atlas: every public estimator, from 20 reports to 50,000, of rare answers and common ones, in small groups and large ones.

A line is a figure; a cell of it is an epsilon, the sizes of the groups, and how common the answers are. Each cell says how often the 95%
interval holds the truth, or how often a test rejects what is true. `make bench NAME=atlas` writes docs/reference/coverage.md.
"""
