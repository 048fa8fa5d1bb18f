"""What an ingested interest looks like, parts of it, and how good an overlay of it is.

- `common_topics`: How many pairs of nodes share a topic, and how many topics they share.
- `designer_memory`: What each designer would need in memory, from the sizes of an interest alone.
- `distribution`: How sizes are distributed: exact counts, small enough to keep, and what is read off them.
- `distribution_plots`: Log-log plots of distributions, as in figure 3 of Partial 2016.
- `evaluate`: Measuring an overlay on Spark, by topic: the same measures as `metrics.measure`, to the last digit.
- `neighbours`: Who is next to whom in an ingested interest, and who is a node of a part of it: what sampling asks of
  a graph.
- `profile`: What an ingested interest looks like: sizes, popularity, what nodes share, and what designing would take.
- `profile_folder`: What `topicloom profile` tells of an interest in figures: what it prints as JSON, and the files that
  pages show.
- `sample`: A part of an ingested interest, grown breadth-first from a few nodes: Partial 2016, section IX-B.
- `topic_links`: The links of each topic on Spark, found by joining.
- `shuffling`: A random order of names that everybody agrees on: whatever the partitions, the ids or the engine.
- `summarize`: Message histories to rates: a log of (user, attributes, time) becomes what each user publishes in each
  channel.
"""
