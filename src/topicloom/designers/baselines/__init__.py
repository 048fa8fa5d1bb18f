"""Designers to compare with: rings, coverage, random links.

- `measured_links`: Links of designers that do not choose by contribution, with the contribution of each worked out
  afterwards.
- `random_a`: RandomA: Partial 2016, section IX-A.
- `random_m`: RandomM: Partial 2016, section IX-A.
- `ring_per_topic`: Ring per topic: GM 2007, section 8.3 (RingPT).
- `spidercast`: SpiderCast: Chockler et al., DEBS 2007, with the global view of Partial 2016, section IX-A.
- `spidercast_m`: SpiderCastM: Partial 2016, section IX-A.
"""
