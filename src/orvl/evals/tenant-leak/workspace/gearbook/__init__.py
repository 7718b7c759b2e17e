"""Gearbook: jobs, invoices and parts for repair shops. One installation serves many workshops."""

VERSION = "5.3.1"
