"""The viewer: traces as one HTML file, whose script and style are in `page/`.

`document` collects what the page shows as one JSON value, and `page` puts it into HTML.
"""
