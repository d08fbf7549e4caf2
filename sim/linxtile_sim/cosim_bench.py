"""The simulator's side of :mod:`linxtile_sim.cosim`: reads the plan, runs it, leaves the outcomes."""

import os
import pickle
from pathlib import Path
from typing import Any

import cocotb

from .axi_check import AxiError
from .cosim import PLAN, Outcome, Plan
from .lockstep import Difference, run_in_lockstep
from .session import CoreSession, HangError


@cocotb.test()
async def run_plan(dut: Any) -> None:
    """Run every scenario; a difference ends its scenario, too many end the plan."""
    plan: Plan = pickle.loads(Path(os.environ[PLAN]).read_bytes())
    config = plan.config
    session = CoreSession(dut, config, patience=plan.patience)
    await session.start()
    outcomes: list[Outcome] = []
    complaints = 0
    for scenario in plan.scenarios:
        try:
            outcomes.append(Outcome(scenario.name, await run_in_lockstep(session, scenario, config)))
        except (Difference, HangError, AxiError) as difference:
            outcomes.append(Outcome(scenario.name, None, f"{scenario.name}: {difference}"))
            session.forget_everything()
            complaints += 1
            if complaints > plan.complaints_allowed:
                break
    Path(plan.answers).write_bytes(pickle.dumps(outcomes))
