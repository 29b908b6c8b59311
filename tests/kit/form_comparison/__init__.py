"""Comparison of forms of other systems with their imports: who is asked what. It shares no code with the importer.

`python -m tests.kit.form_comparison FOLDER` compares each form in a folder and lists every difference that the report does not name.
"""
