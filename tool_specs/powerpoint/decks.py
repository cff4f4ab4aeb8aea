"""The layouts of slides, and the presentations of a small software company."""

TITLE = (0, "TITLE (1)", "Title 1", 457200, 274638, 8229600, 1143000)
CONTENT, TEXT = "OBJECT (7)", "BODY (2)"

LAYOUTS = (
    ("Title Slide", 5, (
        (0, "CENTER_TITLE (3)", "Title 1", 685800, 2130425, 7772400, 1470025),
        (1, "SUBTITLE (4)", "Subtitle 2", 1371600, 3886200, 6400800, 1752600),
    )),
    ("Title and Content", 5, (TITLE, (1, CONTENT, "Content Placeholder 2", 457200, 1600200, 8229600, 4525963))),
    ("Section Header", 5, (
        (0, "TITLE (1)", "Title 1", 722313, 4406900, 7772400, 1362075),
        (1, TEXT, "Text Placeholder 2", 722313, 2906713, 7772400, 1500187),
    )),
    ("Two Content", 6, (
        TITLE,
        (1, CONTENT, "Content Placeholder 2", 457200, 1600200, 4038600, 4525963),
        (2, CONTENT, "Content Placeholder 3", 4648200, 1600200, 4038600, 4525963),
    )),
    ("Comparison", 8, (
        TITLE,
        (1, TEXT, "Text Placeholder 2", 457200, 1535113, 4040188, 639762),
        (2, CONTENT, "Content Placeholder 3", 457200, 2174875, 4040188, 3951288),
        (3, TEXT, "Text Placeholder 4", 4645025, 1535113, 4041775, 639762),
        (4, CONTENT, "Content Placeholder 5", 4645025, 2174875, 4041775, 3951288),
    )),
    ("Title Only", 4, (TITLE,)),
    ("Blank", 3, ()),
    ("Content with Caption", 6, (
        (0, "TITLE (1)", "Title 1", 457200, 273050, 3008313, 1162050),
        (1, CONTENT, "Content Placeholder 2", 3575050, 273050, 5111750, 5853113),
        (2, TEXT, "Text Placeholder 3", 457200, 1435100, 3008313, 4691063),
    )),
    ("Picture with Caption", 6, (
        (0, "TITLE (1)", "Title 1", 1792288, 4800600, 5486400, 566738),
        (1, "PICTURE (18)", "Picture Placeholder 2", 1792288, 612775, 5486400, 4114800),
        (2, TEXT, "Text Placeholder 3", 1792288, 5367338, 5486400, 804862),
    )),
    ("Title and Vertical Text", 5, (
        TITLE, (1, TEXT, "Vertical Text Placeholder 2", 457200, 1600200, 8229600, 4525963),
    )),
    ("Vertical Title and Text", 5, (
        (0, "TITLE (1)", "Vertical Title 1", 6629400, 274638, 2057400, 5851525),
        (1, TEXT, "Vertical Text Placeholder 2", 457200, 274638, 6019800, 5851525),
    )),
)  # fmt: skip
"""Name, number of placeholders with those of footers, and the placeholders of a slide: index, type, name, place."""

DECKS = (
    {
        "file_path": "quarterly_review.pptx",
        "properties": {"title": "Review of the fourth quarter", "author": "Amara Okafor"},
        "slides": [
            {"layout": 0, "title": "Review of the fourth quarter", "texts": {1: "Kestrel Software, January 2029"}},
            {"layout": 1, "title": "What went well", "texts": {1: "Nine new customers\nNo outage over five minutes"}},
            {"layout": 1, "title": "What did not", "texts": {1: "The mobile app is late\nTwo people left support"}},
            {"layout": 5, "title": "Revenue", "table": [["Oct", "Nov", "Dec"], ["212", "231", "198"]]},
            {"layout": 1, "title": "Next quarter", "texts": {1: "Ship the mobile app\nHire for support"}},
        ],
    },
    {
        "file_path": "kickoff_heron.pptx",
        "properties": {"title": "Kickoff: Heron", "author": "Mikkel Brandt"},
        "slides": [
            {"layout": 0, "title": "Heron", "texts": {1: "Kickoff, 2 March 2029"}},
            {"layout": 3, "title": "Scope", "texts": {1: "Import of invoices\nApproval by mail", 2: "No payments yet"}},
            {"layout": 1, "title": "Team", "texts": {1: "Mikkel Brandt, lead\nSofia Duarte, design\nJun Park, code"}},
        ],
    },
)  # fmt: skip
