"""Integration methods: tableaus, steps, drivers."""
