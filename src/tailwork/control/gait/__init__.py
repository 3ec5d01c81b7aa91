"""Gaits: paths of feet over a stride, tables of joint angles, kinematics of feet."""
