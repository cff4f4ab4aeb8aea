"""The domains of AgentWorld other than MCP: what an action and an observation look like, and who predicts them."""

from mcp_sim.models.language_model.domains.forms import DOMAINS, Form
from mcp_sim.models.language_model.domains.predictor import (
    SCREEN,
    DomainPredictor,
    DomainSettings,
    no_summary,
    system_text,
)

__all__ = ["DOMAINS", "SCREEN", "DomainPredictor", "DomainSettings", "Form", "no_summary", "system_text"]
