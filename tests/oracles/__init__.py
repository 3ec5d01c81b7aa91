"""Independent answers to check tailwork against: other engines, given nothing but the description of a robot."""
