"""Pictures of runs, and a report that holds them. Needs matplotlib; import it only to draw."""

from tailwork.view.curvature import curvature_tracking
from tailwork.view.feet import foot_forces
from tailwork.view.footfall import footfall
from tailwork.view.ghosts import time_lapse
from tailwork.view.picture import PICTURES, picture, write_picture
from tailwork.view.report import Picture, Section, Table, page, write_page
from tailwork.view.rotation import net_rotation
from tailwork.view.style import COLUMN, PAGE, look, save
from tailwork.view.torso import torso_response
from tailwork.view.video import write_video
from tailwork.view.walking import stride_pictures, torso_travel

__all__ = [
    "COLUMN",
    "PAGE",
    "PICTURES",
    "Picture",
    "Section",
    "Table",
    "curvature_tracking",
    "foot_forces",
    "footfall",
    "look",
    "net_rotation",
    "page",
    "picture",
    "save",
    "stride_pictures",
    "time_lapse",
    "torso_response",
    "torso_travel",
    "write_page",
    "write_picture",
    "write_video",
]
