"""Designers that build stars around well-connected nodes: the CD-ODA family.

- `cd_oda`: CD-ODA: Low 2010, section VI.
- `cd_oda_1`: CD-ODA-I: Low 2010, section VI-A.
- `cd_oda_2`: CD-ODA-II: Low 2010, section VI-B.
- `star_designs`: What the designers of stars have in common.
"""
