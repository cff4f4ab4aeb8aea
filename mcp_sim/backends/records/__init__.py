"""Records: which a world begins with, which a question finds, what a call writes, and how a result shows them."""
