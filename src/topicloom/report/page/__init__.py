"""What all kinds of results share on a page, and the page itself.

- `curves`: Lines over links and events, thinned to what a page can show.
- `found_files`: Which of the given files and folders hold what.
- `kind`: What a kind of result is: how its files are told, how it is read, and how it is shown.
- `kinds`: All kinds of results, in the order of the page.
- `page`: Sections put together into one HTML file that needs nothing else.
- `ranked`: Values of many things, the largest first: bars where things are few, areas where they are many.
- `results`: What is in the files, read and measured.
- `section`: What sections are made of.
- `size_counts`: How many things have which size: bars where sizes are few, otherwise which share has at least each
  size.
"""
