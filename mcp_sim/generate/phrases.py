"""Phrases for titles and texts, with slots in braces. `{told}` is the record's own title."""

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
grade: grade submission mark evaluation appraisal
task: task todo action step subtask chore reminder checklist item activity job request followup assignment
product: product article good sku variant listing asset offer part
work: book novel movie film album song track episode video podcast show artwork game story series
course: course class lesson subject module training workshop curriculum
recipe: recipe dish meal menu
money: transaction payment invoice charge refund expense transfer payout receipt line entry
person: person contact user customer employee member patient author teacher student doctor artist speaker profile
place: place location venue hotel restaurant property apartment room building museum park city airport station store
software: repository repo package library app application service project_template plugin tool extension script dataset
health: visit encounter prescription diagnosis treatment procedure consultation
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
        Picture of the {good} is out of date
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
    "thing": _lines("""
        {topic}
        {topic} {year}
        {season} {kind}
        {kind}: {topic}
        {quarter} {topic}
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
OPENINGS = {
    "thing": _lines("""
        Used for {matter}.
        Set up for {matter} in {month} {year}.
        Has to do with {matter}.
        {told} is used for {matter}.
        {told}: see also {matter}.
    """),
    "task": _lines("""
        {person} takes care of it until {date}.
        {person} asked for it in writing.
        To be settled before {date}.
        The notes of {day} have more on it.
        Needed for {matter}.
        {person} has begun with it on {day}.
        Depends on {matter}.
    """),
    "project": _lines("""
        Covers {matter} and {matter}.
        {person} leads it; the first results are due on {date}.
        Starts with {matter}.
        Agreed with {person} in {month} {year}.
    """),
    "document": _lines("""
        Covers {matter} and {matter}.
        Written by {person} after the meeting of {day}.
        A short overview of {matter}.
        What to know about {matter} before {date}.
    """),
    "product": _lines("""
        {told} for every day, in {n} colours.
        {told} made to last, with two years of warranty.
        Our {told} is easy to clean and light to carry.
        {told}: a favourite of our customers since {year}.
        Solid, simple and made in Europe.
        Made of recycled material, delivered without plastic.
        Fits where others do not, and comes with everything that is needed.
    """),
    "work": _lines("""
        A story of two families and the summer that changes them.
        The second part of the series, and the best one yet.
        A quiet portrait of a town by the sea.
        What happens when nobody looks.
        {told} tells of a journey, a promise and its price.
        {told} begins with a letter that was never sent.
        Based on the notes of {person}, found {n} years later.
    """),
    "course": _lines("""
        {told} for beginners; no previous knowledge is needed.
        {told}: the basics, with exercises every week.
        Two lessons a week and a project at the end.
        With a written exam in the last week.
        In small groups of at most {n}.
    """),
    "recipe": _lines("""
        Chop everything finely, then fry it gently for ten minutes.
        Mix all dry ingredients first, then add the rest and stir.
        Heat the oven to 180 degrees while you prepare the rest.
        {told} for cold days; tastes even better the next day.
        Let it simmer on a low heat and season to taste.
    """),
    "money": _lines("""
        Card payment
        Monthly fee {month} {year}
        Invoice of {date}
        Standing order, {month}
        Transfer to {person}
        Order of {goods}
        Refund for {goods}
        Direct debit {month} {year}
    """),
    "person": _lines("""
        Has worked with {kind} for {n} years.
        Born in a small town, now at home in the city; likes long walks.
        Writes about {kind} and everyday life.
        Came to us in {month} {year} and prefers e-mail.
        Knows all about {kind}; speaks three languages.
    """),
    "place": _lines("""
        Quiet, close to the station, with a view over the roofs.
        {told} is ten minutes from the centre.
        Newly renovated in {year}, with room for {n} people.
        Ground floor, accessible without steps.
        Open all year; parking behind the house.
    """),
    "grade": _lines("""
        Well argued, with a few gaps at the end.
        Good work; please cite your sources.
        Late, but complete.
        Clear improvement since the last time.
        The second part needs another look.
    """),
    "software": _lines("""
        Small tools for {kind}.
        Keeps {kind} in step with the rest.
        The service behind {feature}.
        Scripts and notes for {feature}.
        {told}: what {feature} is built on.
    """),
    "health": _lines("""
        Check-up without findings; next visit in six months.
        Patient reports less pain since {day}.
        Blood pressure slightly high, to be measured again in {n} days.
        Follow-up after the operation in {month}.
        Referred by the family doctor.
    """),
    "code": _lines("""
        Closes the ticket of {day}; tested on {platform}.
        {feature} was slow with more than {n} rows.
        {person} found it while testing {feature}.
        No change for users, but the tests are twice as fast.
    """),
    "sprint": _lines("""
        {feature} and {feature}, then what is left of {month}.
        Finish {feature}; prepare {feature}.
    """),
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
MORE = {
    "product": _lines("""
        Available from {month}.
        Also in other sizes.
        Please ask for larger quantities.
        Tested by our own team.
        Comes with a manual in four languages.
    """),
    "work": _lines("""
        {n} pages too short, say the critics.
        With an afterword of {year}.
        A must for long evenings.
        Translated into {n} languages.
    """),
    "course": _lines("""
        Places are limited.
        Please bring your own notebook.
        Starts on {date}.
        {person} teaches it in {month}.
    """),
    "recipe": _lines("""
        Serve warm, with fresh bread.
        Keeps for two days in the fridge.
        Add a little lemon at the end.
        Let it rest for ten minutes before serving.
    """),
    "money": (),
    "person": _lines("""
        Can be reached in the morning.
        Prefers e-mail to the phone.
        On holiday in {month}.
    """),
    "place": _lines("""
        Pets are welcome.
        Two minutes to the next bus.
        Booked out in {month} most years.
        Recommended by {n} guests.
    """),
    "grade": _lines("""
        Keep it up.
        Come and see me about it.
        {person} has read it too.
    """),
    "software": _lines("""
        Tested on {platform}.
        Runs every night.
        Not maintained since {month} {year}.
    """),
    "health": _lines("""
        No further treatment needed at the moment.
        {person} has been informed.
        Next appointment on {date}.
    """),
    "thing": _lines("""
        Checked in {month} {year}.
        Nothing else is known of it.
        {person} knows more.
    """),
}
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
