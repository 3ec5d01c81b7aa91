"""Reports: pages that hold pictures and tables."""
