"""Comparisons of tails on one robot."""
