"""Parts of the static bench: see bench/static.py."""
