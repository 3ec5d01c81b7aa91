"""Scenes as pages that play in a browser, and ask the network for nothing."""

from tailwork.view.player.page import playback_page, player_assets, player_fragment

__all__ = ["playback_page", "player_assets", "player_fragment"]
