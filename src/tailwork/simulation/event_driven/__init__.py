"""Rigid contact integrated from event to event: modes of the contacts, impacts, and derivatives through both."""
