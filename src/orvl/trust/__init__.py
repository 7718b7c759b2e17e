"""Tests of the judges themselves: controls, certificates, calibration, labels, races."""
