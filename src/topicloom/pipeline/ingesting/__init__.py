"""From raw files to an interest.

- `delimited`: Cutting lines of delimited text into columns, a batch at a time.
- `ingest`: Raw subscriptions and social graphs to an interest: read, clean, intern, write.
- `ingest_options`: What a person can choose about an ingest.
- `ingested`: Reading what `ingest` wrote: the tables of a folder as Spark data frames, and its manifest.
- `interning`: Names to dense ids in name order, and the tables of an interest, written part by part.
- `manifest`: What an ingest says about itself: where rows came from and what became of each.
- `quarantine`: Bad rows with their file, line, reason and text.
- `raw_files`: Which files an ingest reads, and what kind each of them is.
- `raw_rows`: Raw rows of files as Spark reads them, in one shape for all formats.
- `row_cleaning`: Raw rows to clean pairs of names and notes, in the tasks of Spark.
- `row_tally`: How many rows of each kind an ingest has seen, and whether they are good enough to go on.
- `social_graphs`: Social graphs as subscriptions: every user is a topic.
- `spreading`: Pairs by ranges of node names.
- `staging`: Pairs of names on their way to ids.
- `table_parts`: Parquet tables as folders of parts, which tasks write themselves.
"""
