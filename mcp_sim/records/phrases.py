"""The sentences that titles and texts are made of, with slots in braces; `{told}` is the record's own title."""

from __future__ import annotations


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";"))


def _kinds(text: str) -> dict[str, str]:
    pairs = (line.split(":") for line in text.strip().splitlines())
    return {noun: kind.strip() for kind, nouns in pairs for noun in nouns.split()}


KINDS = _kinds("""
issue: issue bug ticket incident defect problem case request alert error
deal: deal opportunity quote proposal order contract purchase sale
event: event meeting appointment booking reservation session call interview activity visit
mail: email mail message conversation thread newsletter inquiry
document: document page article report note memo wiki doc paper content presentation spreadsheet sheet
post: post blog story announcement news update
project: project board initiative campaign program programme epic workspace plan roadmap milestone
sprint: sprint iteration release version
code: pull merge commit branch pr
review: review feedback rating testimonial
""")

TITLES = {
    "issue": _lines("""
        {feature} fails on {platform}
        {feature} shows the wrong total
        {feature} is slow since the last update
        {feature} stays empty on {platform}
        {feature} does not remember the language
        Cannot save {matter}
        Cannot open {feature} on {platform}
        Wrong price for {good}
        {n} {goods} missing in stock
        Duplicate entries in {feature}
        Add {kind} to {feature}
        Allow more than {n} rows in {feature}
        Error 500 after changing {feature}
        Typo in {feature}
        {feature}: filter by {kind} ignores capitals
        Picture of {good} is out of date
        Please add {person} to {matter}
        Question about {matter}
    """),
    "deal": _lines("""
        {season} order, {n} {goods}
        {n} {goods}
        {goods} for the {season}
        {topic} {year}
        Framework agreement {kind} {year}
        Trial order of {goods}
        Reorder of {goods}
        {kind}: {quarter} delivery
        First delivery of {goods}
        Renewal of {matter}
    """),
    "event": _lines("""
        {topic}: review
        {topic}: kick-off
        Weekly {kind} meeting
        Lunch with {person}
        Call with {person} about {matter}
        {quarter} planning
        Interview with {person}
        Presentation of {matter}
        1:1 with {person}
        Workshop on {matter}
        Visit to the {season} fair
        Discuss {matter}
    """),
    "mail": _lines("""
        {topic}
        Re: {topic}
        Question about {matter}
        Your order of {n} {goods}
        {topic}: next steps
        Delivery of {goods} on {date}
        Minutes of {day}
        {goods}: new prices from {date}
        Invitation: {topic} on {date}
        Reminder: {topic}
        Offer for {n} {goods}
        Can we meet on {day}?
        Thank you for {matter}
    """),
    "document": _lines("""
        {topic} {year}
        Minutes of {date}
        How to order {goods}
        Price list {kind} {year}
        Checklist for {matter}
        {quarter} report: {kind}
        Guide to {kind}
        Notes on {matter}
        {topic}: summary
        Agreement with {person}
        {season} plan for {kind}
    """),
    "post": _lines("""
        What is new in {kind}
        {n} things to know about {goods}
        Our {season} {kind}
        Behind the scenes of {matter}
        {topic}, explained
        Meet {person}
        {topic}: what we have learnt
        Choosing the right {good}
    """),
    "project": _lines("""
        {topic} {year}
        {season} campaign for {kind}
        {kind} relaunch
        New {kind} in {quarter}
        {topic}
        Move of {kind} to the new supplier
        {goods} for schools
    """),
    "sprint": _lines("""
        {topic} {year}-{n}
        {month} {year}
        {quarter} {year}: {kind}
        {month}: {topic}
    """),
    "code": _lines("""
        Fix {topic}
        Add filter for {kind} to {feature}
        Speed up {feature}
        Remove old code of {feature}
        Correct rounding in {feature}
        Update dependencies of {feature}
        Test {feature} on {platform}
    """),
    "review": _lines("""
        Very happy with the {good}
        Good {good}, slow delivery
        Not what I expected
        Exactly as described
        Would buy the {good} again
        Great value
        The {good} broke after {n} days
    """),
    "task": _lines("""
        {action} {matter}
        {action} {matter}
        {action} {matter} with {person}
        {action} {matter} before {date}
        {action} the {kind} list
        Order {n} {goods}
        Ask {person} about {matter}
        Count the {goods}
        Send {person} the {topic}
        Take photos of the {goods}
    """),
}
ABOUT = _lines("""
    {told}: {person} takes care of it until {date}.
    This is about {told}.
    {person} asked for {told} in writing.
    {told} has to be settled before {date}.
    More on {told} in the notes of {day}.
    {told}: see also {matter}.
""")
OPENINGS = {
    "issue": _lines("""
        Happens on {platform} since {day}; {feature} works elsewhere.
        Steps: open {feature}, choose {kind}, save. Nothing happens.
        {person} reported this together with {n} other customers.
        {feature} should show {goods} too.
        It worked until the change of {date}.
    """),
    "mail": _lines("""
        I have looked at {matter} and have two questions.
        Thank you for your message about {matter}.
        Could you send {n} {goods} by {date}?
        As discussed on {day}, here is what we agreed on about {matter}.
        The {goods} arrived on {date}, but {n} of them are damaged.
        {person} will join us for {matter}.
        Please find the details of {matter} below.
    """),
    "review": _lines("""
        The {good} does what it should.
        I use the {good} every day and like it.
        Delivery took {n} days, but the {good} is fine.
        The {good} feels cheaper than it looks.
        My second {good} from this shop.
    """),
    "event": _lines("""
        Agenda: {matter}, then {matter}.
        {person} brings the figures on {matter}.
        Please prepare questions about {matter}.
        We go through {matter} together.
        Spoke with {person} about {matter}.
    """),
    "post": _lines("""
        This {season} we look at {goods}.
        Many of you asked about {matter}; here are the answers.
        Our {kind} have changed a lot since {month}.
        {person} tells how {matter} came about.
    """),
    "deal": _lines("""
        {n} {goods}, delivery by {date}.
        {person} wants a second offer for {goods}.
        Price agreed with {person}; {matter} is still open.
        They compare our {kind} with two others.
    """),
}
SENTENCES = _lines("""
    {person} will follow up on {day}.
    The figures for {matter} are within budget.
    Delivery of the {goods} is planned for {date}.
    We still wait for an answer about {matter}.
    Nothing else is open at the moment.
    {matter} comes first, then {matter}.
    There was a delay with the {goods}.
    {person} wants to see a sample before deciding.
    The first results look promising.
    We need another look once {matter} is done.
    The team agreed on the next steps.
    About {n} customers have asked for this.
    It can wait until {day}.
    Let me know if {day} suits you.
    Details are in {matter}.
    {person} prefers to be called in the morning.
""")
LINES = _lines("""
    Has anyone seen the latest version of {matter}?
    {person} is working on {matter}.
    The {goods} are in, {n} of them.
    {matter} is done.
    Can someone look at {matter} before {day}?
    I will be out on {day}, please ask {person}.
    Thanks {person}, that helped.
    We are at {n} {goods} today.
    Reminder: {matter} is due on {date}.
    {feature} is down for five minutes.
    Good news: {matter} is signed.
    I moved {matter} to {day}.
    Who knows more about the {goods}?
    Agreed, let us do that.
    {n} new orders since this morning.
    I have added my notes to {matter}.
    Same here, also on {platform}.
    Fixed, please have a look.
    Not sure about {matter} yet.
    Lunch at half past twelve?
    The customer is happy with the {goods}.
    Could not reproduce it on {platform}.
""")
ACTIONS = _parts(
    "call back about; check; compare offers for; discuss; draft; finish; follow up on; negotiate; plan; prepare; "
    "present; renew; review; revise; schedule; send out; sign off; update; verify; archive; translate"
)
FEATURES = _parts(
    "the checkout; the search; the login; the export; the invoice PDF; the order list; the stock view; the price list; "
    "the address form; the customer page; the newsletter sign-up; the mobile menu; the payment page; the report; the "
    "calendar; the upload; the password reset; the dashboard; the import; the shopping cart"
)
PLATFORMS = ("Safari", "Firefox", "Android", "the iPhone", "Windows 11", "a tablet", "Chrome", "Edge", "macOS")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
SEASONS = ("spring", "summer", "autumn", "winter")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
