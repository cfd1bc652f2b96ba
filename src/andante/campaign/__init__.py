"""Campaigns: what to run, in a data file; the jobs this makes; running them, stopping, and going on."""

from andante.campaign.file import Campaign, CampaignError, ProblemSet, Run, read_campaign
from andante.campaign.plan import Plan
from andante.campaign.run import Progress, Status, plan_of, prepare, resume, run, status

__all__ = [
    "Campaign",
    "CampaignError",
    "Plan",
    "ProblemSet",
    "Progress",
    "Run",
    "Status",
    "plan_of",
    "prepare",
    "read_campaign",
    "resume",
    "run",
    "status",
]
