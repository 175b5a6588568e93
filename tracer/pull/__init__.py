"""Profiles that a process makes itself, by an endpoint or by files, to our profiles; parsed without rights."""
