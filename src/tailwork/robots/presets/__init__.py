"""The robots of the papers, one file each."""
