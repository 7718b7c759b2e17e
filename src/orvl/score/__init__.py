"""Metrics over a capture: functions, and judges."""
