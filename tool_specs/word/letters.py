"""The documents of a small museum."""


def heading(text, level):
    return {"text": text, "style": f"Heading {level}"}


def bullet(text):
    return {"text": text, "style": "List Bullet"}


DOCUMENTS = {
    "annual_report.docx": {
        "title": "Annual report 2028",
        "author": "Hanneke Vos",
        "paragraphs": [
            heading("Annual report 2028", 1),
            "The museum was open on 302 days and had 48,210 visitors, 6 percent more than in the year before.",
            heading("Exhibitions", 2),
            "Three exhibitions were shown: Salt and Silver, Ships of Glass, and The Quiet Street.",
            "Ships of Glass was the most visited one, with 19,400 visitors in eleven weeks.",
            heading("Collection", 2),
            "The collection grew by 57 objects. Nine of them were given by the Amsel family.",
            heading("Finances", 2),
            "Income was 912,000 euros, of which 338,000 came from tickets. Costs were 897,500 euros.",
            heading("Outlook", 2),
            "The roof of the east wing will be repaired in 2029. The wing stays closed from April to June.",
        ],
        "tables": [[["Quarter", "Visitors"], ["1", "9,120"], ["2", "13,480"], ["3", "15,760"], ["4", "9,850"]]],
        "comments": [
            {"author": "Idris Bello", "text": "Check the number of visitors against the tills.", "paragraph_index": 1}
        ],
    },
    "board_minutes.docx": {
        "title": "Minutes of the board",
        "author": "Idris Bello",
        "paragraphs": [
            heading("Minutes of the board, 12 February 2029", 1),
            "Present: Hanneke Vos, Idris Bello, Katrin Amsel, Tomas Reyes.",
            heading("Decisions", 2),
            bullet("The repair of the roof is ordered from Lindqvist Dakwerken for 84,000 euros."),
            bullet("The price of a ticket rises to 14 euros from May."),
            heading("Actions", 2),
            bullet("Tomas Reyes asks the city for a grant."),
            bullet("Katrin Amsel plans the evening for friends of the museum."),
        ],
    },
    "loan_agreement.docx": {
        "title": "Loan agreement",
        "author": "Katrin Amsel",
        "paragraphs": [
            heading("Loan agreement", 1),
            "The museum lends the object Glass ship, inventory number 1911-042, to the Harbour House in Ostend.",
            "The loan begins on 15 March 2029 and ends on 30 September 2029.",
            heading("Insurance", 2),
            "The borrower insures the object for 25,000 euros.",
        ],
    },
    "press/ships_of_glass.docx": {
        "title": "Press release",
        "author": "Tomas Reyes",
        "paragraphs": [heading("Ships of Glass", 1), "An exhibition about four hundred years of glass ships."],
    },
}
