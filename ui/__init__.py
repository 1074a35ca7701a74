"""Panels and menus; nothing here computes or writes a pose."""

CLASSES: tuple[type, ...] = ()
