"""The equations of a torso and its limbs by virtual work, written once, for floats and for expressions."""
