"""Scripted agents, which know the shipped tasks by heart and differ in how they take failures.

`python -m mcp_sim.runs.agents NAME` is an agent for `mcp-sim run`. It tests a scenario, not an agent: `golden` should
pass every scenario, and the others should fail where their weakness matters.
"""
