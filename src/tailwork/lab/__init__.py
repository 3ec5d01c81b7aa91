"""The lab: a page on this machine where anyone can try tails on a robot. Only some modules here need the page."""
