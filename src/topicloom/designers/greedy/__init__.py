"""Designers that add the link of highest contribution, under one rule or another.

- `declaring`: How greedy designers are declared: which links they add, and what their parameters mean to it.
- `gm`: Greedy Merge: GM 2007, section 6.
- `gm_fold`: GM, folded: GM 2007, section 6.4.
- `gpa`: GPA: Partial 2016, section V.
- `gpm`: GPM: Partial 2016, section VII.
- `low_oda`: Low-ODA: Low 2010, section III.
- `merging`: What all greedy designers share: the choice of representation, its memory, and room for links.
- `minmax_oda`: MinMax-ODA: Low 2010, section I-B.
"""
