"""Pages that are searched and read: matching tools, given pages, and generated pages."""
