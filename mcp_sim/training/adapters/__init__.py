"""Adapters: what trainers expect of an environment, each a thin module for one version of its trainer.

    trl           the class of an `environment_factory` (TRL 1.16.0)
    gym_server    the HTTP endpoints of a resources server of NeMo Gym, as verifiers 0.4.0 calls them
    openenv       an environment of OpenEnv (0.10.0)
    inspect_ai    a task of Inspect (0.3.285)

A module imports its trainer, so that it is imported only where that is installed; `trl` needs nothing.
"""
