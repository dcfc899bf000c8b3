"""Agents, which write the tests: the loop `mini`, native agents, the controls `oracle` and `nop`; the trajectory."""
