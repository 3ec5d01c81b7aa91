"""Pictures of runs, and a report that holds them. Needs matplotlib, which is imported when one is first drawn."""

from typing import TYPE_CHECKING

from tailwork.lazy import lazily

if TYPE_CHECKING:
    from tailwork.view.draw.picture import PICTURES, picture, time_lapse, write_picture
    from tailwork.view.draw.style import COLUMN, PAGE, look, save
    from tailwork.view.figures.runs import curvature_tracking, foot_forces, net_rotation, torso_response
    from tailwork.view.figures.walking import footfall, stride_pictures, torso_travel
    from tailwork.view.film.video import write_video
    from tailwork.view.report.page import Picture, Section, Table, page, write_page

__getattr__ = lazily(
    __name__,
    {
        "draw.picture": ("PICTURES", "picture", "time_lapse", "write_picture"),
        "draw.style": ("COLUMN", "PAGE", "look", "save"),
        "figures.runs": ("curvature_tracking", "foot_forces", "net_rotation", "torso_response"),
        "figures.walking": ("footfall", "stride_pictures", "torso_travel"),
        "film.video": ("write_video",),
        "report.page": ("Picture", "Section", "Table", "page", "write_page"),
    },
)

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
