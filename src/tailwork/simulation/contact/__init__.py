"""Feet on compliant ground."""
