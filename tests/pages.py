"""Pages that hold all they show: what is left of one without its pictures and the player."""

from __future__ import annotations

import re

from tailwork.view.player import player_assets


def bare(html: str) -> str:
    """A page without embedded pictures, the player's own script and style, and the runs that it plays.

    What is left must ask for nothing: no other script, no address, no import.
    """
    outside = re.sub(r"data:image/[^\"]*", "", html.replace(player_assets(), ""))
    outside = re.sub(r'<script type="application/json">.*?</script>', "", outside, flags=re.DOTALL)
    assert not re.search(r"https?://|url\(|@import|<script|<link [^>]*href=\"(?!data:)", outside, re.IGNORECASE)
    return outside
