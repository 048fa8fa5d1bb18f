"""The figures and tables of the papers, run again.

- `churn_runs`, `backup_runs`, `step_runs`, `content_runs`: what a run of an experiment does and measures.
"""
