"""Campaigns: data files that list what to run, their jobs, and running, stopping and resuming these."""

from andante.campaign.file import Campaign, CampaignError, ProblemSet, Run, read_campaign
from andante.campaign.plan import Plan
from andante.campaign.run import Progress, prepare, resume, run
from andante.campaign.share import Share
from andante.campaign.standing import plan_of, status
from andante.store import Status

__all__ = [
    "Campaign",
    "CampaignError",
    "Plan",
    "ProblemSet",
    "Progress",
    "Run",
    "Share",
    "Status",
    "plan_of",
    "prepare",
    "read_campaign",
    "resume",
    "run",
    "status",
]
