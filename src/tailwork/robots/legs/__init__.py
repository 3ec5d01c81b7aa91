"""Kinds of legs."""
