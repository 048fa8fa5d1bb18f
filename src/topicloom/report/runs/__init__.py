"""Sections about many runs: profiles, sweeps, churn traces, reproductions.

- `profile_section`: The section of a profile, from the folder that `topicloom profile` wrote.
- `reproduction_section`: The section of a reproduction: the papers' figures from our own runs, and whether their
  claims hold.
- `sweep_pictures`: Pictures of a sweep: each measure of the designers against what varies between workloads.
- `sweep_results`: Results of sweeps from files: runs that differ in nothing but their seeds, put together.
- `sweep_section`: The section of a sweep: designers on many workloads.
- `trace_section`: The section of a churn trace: what events did to an overlay.
"""
