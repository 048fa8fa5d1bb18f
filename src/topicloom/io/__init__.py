"""Files: written whole or not at all, read with errors that name the file and the row.

- `whole`: files and folders written whole, scratch folders, locks; leftovers of killed runs are cleared.
- `tables`: columns of names and numbers in Parquet, CSV and TSV; ids of names; limits.
- `http`: requests to one server.
- `settings`: TOML and JSON files, with one-line errors.
- `store`: a SQLite file of what happened.
- `uris`: files and folders of other file systems.
- `ingest_folder`: the folder that `topicloom spark ingest` and `sample` write.
"""
