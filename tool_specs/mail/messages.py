"""What is in the mailbox: four weeks of the owner of a small workshop for bicycles."""

OWNER = "Nora Feld <nora@spokeandbell.example>"
JONAS = "Jonas Reuter <jonas@spokeandbell.example>"
PARTS = "Veloparts Orders <invoices@veloparts.example>"
GUILD = "Bicycle Guild <newsletter@bicycleguild.example>"
AMINA = "Amina Yusuf <amina.yusuf@citycargo.example>"
RAIL = "Nordrail Tickets <noreply@nordrail.example>"
PIA = "Pia Lund <pia.lund@harbourschool.example>"
BANK = "Cooperative Bank <service@coopbank.example>"
PRIZE = "Lucky Wheel <winner@prizes.example>"


def pdf(name, size):
    return (name, "application/pdf", size)


# fmt: off
MESSAGES = [  # days ago, from, to, subject, text, labels, attachments
    (26.4, PARTS, OWNER, "Invoice 20871", "Dear customer,\n\nplease find invoice 20871 attached: 14 chains, 6 saddles, "
     "EUR 412.60. It is due within 30 days.\n\nVeloparts", ["INBOX", "Invoices"], [pdf("invoice-20871.pdf", 48213)]),
    (24.1, GUILD, OWNER, "Guild news: spring fair", "The spring fair is on 14 April. Tables are given away by lot "
     "until 20 March.", ["INBOX", "CATEGORY_PROMOTIONS"], []),
    (21.0, AMINA, OWNER, "Service for 12 cargo bikes", "Hello Nora,\n\nwe need a yearly service for our 12 cargo "
     "bikes. Could you make us an offer, with a date in April?\n\nAmina", ["INBOX", "IMPORTANT", "Workshop"], []),
    (20.2, OWNER, AMINA, "Re: Service for 12 cargo bikes", "Dear Amina,\n\ngladly. EUR 85 for each bike, brake pads "
     "extra. We could do it from 9 to 13 April.\n\nNora", ["SENT", "Workshop"], []),
    (18.7, AMINA, OWNER, "Re: Service for 12 cargo bikes", "That suits us well. I ask for the approval and write again."
     "\n\nAmina", ["INBOX", "Workshop"], []),
    (16.3, RAIL, OWNER, "Your ticket to Hamburg", "Departure 8 April 7:12, coach 4, seat 61. The ticket is attached.",
     ["INBOX", "Travel"], [pdf("ticket-NR4471.pdf", 120334)]),
    (14.9, JONAS, OWNER, "Air compressor", "The air compressor is broken, the valve. Shall I order one? About 130 "
     "euros.\n\nJonas", ["INBOX", "Workshop"], []),
    (14.6, OWNER, JONAS, "Re: Air compressor", "Yes, please order it at Veloparts.\n\nNora", ["SENT"], []),
    (12.0, PARTS, OWNER, "Invoice 20934", "Dear customer,\n\nplease find invoice 20934 attached: 1 air compressor, EUR "
     "128.00. It is due within 30 days.\n\nVeloparts", ["INBOX", "UNREAD", "Invoices"],
     [pdf("invoice-20934.pdf", 47102)]),
    (10.5, PRIZE, OWNER, "You have won a wheel!!!", "Click within 24 hours.", ["SPAM", "UNREAD"], []),
    (9.3, PIA, OWNER, "Repair day at our school", "Hello,\n\ncould somebody of you help at our repair day, on 23 March "
     "from 14 to 17? About 30 children come with their bikes.\n\nPia Lund", ["INBOX", "STARRED"], []),
    (7.8, BANK, OWNER, "Statement for February", "Your statement is in your mailbox. This message needs no answer.",
     ["INBOX", "CATEGORY_UPDATES"], []),
    (6.2, JONAS, OWNER, "Holiday in May", "I would like to take 6 to 17 May off. Is that fine?\n\nJonas",
     ["INBOX", "UNREAD"], []),
    (4.4, GUILD, OWNER, "Guild news: the lots are drawn", "Your table at the spring fair is number 27. Please confirm "
     "by 10 March.", ["INBOX", "UNREAD", "CATEGORY_PROMOTIONS"], []),
    (2.6, PARTS, OWNER, "Reminder: invoice 20871", "Dear customer,\n\ninvoice 20871 over EUR 412.60 will be due soon. "
     "If you have paid meanwhile, please ignore this message.\n\nVeloparts", ["INBOX", "UNREAD", "Invoices"], []),
    (1.1, AMINA, OWNER, "Re: Service for 12 cargo bikes", "Hello Nora,\n\nit is approved: 12 bikes, 9 to 13 April, EUR "
     "85 each. Please confirm the order.\n\nAmina", ["INBOX", "UNREAD", "IMPORTANT", "Workshop"], []),
    (0.3, PIA, OWNER, "Re: Repair day at our school", "May I ask once more? I would have to look for somebody else.\n\n"
     "Pia Lund", ["INBOX", "UNREAD"], []),
]
# fmt: on
