"""How results look, for people: numbers, HTML, pictures. The command line, pages and notebooks share it.

- `figures`: Figures in one look, and files of them that are the same bytes for the same figure.
- `html`: Tables as HTML, for notebooks and pages.
- `numbers`: Numbers as people read them, in terminals and on pages; each with the value to sort by.
"""
