"""The text of a small draft."""

from __future__ import annotations

from deniable.forms.mapper import ABOUT

EXAMPLE = f"""\
deniable: 1
id: affairs
title: About marriage
about: {ABOUT}
epsilon: ln 9
questions:
  - {{id: affair, text: "Have you ever had an affair?", type: yes_no}}
  - {{id: children, text: "How many children do you have?", type: choice, options: [none, one or two, three or more]}}
"""
"""The smallest survey that works as an example."""
