"""Pictures of runs, and a report that holds them. Needs matplotlib; import it only to draw."""

from typing import TYPE_CHECKING

from tailwork.lazy import lazily
from tailwork.view.draw.picture import PICTURES, picture, time_lapse, write_picture
from tailwork.view.draw.style import COLUMN, PAGE, look, save
from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
from tailwork.view.figures.walking import footfall, stride_pictures, torso_travel
from tailwork.view.film.video import write_video
from tailwork.view.report.page import Picture, Section, Table, page, write_page

if not TYPE_CHECKING:  # so that types are known
    __getattr__ = lazily(__name__, {})

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
