"""Feet and contact points on ground, rigid or compliant, by time stepping."""
