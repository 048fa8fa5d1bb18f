"""The loops of greedy designers: add the best link again and again.

- `best_link`: What every search for the best link answers to the rules.
- `candidates`: Candidate links with an upper bound for each, in rows by their first node.
- `circles`: Components as labelled circles: joining two costs the size of the smaller, asking costs one look.
- `lanes`: Operations on 64 bytes or 8 words at a time, and on the bits of a word.
- `matchings`: Maximal matchings: links that contribute nothing, between nodes below the highest degree.
- `priced_merging`: Greedy merging by contribution per price.
- `representation`: What every representation of the topics answers to the search for links.
- `row_search`: The search for the best link row by row, for sparse interests.
- `rules`: The greedy designers: add the best link again and again, under one of two rules.
- `search`: The search for the best link: highest contribution, then lowest (smaller id, larger id).
- `topic_bits`: Topics as bitsets, for interests whose nodes share many topics.
- `topic_lists`: Topics as sorted lists with component labels, for sparse interests whose links have prices.
- `topic_members`: Topics as lists of their members, for sparse interests.
"""
