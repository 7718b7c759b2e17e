"""The statistics of reports, for anybody's numbers (docs/statistics.md): arrays in, frozen dataclasses out."""

from __future__ import annotations

from orvl.rate.stats.agreement import ac1, alpha, effective_judges, icc, leave_one_out, panel_agreement
from orvl.rate.stats.betting import confidence_sequence, evidence
from orvl.rate.stats.calibration import calibrate, calibrated_rating
from orvl.rate.stats.components import Prices, next_steps, standard_error, variance_components
from orvl.rate.stats.drift import drift
from orvl.rate.stats.families import family_of, without_own_family
from orvl.rate.stats.intervals import mean_interval, mean_intervals, t_cdf, t_interval, t_quantile
from orvl.rate.stats.merit import merit
from orvl.rate.stats.paired import detectable, holm, more_evals, paired, quick_detectable, sign_flip, winner_set
from orvl.rate.stats.people import agreement, most_informative, people_mean
from orvl.rate.stats.race import log_evidence, quick_after, race
from orvl.rate.stats.shares import median, quantile_interval, wilson_interval
from orvl.rate.stats.spending import spending
from orvl.rate.stats.weights import nearest_flip, weight_proof

__all__ = [
    "Prices",
    "ac1",
    "agreement",
    "alpha",
    "calibrate",
    "calibrated_rating",
    "confidence_sequence",
    "detectable",
    "drift",
    "effective_judges",
    "evidence",
    "family_of",
    "holm",
    "icc",
    "leave_one_out",
    "log_evidence",
    "mean_interval",
    "mean_intervals",
    "median",
    "merit",
    "more_evals",
    "most_informative",
    "nearest_flip",
    "next_steps",
    "paired",
    "panel_agreement",
    "people_mean",
    "quantile_interval",
    "quick_after",
    "quick_detectable",
    "race",
    "sign_flip",
    "spending",
    "standard_error",
    "t_cdf",
    "t_interval",
    "t_quantile",
    "variance_components",
    "weight_proof",
    "wilson_interval",
    "winner_set",
    "without_own_family",
]
