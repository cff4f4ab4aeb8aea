"""Stores: where worlds are kept between processes; one per file."""
