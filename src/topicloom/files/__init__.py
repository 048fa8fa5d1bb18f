"""Files and folders: written whole or not at all, and read with errors that name the file and the row.

- `atomic`: Writing files so that a killed run leaves the old file or the new one, never half of one.
- `columns`: Columns of names and numbers, checked, with errors that name the file and the row.
- `ingest_folder`: The folder that `topicloom ingest` and `sample` write: its tables, their columns, and its manifest.
- `json_files`: JSON files, checked, with errors of one line that name the file and the key.
- `limits`: How much of what there may be, kept before work begins.
- `locked_folder`: A folder that one process at a time works on.
- `name_cleaning`: Cleaning names: trimmed, in Unicode's composed form, neither empty nor too long.
- `name_ids`: Dense ids from names, in the order of the names by code point.
- `name_tables`: Name columns from Parquet, CSV and TSV files, checked, with one-line errors.
- `parquet`: Parquet files, each page with a checksum that is looked at when it is read.
- `temporary`: Temporary files and folders, which the next run clears where the one that made them was killed.
- `toml_files`: TOML files, with errors of one line that name the file.
- `whole_folder`: Output folders that are whole or absent, whenever a run is killed.
"""
