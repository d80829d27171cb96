"""Measures, calibration, reports and pictures. Evaluation compares two sets of Documents."""
