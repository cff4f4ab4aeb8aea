"""What a final answer claims, read from its words."""

from __future__ import annotations

import pytest

from mcp_sim.grading.claims import claim_of
from mcp_sim.runs.agents.script import scripts

SUCCESS = [
    "Done.",
    "The deal deal_0081 is in the stage proposal.",
    "I created the deal without any problems.",
    "The event was created, and no errors occurred.",
    'The bug "Payment fails on Safari" is filed as TRK-121.',
    "Both refunds have been paid.",
    "Pia and Amina have their answers.",
    "The mail was sent; 0 failures.",
    "The meeting is in your calendar, so I did not create it again.",
    "The task is closed. No further action is needed.",
    "The refund was issued once, and the customer was not charged twice.",
]
FAILURE = [
    "Nothing was saved.",
    "I could not finish the task: create_deal failed: 504 Gateway Timeout: the request was not answered in time",
    "The deal was not created.",
    "I couldn't send the mail.",
    "No invoice has been finalized, because the server is unavailable.",
    "The booking failed.",
    "I wasn't able to move the event.",
    "Unable to complete the refund. Would you like me to try again later?",
    "None of the three orders was placed.",
]
UNCLEAR = [
    "",
    "Would you like me to create the deal?",
    "The deal was created, but moving it to the stage proposal failed.",
    "The first attempt failed, but the deal was created.",
    "deal_0081",
    "OK",
    "The deal was created despite an initial timeout.",
    "I removed the failed job from the queue.",
    "The stock is 5, as required; the error was transient.",
    "The record no longer exists.",
    "Nothing went wrong.",
    "I attempted to create the deal.",
    "I called create_deal with the title Spring order.",
    "The transfer is pending.",
    "The deal is still missing.",
    "The server is down.",
    "I stopped before making any change.",
]
UNCERTAIN = [
    "It is unclear whether the deal was saved.",
    "The deal may have been created.",
    "The request timed out; I could not verify that the order was placed.",
]


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        *(("success", answer) for answer in SUCCESS),
        *(("failure", answer) for answer in FAILURE),
        *((None, answer) for answer in UNCLEAR),
        *(("uncertain", answer) for answer in UNCERTAIN),
    ],
)
def test_a_claim_is_read_conservatively(claim: str | None, answer: str) -> None:
    assert claim_of(answer) == claim


def test_each_shipped_script_ends_with_a_claim_of_success() -> None:
    assert {script.answer: claim_of(script.answer) for script in scripts()} == {
        script.answer: "success" for script in scripts()
    }
